"""One more class, and a temperature: how they begin, and how a model with them answers."""

import csv
import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from finetune.training.checkpoints import save_model
from finetune.training.invalid_class import (
    HIGHEST,
    LOWEST,
    fit_temperature,
    with_invalid_class,
)
from finetune.training.losses import cross_entropy
from probe.analysis.transformed import examine
from probe.errors import ModelError
from probe.models.library import load
from probe.models.outputs import check_labels
from probe.models.prediction import (
    INVALID_BELOW,
    TEMPERATURE,
    as_predictions,
    read_temperature,
    softmax,
    write_invalid_below,
    write_temperature,
)
from probe.tasks.nli import LABELS, NLI
from probe.tasks.task import INVALID
from probe.ui.html.prediction import bar, verdict
from tests.support.cases import each
from tests.support.commands import answer, run
from tests.support.files.pair_files import row, write
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import FAMILY, tiny_classifier
from tests.support.property_settings import STEADY

PAIRS = tiny_pairs(9)


@each("kind", FAMILY)
def test_a_new_class_changes_no_answer_before_training(kind: str) -> None:
    before = tiny_classifier(kind)
    after = with_invalid_class(before)
    answers = after.predict(PAIRS)
    assert [each.label for each in answers] == [each.label for each in before.predict(PAIRS)]
    assert {each.labels for each in answers} == {(*LABELS, INVALID)}
    assert all(sum(each.probabilities) == pytest.approx(1) for each in answers)
    assert before.labels == LABELS
    logits = np.log(after.probabilities(PAIRS))  # the new one is the mean of the others
    assert logits[:, 3] - logits[:, :3].mean(axis=1) == pytest.approx(0, abs=1e-4)
    assert with_invalid_class(after).order == (*LABELS, INVALID)


def test_a_kept_model_has_its_class(tmp_path: Path) -> None:
    changed = with_invalid_class(tiny_classifier())
    save_model(changed, tmp_path)
    kept = load(str(tmp_path))
    assert (kept.order, kept.task) == (changed.order, NLI)
    assert [each.label for each in kept.predict(PAIRS)] == [
        each.label for each in changed.predict(PAIRS)
    ]
    check = check_labels(kept)
    assert check is not None and check.n == len(NLI.sanity_examples)


def test_less_sure_than_the_threshold_the_answer_is_invalid() -> None:
    logits = np.log([[0.5, 0.3, 0.2], [0.7, 0.2, 0.1]])
    unsure, sure = as_predictions(logits, LABELS, invalid_below=0.6)
    assert (unsure.label, unsure.answer, unsure.labels) == (INVALID, "entailment", LABELS)
    assert (sure.label, sure.answer) == ("entailment", "entailment")


def test_a_kept_model_keeps_its_threshold(tmp_path: Path) -> None:
    classifier = tiny_classifier()
    write_invalid_below(classifier.model.config, 1.0)
    save_model(classifier, tmp_path)
    kept = load(str(tmp_path))
    assert {each.label for each in kept.predict(PAIRS)} == {INVALID}
    assert check_labels(kept) is not None  # by what it would answer
    write_invalid_below(classifier.model.config, 1.5)
    save_model(classifier, tmp_path)
    with pytest.raises(ModelError, match=INVALID_BELOW):
        load(str(tmp_path))


@pytest.fixture(params=["class", "threshold"])
def repaired(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The folder of a model that calls everything invalid, by a class or below a threshold."""
    changed = tiny_classifier()
    if request.param == "class":
        changed = with_invalid_class(changed)
        with torch.no_grad():
            changed.model.get_parameter("classifier.bias")[3] += 50
    else:
        write_invalid_below(changed.model.config, 1.0)
    save_model(changed, tmp_path / request.param)
    return str(tmp_path / request.param)


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file of labelled pairs."""
    return str(write(tmp_path / "pairs.jsonl", [row(pair) for pair in PAIRS]))


def test_a_file_says_what_is_invalid(repaired: str, file: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    words = ("batch", file, "--out", str(out), "--model", repaired, "--transforms", "sort,drop")
    assert run(*words).exit_code == 0
    with out.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert {each["prediction"] for each in rows} == {INVALID}
    assert {each["drop.prediction"] for each in rows} == {INVALID}
    shares = [sum(float(each[name]) for name in each if name.startswith("p_")) for each in rows]
    assert shares == pytest.approx([1.0] * len(rows), abs=1e-5)


def test_models_are_compared_where_one_says_invalid(repaired: str, file: str) -> None:
    with TemporaryDirectory() as folder:
        save_model(tiny_classifier(), Path(folder))
        compared = answer("compare", file, "--model", folder, "--model", repaired)
    assert INVALID in json.dumps(compared)


def test_a_pair_is_probed_and_shown_as_invalid(repaired: str) -> None:
    classifier = load(repaired)
    examination = examine(classifier, PAIRS[0], ["sort", "drop"])
    assert examination.prediction.label == INVALID
    assert "tone-invalid" in verdict(examination.prediction)
    assert str(bar(examination.prediction)).count("part ") == len(classifier.labels)


ROWS = arrays(np.float32, (5, 3), elements=st.floats(-50, 50, width=32))


def loss_at(logits: torch.Tensor, targets: torch.Tensor, temperature: float) -> float:
    return float(cross_entropy(logits.double() / temperature, targets))


@each("seed", range(3))
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


@each("right", [True, False])
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


@each("value", [0, -1.0, math.inf, "hot", True])
def test_a_config_with_another_temperature_is_refused(value: object) -> None:
    config = tiny_classifier().model.config
    setattr(config, TEMPERATURE, value)
    with pytest.raises(ModelError, match=TEMPERATURE):
        read_temperature(config)
