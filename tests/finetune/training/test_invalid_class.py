"""One more class, and a temperature: how they begin, and how a model with them answers."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from finetune.training.checkpoints import save_model
from finetune.training.frozen_layers import encode, score
from finetune.training.invalid_class import HIGHEST, LOWEST, fit_temperature, with_invalid_class
from finetune.training.losses import cross_entropy
from probe.analysis.transformed import examine
from probe.errors import ModelError
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.models.outputs import check_labels
from probe.models.prediction import (
    INVALID_BELOW,
    TEMPERATURE,
    as_predictions,
    softmax,
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
BAD_TEMPERATURES = (0, -1.0, math.inf, "hot", True)


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


def kept(classifier: Classifier, folder: Path) -> Classifier:
    """Return a model as it is loaded again."""
    save_model(classifier, folder)
    return load(str(folder))


def test_a_kept_model_keeps_its_class_its_threshold_and_its_temperature(tmp_path: Path) -> None:
    changed, plain = with_invalid_class(tiny_classifier()), tiny_classifier()
    again = kept(changed, tmp_path / "class")
    assert (again.order, again.task) == (changed.order, NLI)
    labels = [[each.label for each in model.predict(PAIRS)] for model in (changed, again)]
    assert labels[0] == labels[1]
    check = check_labels(again)
    assert check is not None and check.n == len(NLI.sanity_examples)
    before = plain.predict(PAIRS)
    setattr(plain.model.config, TEMPERATURE, 2.5)
    again = kept(plain, tmp_path / "temperature")
    after = again.predict(PAIRS)
    assert again.temperature == 2.5
    assert [each.label for each in after] == [each.label for each in before]
    assert all(a.confidence < b.confidence for a, b in zip(after, before, strict=True))
    setattr(plain.model.config, INVALID_BELOW, 1.0)
    again = kept(plain, tmp_path / "threshold")
    assert {each.label for each in again.predict(PAIRS)} == {INVALID}
    assert check_labels(again) is not None  # by what it would answer


@each("name, value", [(INVALID_BELOW, 1.5), *((TEMPERATURE, it) for it in BAD_TEMPERATURES)])
def test_a_folder_whose_config_is_out_of_bounds_is_refused(
    name: str, value: object, model: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(model, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, name: value}))
    with pytest.raises(ModelError, match=name):
        load(str(folder))


@each("how", ["class", "threshold"])
def test_a_repaired_model_says_invalid_wherever_it_answers(how: str, tmp_path: Path) -> None:
    changed = tiny_classifier()
    if how == "class":
        changed = with_invalid_class(changed)
        with torch.no_grad():
            changed.model.get_parameter("classifier.bias")[3] += 50
    else:
        setattr(changed.model.config, INVALID_BELOW, 1.0)
    classifier = kept(changed, tmp_path / "repaired")
    kept(tiny_classifier(), tmp_path / "plain")
    file = str(write(tmp_path / "pairs.jsonl", [row(pair) for pair in PAIRS]))
    models = ("--model", str(tmp_path / "plain"), "--model", str(tmp_path / "repaired"))
    out, examination = tmp_path / "out.csv", examine(classifier, PAIRS[0], ["sort", "drop"])
    assert run("batch", file, "--out", str(out), *models[2:], "--transforms", "drop").exit_code == 0
    rows = pd.read_csv(out)
    assert {*rows["prediction"], *rows["drop.prediction"]} == {INVALID}
    shares = rows.filter(regex="^p_").sum(axis=1)
    assert shares.tolist() == pytest.approx([1.0] * len(rows), abs=1e-5)
    assert INVALID in json.dumps(answer("compare", file, *models))
    assert examination.prediction.label == INVALID
    assert "tone-invalid" in verdict(examination.prediction)
    assert str(bar(examination.prediction)).count("part ") == len(classifier.labels)


ROWS = arrays(np.float32, (5, 3), elements=st.floats(-50, 50, width=32))


def loss_at(logits: torch.Tensor, targets: torch.Tensor, temperature: float) -> float:
    return float(cross_entropy(logits.double() / temperature, targets))


@each("seed", range(3))
def test_no_temperature_of_a_grid_does_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits, noise = (torch.from_numpy(rng.normal(0, 4, (200, 3))) for _ in range(2))
    targets = torch.eye(3, dtype=torch.bool)[(logits + noise).argmax(1)]
    best = loss_at(logits, targets, fit_temperature(logits, targets))
    grid = [math.exp(step) for step in np.linspace(math.log(LOWEST), math.log(HIGHEST), 400)]
    assert best <= min(loss_at(logits, targets, each) for each in grid) + 1e-6


def test_a_model_says_how_often_it_is_right_within_bounds() -> None:
    # two labels 6 apart, right three times of four: 6 / T = log 3
    for right, apart, least, most in (
        (3, 6.0, 0.9999 * 6 / math.log(3), 1.0001 * 6 / math.log(3)),
        (4, 2.0, LOWEST, 1),
        (0, 2.0, 1, HIGHEST),
    ):
        targets = torch.tensor([[True, False]] * right + [[False, True]] * (4 - right))
        assert least <= fit_temperature(torch.tensor([[apart, 0.0]] * 4), targets) <= most, right


@STEADY
@given(ROWS, st.floats(0.01, 1e12))
def test_a_temperature_changes_no_label(rows: NDArray[np.float32], temperature: float) -> None:
    logits = rows.astype(np.float64)
    before, after = (as_predictions(logits, LABELS, each) for each in (1.0, temperature))
    assert [each.label for each in before] == [each.label for each in after]

    logits = np.array([[1.0, np.nextafter(1.0, 2), 0.0]])  # which a division makes equal
    assert softmax(logits, 10.0)[0, 0] == softmax(logits, 10.0)[0, 1]
    assert as_predictions(logits, LABELS, 10.0)[0].label == LABELS[1]


def test_logits_are_scaled_once_and_a_training_is_scored_without_it() -> None:
    classifier = tiny_classifier()
    data = encode(classifier, PAIRS, 64, classifier.device)
    before, unscaled = score(classifier, data), classifier.unscaled(data)
    setattr(classifier.model.config, TEMPERATURE, 4.0)
    inputs = classifier.encode(PAIRS)
    with torch.no_grad():
        scaled, whole = classifier.logits(inputs), classifier.unscaled_logits(inputs)
    torch.testing.assert_close(scaled, whole / 4)
    torch.testing.assert_close(classifier.unscaled(data), unscaled)
    assert score(classifier, data) == before
    assert classifier.probabilities(PAIRS) == pytest.approx(
        scaled.double().softmax(1).numpy(), abs=1e-6
    )
