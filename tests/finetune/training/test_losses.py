"""Losses are functions of logits and targets."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy as torch_cross_entropy

from finetune.training.losses import admissible, cross_entropy
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, Pair
from probe.tasks.task import Label
from tests.support.tiny_bert import tiny_pairs

PAIRS = tiny_pairs(3)


@pytest.mark.parametrize("order", [LABELS, ("contradiction", "entailment", "neutral")])
def test_the_loss_of_ordinary_labels_is_cross_entropy(order: tuple[Label, ...]) -> None:
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -40.0], [1.0, 1.0, 1.0]])
    numbers = torch.tensor([order.index(pair.gold) for pair in PAIRS if pair.gold])
    loss = cross_entropy(logits, admissible(PAIRS, replace(NLI, labels=order)))
    torch.testing.assert_close(loss, torch_cross_entropy(logits, numbers))


def test_non_entailment_admits_neutral_and_contradiction() -> None:
    # probabilities 1/2, 1/4, 1/4: what is not entailment makes one half
    logits = torch.tensor([[2.0, 1.0, 1.0]]).log()
    targets = admissible([Pair("A b.", "C d.", "non-entailment")], NLI)
    assert targets.tolist() == [[False, True, True]]
    assert float(cross_entropy(logits, targets)) == pytest.approx(-math.log(0.5))


def test_a_model_of_two_outputs_learns_neutral_as_non_entailment() -> None:
    pairs = [Pair("A b.", "C d.", gold) for gold in LABELS]
    assert admissible(pairs, NLI_TWO_WAY).tolist() == [[True, False], [False, True], [False, True]]


def test_a_pair_without_a_gold_admits_nothing() -> None:
    assert admissible([Pair("A b.", "C d.")], NLI).tolist() == [[False, False, False]]
