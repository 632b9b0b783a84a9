"""Encoder training: resumable, seeded, and with the schedule it says."""

from itertools import islice
from pathlib import Path

import pytest
import torch

from finetune.training.encoder import TrainingOptions, schedule, train
from probe.errors import TrainingError
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.tasks.nli import LABELS
from tests.support.models.tiny_bert import tiny_pairs

OPTIONS = TrainingOptions(lr=1e-3, epochs=2, batch=4, max_tokens=64, precision="fp32")
PAIRS = tiny_pairs(22)  # 6 batches an epoch, the last one short


def weights(classifier: Classifier) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in classifier.model.state_dict().items()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("stops", [1, 2, 3])
def test_a_resumed_training_ends_with_the_same_weights_bit_by_bit(
    stops: int, model: str, tmp_path: Path
) -> None:
    whole, resumed = load(model), load(model)
    list(train(whole, PAIRS, OPTIONS, tmp_path / "whole", every=3))
    list(islice(train(load(model), PAIRS, OPTIONS, tmp_path / "cut", every=3), stops))
    rows = list(train(resumed, PAIRS, OPTIONS, tmp_path / "cut", every=3))
    assert [row.step for row in rows] == [3, 6, 9, 12][stops:]
    assert same(weights(whole), weights(resumed))


def test_a_checkpoint_of_another_recipe_is_refused(model: str, tmp_path: Path) -> None:
    next(train(load(model), PAIRS, OPTIONS, tmp_path, every=3))
    other = TrainingOptions(lr=2e-3, epochs=2, batch=4, max_tokens=64, precision="fp32")
    with pytest.raises(TrainingError, match=r"another --lr \(0.001, now 0.002\)"):
        list(train(load(model), PAIRS, other, tmp_path, every=3))


def test_the_trained_model_is_loaded_with_our_labels(model: str, tmp_path: Path) -> None:
    classifier = load(model)
    list(train(classifier, PAIRS, OPTIONS, tmp_path))
    stored = load(str(tmp_path))
    assert stored.order == LABELS
    # half precision keeps three decimals
    assert stored.probabilities(PAIRS) == pytest.approx(classifier.probabilities(PAIRS), abs=1e-3)


def test_accuracy_is_measured_on_each_dev_set(model: str, tmp_path: Path) -> None:
    (*_, last) = train(load(model), PAIRS, OPTIONS, tmp_path, {"dev": PAIRS, "few": PAIRS[:3]})
    assert set(last.accuracy) == {"dev", "few"}


@pytest.mark.parametrize(
    ("step", "factor"),
    # ten steps, two of them rising: 1/2, 1, then down by eighths to 1/8
    [(0, 0.5), (1, 1.0), (2, 1.0), (3, 7 / 8), (6, 0.5), (9, 1 / 8)],
)
def test_the_rate_rises_then_falls_to_zero(step: int, factor: float) -> None:
    assert schedule(step, 10, 0.2) == pytest.approx(factor)
