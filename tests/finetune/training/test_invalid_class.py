"""One more class: what it begins as, and how a model with it answers everywhere."""

import csv
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

from finetune.training.checkpoints import save_model
from finetune.training.invalid_class import with_invalid_class
from probe.analysis.transformed import examine
from probe.errors import ModelError
from probe.models.library import check_labels, load
from probe.models.outputs import read_config
from probe.models.prediction import INVALID_BELOW, as_predictions, write_invalid_below
from probe.tasks.nli import LABELS, NLI, matches
from probe.tasks.task import INVALID
from probe.ui.html.prediction import bar, verdict
from tests.support.commands import answer, run
from tests.support.files.pair_files import row, write
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import FAMILY, tiny_classifier

PAIRS = tiny_pairs(9)


@pytest.mark.parametrize("kind", FAMILY)
def test_a_new_class_changes_no_answer_before_training(kind: str) -> None:
    before = tiny_classifier(kind)
    after = with_invalid_class(before)
    answers = after.predict(PAIRS)
    assert [each.label for each in answers] == [each.label for each in before.predict(PAIRS)]
    assert {each.labels for each in answers} == {(*LABELS, INVALID)}
    assert all(sum(each.probabilities) == pytest.approx(1) for each in answers)
    assert before.labels == LABELS


def test_its_logit_is_the_mean_of_the_others() -> None:
    after = with_invalid_class(tiny_classifier())
    logits = np.log(after.probabilities(PAIRS))
    assert logits[:, 3] - logits[:, :3].mean(axis=1) == pytest.approx(0, abs=1e-5)


def test_a_model_with_the_class_gets_no_second_one() -> None:
    assert with_invalid_class(with_invalid_class(tiny_classifier())).order == (*LABELS, INVALID)


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


def test_an_invalid_output_stands_where_the_model_has_it() -> None:
    outputs = ["contradiction", INVALID, "entailment", "neutral"]
    assert read_config("x", outputs, NLI) == (NLI, tuple(outputs))
    with pytest.raises(ModelError):
        read_config("x", [INVALID, "entailment"], NLI)


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


def test_an_invalid_answer_is_right_of_no_pair() -> None:
    assert not any(matches(INVALID, gold) for gold in (*LABELS, "non-entailment"))


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
