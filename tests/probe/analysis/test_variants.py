"""The worst of a question's variants, and the command on whole files of questions."""

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from probe.analysis.batch import Row, variant_scores, variants_json
from probe.cli.main import app
from probe.data.rows import Record
from probe.models.reader import SpanPrediction
from probe.tasks.reading import READING, Question
from tests.support.models.tiny_reader import tiny_reader

PASSAGE = "The old mill stood by the river. Anna fixed it."
GOOD = {"context": PASSAGE, "question": "Who fixed it?", "answers": [{"text": "Anna", "start": 33}]}


def scored_row(answer: str, **cells: object) -> Row:
    """A question whose right answer is "old mill", answered so."""
    example = Question("What stood by the river?", PASSAGE, "old mill")
    prediction = SpanPrediction(answer, (0.5,), (answer,), 0, 4, 1)
    return Row(0, READING, example, prediction, record=Record(0, cells))


def figures_of(*rows: Row) -> dict[str, object]:
    """Return the figures of scored variants."""
    return variants_json(variant_scores(rows))


def told(*variants: tuple[str, object, str]) -> dict[str, object]:
    """Return the figures of variants: their question, whether they are adversarial, the answer."""
    return figures_of(
        *(
            scored_row(answer, base_id=base, adversarial=adversarial)
            for base, adversarial, answer in variants
        )
    )


def test_the_worst_adversarial_variant_counts_and_the_original_where_there_is_none() -> None:
    figures = told(
        ("a", False, "old mill"),
        ("a", True, "the old mill"),
        ("a", True, "mill"),
        ("b", "false", "river"),
        ("c", False, "river"),
        ("c", True, "old mill"),
    )
    assert (figures["questions"], figures["variants_each"]) == (3, 2.0)
    assert value(figures, "original_f1") == pytest.approx(1 / 3)
    assert value(figures, "adversarial_f1") == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert value(figures, "worst_f1") == pytest.approx((2 / 3 + 0 + 0) / 3)
    assert value(figures, "adversarial_em") == pytest.approx(1 / 3)


def value(figures: dict[str, object], name: str) -> float:
    """Return the value of an estimate."""
    estimate = figures[name]
    assert isinstance(estimate, dict)
    return float(estimate["value"])


def test_a_figure_over_nothing_is_left_out() -> None:
    figures = told(("a", True, "mill"))
    assert "original_f1" not in figures and "adversarial_f1" in figures
    assert figures_of(scored_row("mill", id=1)) == {}
    assert told((None, True, "mill")) == {}  # type: ignore[arg-type]


def test_a_file_without_the_column_adversarial_holds_nothing_else() -> None:
    figures = figures_of(scored_row("mill", base_id="a"), scored_row("river", base_id="a"))
    assert value(figures, "adversarial_f1") == 0.0 and "original_f1" not in figures


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
    wrong = {**GOOD, "answers": [{"text": "Berta", "start": 2}], "error": "mine"}
    rows = [GOOD, {**GOOD, "question": " "}, wrong, {**GOOD, "answers": None}]
    rows.append({**GOOD, "question": "Who fixed it? " * 60})
    rows.append({**GOOD, "answers": [3]})
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame, told = scored(folder, path)
    assert (told["rows"], told["scored"], told["em_n"], told["f1_n"]) == (6, 3, 2, 2)
    assert told["cut"] == 1
    ours = next(name for name in frame.columns if name.startswith("error."))
    assert list(frame["error"])[2] == "mine"
    assert "is empty" in frame[ours][1]
    assert "'Berta' does not occur in the passage" in frame[ours][2]
    assert "an answer is a text" in frame[ours][5]
    first = frame.iloc[0]
    assert PASSAGE[int(first["start"]) : int(first["end"])] == first["prediction"]
    assert 0 <= first["f1"] <= 1 and first["em"] in (0, 1)
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


def test_a_table_without_questions_is_refused(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis\nA man sleeps.,A man is awake.\n")
    words = ["batch", str(path), "--model", folder, "--out", str(tmp_path / "o.csv")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code != 0
    assert "no columns 'question' and 'passage'" in done.output


def test_a_file_is_scored_with_distractors_and_word_salad(folder: str, tmp_path: Path) -> None:
    path, out, told = (tmp_path / name for name in ("q.jsonl", "out.csv", "told.json"))
    path.write_text(json.dumps({**GOOD, "question": "Who fixed the mill in Germany?"}) + "\n")
    words = ["batch", str(path), "--model", folder, "--out", str(out), "--summary", str(told)]
    done = CliRunner().invoke(app, [*words, "--transforms", "addsent,sort"])
    assert done.exit_code == 0, done.output
    (row,) = pd.read_csv(out).to_dict("records")
    assert row["addsent.passage"].startswith(PASSAGE) and row["addsent.gold"] == "Anna"
    assert row["addsent.note"].startswith("false answer: ")
    assert (row["sort.passage"], row["sort.question"]) == (
        PASSAGE,
        "fixed germany in mill the who ?",
    )
    transforms = json.loads(told.read_text())["transforms"]
    assert transforms["addsent"]["f1_n"] == 1 and transforms["sort"]["f1_n"] == 0
    assert transforms["sort"]["agreement"] in (0, 1)
