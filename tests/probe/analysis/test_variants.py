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
    variants = (
        ("a", False, "old mill"), ("a", True, "the old mill"), ("a", True, "mill"),
        ("b", "false", "river"), ("c", False, "river"), ("c", True, "old mill"),
    )  # fmt: skip
    found = figures(
        *((answer, {"base_id": base, "adversarial": is_so}) for base, is_so, answer in variants)
    )
    assert (found["questions"], found["variants_each"]) == (3, 2.0)
    names = ("original_f1", "adversarial_f1", "worst_f1", "adversarial_em")
    shares = [1 / 3, (2 / 3 + 0 + 1) / 3, (2 / 3 + 0 + 0) / 3, 1 / 3]
    assert [found[name]["value"] for name in names] == pytest.approx(shares)
    # a figure over nothing is left out, and a file without the column is adversarial
    found = figures(("mill", {"base_id": "a"}), ("river", {"base_id": "a"}))
    assert found["adversarial_f1"]["value"] == 0.0 and "original_f1" not in found
    assert figures(("mill", {"id": 1})) == {}
    assert figures(("mill", {"base_id": None, "adversarial": True})) == {}


def test_the_command_scores_what_it_can_changed_too_and_says_why_it_cannot_the_rest(
    tmp_path: Path,
) -> None:
    folder = str(tiny_reader(tmp_path / "reader"))
    wrong = {**GOOD, "answers": [{"text": "Berta", "start": 2}], "error": "mine"}
    rows = [GERMANY, {**GOOD, "question": " "}, wrong, {**GOOD, "answers": None}]
    rows.append({**GOOD, "question": "Who fixed it? " * 60})
    rows.append({**GOOD, "answers": [3]})
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out, summary = tmp_path / "scored.jsonl", tmp_path / "summary.json"
    words = ("--transforms", "addsent,sort", "--out", str(out), "--summary", str(summary))
    run("batch", str(path), "--model", folder, *words)
    frame, told = pd.read_json(out, lines=True), json.loads(summary.read_text())
    assert (told["rows"], told["scored"], told["em_n"], told["f1_n"]) == (6, 3, 2, 2)
    assert told["cut"] == 1
    ours = next(name for name in frame.columns if name.startswith("error."))
    assert list(frame["error"])[2] == "mine"
    reasons = {1: "is empty", 2: "'Berta' does not occur in", 5: "an answer is a text"}
    assert not [row for row, why in reasons.items() if why not in frame[ours][row]]
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
