"""The temperature of a model: fitted, kept in its config, and without a say in its labels."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from finetune.training.checkpoints import save_model
from finetune.training.encoded import encode, predictions
from finetune.training.invalid_class import HIGHEST, LOWEST, fit_temperature
from finetune.training.losses import cross_entropy
from probe.errors import ModelError
from probe.models.library import load
from probe.models.prediction import (
    TEMPERATURE,
    as_predictions,
    read_temperature,
    softmax,
    write_temperature,
)
from probe.tasks.nli import LABELS
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import tiny_classifier
from tests.support.property_settings import STEADY

ROWS = arrays(np.float32, (5, 3), elements=st.floats(-50, 50, width=32))
PAIRS = tiny_pairs(12)


def loss_at(logits: torch.Tensor, targets: torch.Tensor, temperature: float) -> float:
    return float(cross_entropy(logits.double() / temperature, targets))


@pytest.mark.parametrize("seed", range(3))
def test_no_temperature_of_a_grid_does_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = torch.from_numpy(rng.normal(0, 4, (200, 3)))
    noisy = torch.from_numpy(rng.normal(0, 4, (200, 3)))
    targets = torch.eye(3, dtype=torch.bool)[(logits + noisy).argmax(1)]
    best = loss_at(logits, targets, fit_temperature(logits, targets))
    grid = [math.exp(step) for step in np.linspace(math.log(LOWEST), math.log(HIGHEST), 400)]
    assert best <= min(loss_at(logits, targets, each) for each in grid) + 1e-6


def test_a_model_that_is_right_half_the_time_is_made_to_say_so() -> None:
    # two labels 6 apart, right three times of four: 6 / T = log 3
    logits = torch.tensor([[6.0, 0.0]] * 4)
    targets = torch.tensor([[True, False]] * 3 + [[False, True]])
    assert fit_temperature(logits, targets) == pytest.approx(6 / math.log(3), rel=1e-4)


@pytest.mark.parametrize("right", [True, False])
def test_a_split_without_doubt_has_a_bounded_temperature(right: bool) -> None:
    logits = torch.tensor([[2.0, 0.0]] * 5)
    found = fit_temperature(logits, torch.tensor([[right, not right]] * 5))
    assert LOWEST <= found <= HIGHEST
    assert (found < 1) is right


@STEADY
@given(ROWS, st.floats(0.01, 1e12))
def test_a_temperature_changes_no_label(rows: NDArray[np.float32], temperature: float) -> None:
    logits = rows.astype(np.float64)
    before, after = (as_predictions(logits, LABELS, each) for each in (1.0, temperature))
    assert [each.label for each in before] == [each.label for each in after]


def test_a_division_that_makes_neighbours_equal_changes_no_label() -> None:
    logits = np.array([[1.0, np.nextafter(1.0, 2), 0.0]])
    assert softmax(logits, 10.0)[0, 0] == softmax(logits, 10.0)[0, 1]
    assert as_predictions(logits, LABELS, 10.0)[0].label == LABELS[1]


def test_a_kept_model_keeps_its_temperature(tmp_path: Path) -> None:
    classifier = tiny_classifier()
    before = classifier.predict(PAIRS)
    write_temperature(classifier.model.config, 2.5)
    save_model(classifier, tmp_path)
    kept = load(str(tmp_path))
    assert kept.temperature == 2.5
    after = kept.predict(PAIRS)
    assert [each.label for each in after] == [each.label for each in before]
    assert all(a.confidence < b.confidence for a, b in zip(after, before, strict=True))


def test_logits_are_scaled_once() -> None:
    classifier = tiny_classifier()
    write_temperature(classifier.model.config, 4.0)
    inputs = classifier.encode(PAIRS)
    with torch.no_grad():
        scaled, whole = classifier.logits(inputs), classifier.unscaled_logits(inputs)
    torch.testing.assert_close(scaled, whole / 4)
    assert classifier.probabilities(PAIRS) == pytest.approx(
        scaled.double().softmax(1).numpy(), abs=1e-6
    )


def test_training_scores_labels_as_the_model_says_them() -> None:
    classifier = tiny_classifier()
    write_temperature(classifier.model.config, 3.0)
    data = encode(classifier, PAIRS, 64, classifier.device)
    numbers = predictions(classifier, data).tolist()
    assert [LABELS[number] for number in numbers] == [
        answer.label for answer in classifier.predict(PAIRS)
    ]


@pytest.mark.parametrize("value", [0, -1.0, math.inf, "hot", True])
def test_a_config_with_another_temperature_is_refused(value: object) -> None:
    config = tiny_classifier().model.config
    setattr(config, TEMPERATURE, value)
    with pytest.raises(ModelError, match=TEMPERATURE):
        read_temperature(config)


def test_a_folder_with_such_a_config_is_not_loaded(tmp_path: Path) -> None:
    classifier = tiny_classifier()
    write_temperature(classifier.model.config, 0.0)
    save_model(classifier, tmp_path)
    with pytest.raises(ModelError, match=TEMPERATURE):
        load(str(tmp_path))
