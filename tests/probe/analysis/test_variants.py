"""The worst of a question's variants, and the command on whole files of questions."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probe.analysis.batch import Row, variant_scores, variants_json
from probe.data.rows import Record
from probe.models.reader import SpanPrediction
from probe.tasks.reading import READING, Question
from tests.support.commands import refusal, run
from tests.support.models.tiny_bert import tiny_reader

PASSAGE = "The old mill stood by the river. Anna fixed it."
GOOD = {"context": PASSAGE, "question": "Who fixed it?", "answers": [{"text": "Anna", "start": 33}]}

GERMANY = {**GOOD, "question": "Who fixed the mill in Germany?"}


def figures(*variants: tuple[str, dict[str, object]]) -> dict[str, Any]:
    """Return the figures of answers to a question whose right one is "old mill", by their cells."""
    example = Question("What stood by the river?", PASSAGE, "old mill")
    rows = []
    for answer, cells in variants:
        prediction = SpanPrediction(answer, (0.5,), (answer,), 0, 4, 1)
        rows.append(Row(0, READING, example, prediction, record=Record(0, cells)))
    return variants_json(variant_scores(rows))


def test_the_worst_adversarial_variant_counts_and_the_original_where_there_is_none() -> None:
    found = figures(
        *(
            (answer, {"base_id": base, "adversarial": adversarial})
            for base, adversarial, answer in (
                ("a", False, "old mill"),
                ("a", True, "the old mill"),
                ("a", True, "mill"),
                ("b", "false", "river"),
                ("c", False, "river"),
                ("c", True, "old mill"),
            )
        )
    )
    assert (found["questions"], found["variants_each"]) == (3, 2.0)
    assert {name: found[name]["value"] for name in found if "_f1" in name} == pytest.approx(
        {
            "original_f1": 1 / 3,
            "adversarial_f1": (2 / 3 + 0 + 1) / 3,
            "worst_f1": (2 / 3 + 0 + 0) / 3,
        }
    )
    assert found["adversarial_em"]["value"] == pytest.approx(1 / 3)


def test_a_figure_over_nothing_is_left_out_and_a_file_without_the_column_is_adversarial() -> None:
    found = figures(("mill", {"base_id": "a"}), ("river", {"base_id": "a"}))
    assert found["adversarial_f1"]["value"] == 0.0 and "original_f1" not in found
    assert figures(("mill", {"id": 1})) == {}
    assert figures(("mill", {"base_id": None, "adversarial": True})) == {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A reader's folder."""
    return str(tiny_reader(tmp_path_factory.mktemp("reader")))


def scored(folder: str, path: Path, *words: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return what `batch` writes of a file, and its summary."""
    out, told = path.parent / "scored.jsonl", path.parent / "summary.json"
    files = ("--out", str(out), "--summary", str(told))
    done = run("batch", str(path), "--model", folder, *files, *words)
    assert done.exit_code == 0, done.output
    return pd.read_json(out, lines=True), json.loads(told.read_text())


def test_the_command_scores_what_it_can_changed_too_and_says_why_it_cannot_the_rest(
    folder: str, tmp_path: Path
) -> None:
    wrong = {**GOOD, "answers": [{"text": "Berta", "start": 2}], "error": "mine"}
    rows = [GERMANY, {**GOOD, "question": " "}, wrong, {**GOOD, "answers": None}]
    rows.append({**GOOD, "question": "Who fixed it? " * 60})
    rows.append({**GOOD, "answers": [3]})
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame, told = scored(folder, path, "--transforms", "addsent,sort")
    assert (told["rows"], told["scored"], told["em_n"], told["f1_n"]) == (6, 3, 2, 2)
    assert told["cut"] == 1
    ours = next(name for name in frame.columns if name.startswith("error."))
    assert list(frame["error"])[2] == "mine"
    for row, words in {
        1: "is empty",
        2: "'Berta' does not occur in the passage",
        5: "an answer is a text",
    }.items():
        assert words in frame[ours][row]
    first = frame.iloc[0]
    assert PASSAGE[int(first["start"]) : int(first["end"])] == first["prediction"]
    assert 0 <= first["f1"] <= 1 and first["em"] in (0, 1)
    assert pd.isna(frame["f1"][3])
    assert first["addsent.passage"].startswith(PASSAGE) and first["addsent.gold"] == "Anna"
    assert first["addsent.note"].startswith("false answer: ")
    assert first["sort.passage"] == PASSAGE
    assert first["sort.question"] == "fixed germany in mill the who ?"
    assert told["transforms"]["addsent"]["f1_n"] > 0 == told["transforms"]["sort"]["f1_n"]
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis\nA man sleeps.,A man is awake.\n")
    said = refusal("batch", str(path), "--model", folder, "--out", str(tmp_path / "o.csv"))
    assert "no columns 'question' and 'passage'" in said
