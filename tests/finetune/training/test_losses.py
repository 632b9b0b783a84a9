"""Losses are functions of logits and targets."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy as torch_cross_entropy

from finetune.training.losses import (
    admissible,
    balanced_last,
    cross_entropy,
    divergence_from_uniform,
    entropic,
    focal,
    smoothed,
)
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, Pair
from probe.tasks.task import INVALID, Label
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.property_settings import STEADY

PAIRS = tiny_pairs(3)
LOGITS = arrays(np.float64, (4, 3), elements=st.floats(-20, 20))
TARGETS = torch.eye(3, dtype=torch.bool)[[0, 1, 2, 0]]


@each("order", [LABELS, ("contradiction", "entailment", "neutral")])
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


@STEADY
@given(LOGITS)
def test_without_smoothing_label_smoothing_is_cross_entropy(values: NDArray[np.float64]) -> None:
    logits = torch.from_numpy(values)
    torch.testing.assert_close(smoothed(0.0)(logits, TARGETS), cross_entropy(logits, TARGETS))


@STEADY
@given(LOGITS, st.floats(0, 1))
def test_label_smoothing_is_torchs(values: NDArray[np.float64], epsilon: float) -> None:
    logits = torch.from_numpy(values)
    theirs = torch_cross_entropy(logits, torch.tensor([0, 1, 2, 0]), label_smoothing=epsilon)
    torch.testing.assert_close(smoothed(epsilon)(logits, TARGETS), theirs)


def test_focal_loss_is_worked_by_hand() -> None:
    # p = 1/2 of the right label: (1 - 1/2)² log 2
    logits = torch.tensor([[2.0, 1.0, 1.0]]).log()
    loss = focal(2.0)(logits, torch.tensor([[True, False, False]]))
    assert float(loss) == pytest.approx(0.25 * math.log(2))


@each("gamma", [0.0, 0.5, 1.0, 2.0])
def test_focal_loss_of_a_certain_answer_has_a_finite_gradient(gamma: float) -> None:
    logits = torch.tensor([[200.0, 0.0, 0.0]], requires_grad=True)
    focal(gamma)(logits, torch.tensor([[True, False, False]])).backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


@STEADY
@given(LOGITS)
def test_uniform_is_the_minimum_of_the_entropic_term(values: NDArray[np.float64]) -> None:
    logits = torch.from_numpy(values)
    even = divergence_from_uniform(torch.zeros_like(logits))
    assert float(even) == pytest.approx(0, abs=1e-7)
    assert float(divergence_from_uniform(logits)) >= float(even) - 1e-7


def test_the_entropic_term_has_no_slope_at_uniform_alone() -> None:
    for start, flat in (([1.0, 1.0, 1.0], True), ([2.0, 1.0, 1.0], False)):
        logits = torch.tensor([start], dtype=torch.float64, requires_grad=True)
        divergence_from_uniform(logits).backward()
        assert logits.grad is not None
        assert bool((logits.grad.abs() < 1e-7).all()) is flat


def test_a_step_down_the_entropic_loss_makes_an_invalid_pair_less_certain() -> None:
    logits = torch.tensor([[3.0, 0.0, 0.0]], requires_grad=True)
    entropic(1.0)(logits, torch.zeros(1, 3, dtype=torch.bool)).backward()
    assert logits.grad is not None
    after = (logits - logits.grad).softmax(1)
    assert float(after.detach().max()) < float(logits.detach().softmax(1).max())


def test_each_part_of_the_entropic_loss_is_a_mean_over_its_own_rows() -> None:
    logits = torch.tensor([[2.0, -1.0, 0.5], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    targets = torch.tensor([[True, False, False], [False] * 3, [False] * 3])
    wanted = cross_entropy(logits[:1], targets[:1]) + 0.1 * divergence_from_uniform(logits[1:])
    torch.testing.assert_close(entropic(0.1)(logits, targets), wanted)


def test_the_last_label_weighs_as_much_as_all_others() -> None:
    logits = torch.tensor([[2.0, -1.0, 0.5], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    targets = torch.tensor([[True, False, False], [False, False, True], [False, False, True]])
    wanted = (cross_entropy(logits[:1], targets[:1]) + cross_entropy(logits[1:], targets[1:])) / 2
    torch.testing.assert_close(balanced_last(logits, targets), wanted)


def test_invalid_is_right_for_itself_alone() -> None:
    golds = ("entailment", "non-entailment", INVALID, None)
    pairs = [Pair("A b.", "C d.", gold) for gold in golds]
    assert admissible(pairs, NLI, (*LABELS, INVALID)).tolist() == [
        [True, False, False, False],
        [False, True, True, False],
        [False, False, False, True],
        [False, False, False, False],
    ]
