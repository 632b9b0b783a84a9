"""The training loop: resumable, seeded, and with the schedule it says."""

import math
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

from finetune.training.loop import (
    Recipe,
    adamw,
    admissible,
    epoch_batches,
    loss,
    schedule,
    train,
    trainable,
    update,
)
from probe.errors import TrainingError
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, Pair
from probe.tasks.task import Label
from tests.support.tiny_bert import tiny_pairs

RECIPE = Recipe(lr=1e-3, epochs=2, batch=4, max_tokens=64, precision="fp32")
PAIRS = tiny_pairs(22)  # 6 batches an epoch, the last one short


def weights(classifier: Classifier) -> dict[str, torch.Tensor]:
    return {name: it.clone() for name, it in classifier.model.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("stops", [1, 2, 3])
def test_a_resumed_training_ends_with_the_same_weights_bit_by_bit(
    stops: int, model: str, tmp_path: Path
) -> None:
    whole, resumed = load(model), load(model)
    list(train(whole, PAIRS, RECIPE, tmp_path / "whole", every=3))
    list(islice(train(load(model), PAIRS, RECIPE, tmp_path / "cut", every=3), stops))
    rows = list(train(resumed, PAIRS, RECIPE, tmp_path / "cut", every=3))
    assert [row.step for row in rows] == [3, 6, 9, 12][stops:]
    assert same(weights(whole), weights(resumed))


def test_a_checkpoint_of_another_recipe_is_refused(model: str, tmp_path: Path) -> None:
    next(train(load(model), PAIRS, RECIPE, tmp_path, every=3))
    other = Recipe(lr=2e-3, epochs=2, batch=4, max_tokens=64, precision="fp32")
    with pytest.raises(TrainingError, match="another recipe"):
        list(train(load(model), PAIRS, other, tmp_path, every=3))


def test_the_trained_model_is_loaded_with_our_labels(model: str, tmp_path: Path) -> None:
    classifier = load(model)
    list(train(classifier, PAIRS, RECIPE, tmp_path))
    stored = load(str(tmp_path))
    assert stored.order == LABELS
    # half precision keeps three decimals
    assert stored.probabilities(PAIRS) == pytest.approx(classifier.probabilities(PAIRS), abs=1e-3)


def test_accuracy_is_measured_on_each_dev_set(model: str, tmp_path: Path) -> None:
    (*_, last) = train(load(model), PAIRS, RECIPE, tmp_path, {"dev": PAIRS, "few": PAIRS[:3]})
    assert set(last.accuracy) == {"dev", "few"}


@pytest.mark.parametrize(
    ("step", "factor"),
    # ten steps, two of them rising: 1/2, 1, then down by eighths to 1/8
    [(0, 0.5), (1, 1.0), (2, 1.0), (3, 7 / 8), (6, 0.5), (9, 1 / 8)],
)
def test_the_rate_rises_then_falls_to_zero(step: int, factor: float) -> None:
    assert schedule(step, 10, 0.2) == pytest.approx(factor)


@pytest.mark.parametrize(("rows", "batch"), [(1, 4), (22, 4), (450, 4)])
def test_an_epoch_is_a_permutation(rows: int, batch: int) -> None:
    batches = epoch_batches([row % 7 for row in range(rows)], batch, seed=0, epoch=1)
    assert sorted(row for one in batches for row in one) == list(range(rows))
    assert all(len(one) <= batch for one in batches)


def test_each_epoch_has_an_order_of_its_own() -> None:
    lengths = list(range(40))
    assert epoch_batches(lengths, 4, 0, 1) == epoch_batches(lengths, 4, 0, 1)
    assert epoch_batches(lengths, 4, 0, 1) != epoch_batches(lengths, 4, 0, 2)


def test_a_batch_holds_rows_of_like_length() -> None:
    lengths = [(row * 37) % 100 for row in range(100)]  # 0 to 99, mixed
    for one in epoch_batches(lengths, 10, 0, 0):
        found = [lengths[row] for row in one]
        assert max(found) - min(found) == 9


def step(classifier: Classifier, seed: int) -> dict[str, torch.Tensor]:
    """Take one step on the first pairs and return the new weights."""
    optim = adamw(trainable(classifier), 1e-3)
    chosen = PAIRS[:4]
    clip = partial(clip_grad_norm_, max_norm=1.0)
    allowed = admissible(chosen, classifier.task)
    update(classifier, optim, classifier.encode(chosen), allowed, clip, "fp32", seed)
    return weights(classifier)


def test_dropout_is_drawn_from_the_seed_of_the_step(model: str) -> None:
    first, again, other = (step(load(model), seed) for seed in (1, 1, 2))
    assert same(first, again)
    assert not same(first, other)


def test_a_step_leaves_the_global_chance_alone(classifier: Classifier) -> None:
    before = torch.get_rng_state()
    step(classifier, 1)
    assert torch.equal(before, torch.get_rng_state())


def test_biases_and_norms_are_not_decayed(classifier: Classifier) -> None:
    decayed, kept = adamw(trainable(classifier), 1e-3, 0.01).param_groups
    assert (decayed["weight_decay"], kept["weight_decay"]) == (0.01, 0.0)
    assert {weight.ndim for weight in kept["params"]} == {1}


@pytest.mark.parametrize("order", [LABELS, ("contradiction", "entailment", "neutral")])
def test_the_loss_of_ordinary_labels_is_cross_entropy(order: tuple[Label, ...]) -> None:
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -40.0], [1.0, 1.0, 1.0]])
    numbers = torch.tensor([order.index(pair.gold) for pair in PAIRS[:3] if pair.gold])
    found = loss(logits, admissible(PAIRS[:3], replace(NLI, labels=order)))
    torch.testing.assert_close(found, cross_entropy(logits, numbers))


def test_non_entailment_admits_neutral_and_contradiction() -> None:
    # probabilities 1/2, 1/4, 1/4: what is not entailment makes one half
    logits = torch.tensor([[2.0, 1.0, 1.0]]).log()
    allowed = admissible([Pair("A b.", "C d.", "non-entailment")], NLI)
    assert allowed.tolist() == [[False, True, True]]
    assert float(loss(logits, allowed)) == pytest.approx(-math.log(0.5))


def test_a_model_of_two_outputs_learns_neutral_as_non_entailment() -> None:
    pairs = [Pair("A b.", "C d.", gold) for gold in LABELS]
    assert admissible(pairs, NLI_TWO_WAY).tolist() == [[True, False], [False, True], [False, True]]


def test_a_pair_without_a_gold_admits_nothing() -> None:
    assert admissible([Pair("A b.", "C d.")], NLI).tolist() == [[False, False, False]]
