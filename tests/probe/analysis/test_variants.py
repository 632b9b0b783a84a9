"""Scores of rows, the worst of a question's variants, and the command on whole files."""

import json
from pathlib import Path

import pandas as pd
import pytest
from probe.analysis.reading import AnsweredRow, summary
from typer.testing import CliRunner

from probe.cli.main import app
from probe.data.questions import QuestionRow
from probe.models.reader import SpanPrediction
from tests.support.tiny_reader import tiny_reader

SAID = SpanPrediction("mill", 0, 4, 0.5, 1)
PASSAGE = "The old mill stood by the river. Anna fixed it."
GOOD = {"context": PASSAGE, "question": "Who fixed it?", "answers": [{"text": "Anna", "start": 33}]}


def variant(base: str, adversarial: bool, em: float, f1: float) -> AnsweredRow:
    """A scored variant of a question."""
    cells = {"base_id": base, "adversarial": adversarial}
    return AnsweredRow(QuestionRow(cells), SAID, em, f1)


def test_the_worst_adversarial_variant_counts_and_the_original_where_there_is_none() -> None:
    rows = [
        variant("a", False, 1.0, 1.0),
        variant("a", True, 1.0, 1.0),
        variant("a", True, 0.0, 0.25),
        variant("b", False, 0.0, 0.5),
    ]
    told = summary(rows)
    assert (told["questions"], told["variants_each"]) == (2, 2.0)
    assert told["original_f1"]["value"] == pytest.approx(0.75)
    assert told["adversarial_f1"]["value"] == pytest.approx((0.25 + 0.5) / 2)
    assert told["adversarial_em"]["value"] == 0.0
    assert told["f1"]["n"] == 4


def test_a_row_without_references_has_no_score_and_no_share_in_the_mean() -> None:
    rows = [AnsweredRow(QuestionRow({}), SAID), AnsweredRow(QuestionRow({}), SAID, 1.0, 1.0)]
    told = summary(rows)
    assert (told["rows"], told["answered"], told["n"]) == (2, 2, 1)
    assert "adversarial_f1" not in told


def test_a_figure_over_nothing_is_left_out() -> None:
    told = summary([variant("a", True, 0.0, 0.5)])
    assert told["adversarial_f1"]["n"] == 1
    assert "original_f1" not in told
    assert "f1" not in summary([AnsweredRow(QuestionRow({}), SAID)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A reader's folder."""
    return str(tiny_reader(tmp_path_factory.mktemp("reader")))


def scored(folder: str, path: Path) -> tuple[pd.DataFrame, dict[str, object]]:
    """Return what `batch` writes of a file, and its summary."""
    out, told = path.parent / "scored.jsonl", path.parent / "summary.json"
    words = ["batch", str(path), "--model", folder, "--out", str(out), "--summary", str(told)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return pd.read_json(out, lines=True), json.loads(told.read_text())


def test_the_command_scores_what_it_can_and_says_why_it_cannot_the_rest(
    folder: str, tmp_path: Path
) -> None:
    wrong = {**GOOD, "answers": [{"text": "Anna", "start": 2}], "error": "mine"}
    rows = [GOOD, {**GOOD, "question": " "}, wrong, {**GOOD, "answers": None}]
    rows.append({**GOOD, "question": "Who fixed it? " * 60})
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame, told = scored(folder, path)
    assert (told["rows"], told["answered"], told["n"]) == (5, 2, 1)
    ours = next(name for name in frame.columns if name.startswith("error."))
    assert list(frame["error"])[2] == "mine"
    assert "is empty" in frame[ours][1]
    assert "does not stand" in frame[ours][2]
    assert "too long" in frame[ours][4]
    first = frame.iloc[0]
    assert PASSAGE[int(first["start"]) : int(first["end"])] == first["prediction"]
    assert 0 <= first["f1"] <= 1
    assert pd.isna(frame["f1"][3])


@pytest.mark.parametrize("name", ["questions.csv", "questions.json"])
def test_other_forms_of_files_hold_the_same_questions(
    folder: str, tmp_path: Path, name: str
) -> None:
    lines = tmp_path / "questions.jsonl"
    lines.write_text(json.dumps(GOOD) + "\n")
    path = tmp_path / name
    if name.endswith(".csv"):
        row = {**GOOD, "answers": json.dumps(GOOD["answers"])}
        pd.DataFrame([row]).to_csv(path, index=False)
    else:
        asked = {"id": "1", "question": GOOD["question"]}
        answers = [{"text": "Anna", "answer_start": 33}]
        paragraph = {"context": PASSAGE, "qas": [{**asked, "answers": answers}]}
        path.write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    expected, of_lines = scored(folder, lines)
    frame, told = scored(folder, path)
    assert told["f1"] == of_lines["f1"]
    assert list(frame["prediction"]) == list(expected["prediction"])


def test_a_reader_takes_no_transforms_and_no_table_without_questions(
    folder: str, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis\nA man sleeps.,A man is awake.\n")
    words = ["batch", str(path), "--model", folder, "--out", str(tmp_path / "o.csv")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code != 0
    assert "needs the columns context and question" in done.output
    done = CliRunner().invoke(app, [*words, "--transforms", "sort"])
    assert done.exit_code != 0
    assert "without --transforms" in done.output
