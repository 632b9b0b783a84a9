"""A file before it is scored: what is shown of it, what is asked, and what is refused."""

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from markupsafe import Markup

from probe.data.rows import Columns, of_frame
from probe.data.source import first_rows, read_table
from probe.errors import FileError, LabelError
from probe.tasks.nli import NLI
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from probe.ui.measure.texts import (
    LabelledFile,
    columns_of,
    options_of,
    read_meanings,
    show_file,
    show_labels,
)
from tests.support.cases import each
from tests.support.pages.visitors import ME, uploaded

SHOWN = ("preview", "labels", "doubt", "switch", "details", "meanings")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploads lie below the test's own folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))


def shown(task: str, text: str, tmp_path: Path) -> dict[str, Any]:
    """Return what is shown of a file for a task, by component; the columns come as a list."""
    path = tmp_path / "mine.csv"
    path.write_text(text)
    values = show_file(ME, task, str(uploaded(path)))
    return dict(zip(SHOWN, values, strict=False)) | {"columns": values[len(SHOWN) :]}


def test_columns_are_named_as_the_task_names_its_texts(tmp_path: Path) -> None:
    columns = shown("sentiment", "review,label\nGood.,pos\n", tmp_path)["columns"]
    first, second, gold, form = columns
    assert form.visible is False
    assert (first.label, first.value, second.visible) == ("Text column", "review", False)
    assert gold.value == "label"


def test_a_file_of_another_task_is_recognised_and_its_task_offered(tmp_path: Path) -> None:
    parts = shown("sentiment", "premise,hypothesis,label\nA.,B.,neutral\n", tmp_path)
    assert "it fits natural language inference. Choose Inference at the top" in parts["doubt"]
    assert parts["switch"].value == "Switch to Inference"
    assert parts["details"].visible is False


def test_labels_of_another_task_are_named(tmp_path: Path) -> None:
    parts = shown("paraphrase", "sentence1,sentence2,label\nA.,B.,neutral\n", tmp_path)
    assert "a file of natural language inference, which it fits" in parts["doubt"]
    assert parts["switch"].value == "Switch to Inference"


def test_numbers_are_told_by_whose_data_they_are_read(tmp_path: Path) -> None:
    text = "question1,question2,label\nA?,B?,1\nA?,C?,0\n"
    labels = shown("paraphrase", text, tmp_path)["labels"]
    said = Markup(labels).striptags()
    assert "1 read as paraphrase, 0 as non-paraphrase, as in GLUE, PAWS and Quora" in said


def test_numbers_that_nothing_explains_are_asked_about(tmp_path: Path) -> None:
    parts = shown("nli", "premise,hypothesis,label\nA.,B.,0\nA.,C.,1\n", tmp_path)
    labels = parts["labels"]
    assert "This file has the labels 0 and 1. What does each mean?" in labels
    assert "A. / B." in labels and "A. / C." in labels
    assert labels.count("data-asked") == labels.count('checked name="means-0" value="?"') * 2 == 2
    meant = [json.loads(unescape(each)) for each in re.findall('data-reading="([^"]*)"', labels)]
    assert meant[0] == {"1": "entailment", "0": "non-entailment"} and meant[-1] == {"*": ""}
    assert all(set(each) == {"0", "1"} for each in meant[:-1])
    assert "Say it below" not in parts["doubt"]


def test_what_was_asked_of_a_column_is_asked_no_more_once_another_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("premise,b,label,other\nA.,B.,0,neutral\nA.,C.,1,entailment\n")
    place = str(uploaded(path))
    assert "Say it below" in show_file(ME, "nli", place)[2]
    labels, doubt, said = show_labels(ME, "nli", place, "premise", "b", "other", None)
    assert "Say it below" not in doubt and "data-asked" not in labels and said == ""
    assert "data-asked" in show_labels(ME, "nli", place, "premise", "b", "label", None)[0]


def test_a_form_that_a_file_does_not_tell_is_asked_and_heeded(tmp_path: Path) -> None:
    text = "".join(f"A man walks {n} miles.,He walks far.,neutral\n" for n in range(3))
    parts = shown("nli", text, tmp_path)
    asked = parts["columns"][-1]
    assert "looks like data" in parts["doubt"]
    assert [way for _, way in asked.choices] == ["--no-header", "--header"]
    answered = show_file(ME, "nli", str(uploaded(tmp_path / "mine.csv")), "--no-header")
    assert answered[len(SHOWN)].choices[0][0] == answered[len(SHOWN) + 1].choices[0][0]
    assert answered[-1].visible is True


def test_a_value_that_is_not_known_is_asked_about(tmp_path: Path) -> None:
    labels = shown("sentiment", "text,label\nGood.,five stars\n", tmp_path)["labels"]
    assert "This file has the labels five stars." in labels and "data-asked" in labels


def test_a_column_of_many_values_is_doubted(tmp_path: Path) -> None:
    rows = "".join(f"Good.,word {number}\n" for number in range(30))
    assert "30 different values" in shown("sentiment", f"text,label\n{rows}", tmp_path)["labels"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("premise,hypothesis,label\n", "mine.csv has no rows below its header"),
        ("words\nGood.\n", "no columns 'premise' and 'hypothesis'"),
        ("a,b\nA.,B.\n", "Say it below"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text: str, words: str, tmp_path: Path) -> None:
    assert words in unescape(shown("nli", text, tmp_path)["doubt"])


def test_a_column_that_no_name_tells_is_left_open_and_asked_for(tmp_path: Path) -> None:
    parts = shown("nli", "premise,label\nA.,neutral\n", tmp_path)
    assert "Say it below" in parts["doubt"]
    assert [column.value for column in parts["columns"][:-1]] == ["premise", None, "label"]
    with pytest.raises(FileError, match="no column 'hypothesis' in your file; it has: premise"):
        chosen("premise,label\nA.,neutral\n", ("premise", None, "label"), NLI, tmp_path)
    named = chosen("premise,said,label\nA.,B.,e\n", (None, "said", "label"), NLI, tmp_path)
    assert named.texts == {"premise": "premise", "hypothesis": "said"}


def test_without_a_gold_column_that_is_said(tmp_path: Path) -> None:
    assert "Without right answers" in shown("sentiment", "text\nGood.\n", tmp_path)["labels"]


def chosen(
    text: str, columns: tuple[str | None, ...], task: Task, folder: Path, meanings: str = ""
) -> Columns:
    """Return how a file is read by what is chosen on the page."""
    path = folder / "mine.csv"
    path.write_text(text)
    return columns_of(read_table(path), path, task, options_of((*columns, None), task, meanings))


def test_chosen_columns_win_over_guessed_ones(tmp_path: Path) -> None:
    text = "text,other,label\nA.,B.,pos\n"
    without = chosen(text, ("other", None, "(no right answers)"), SENTIMENT, tmp_path)
    assert without == Columns({"text": "other"})
    assert chosen(text, (None, None, None), SENTIMENT, tmp_path).gold == "label"
    with pytest.raises(FileError, match="no column 'absent'"):
        chosen(text, ("absent", None, None), SENTIMENT, tmp_path)


def test_scoring_waits_for_the_meaning_of_every_value(tmp_path: Path) -> None:
    asked = "text,label\nGood.,five stars\n", ("text", None, "label"), SENTIMENT, tmp_path
    with pytest.raises(FileError, match=r"holds 'five stars' .* say it below the file"):
        chosen(*asked)
    assert chosen(*asked, '{"five stars": "positive"}').values == {"five-stars": "positive"}


def test_a_value_that_is_still_undecided_says_nothing() -> None:
    assert read_meanings('{"0": "positive", "1": "?", "-": ""}') == {"0": "positive", "-": ""}


def test_meanings_that_are_none_are_refused() -> None:
    with pytest.raises(LabelError, match="choose it again"):
        read_meanings("[1]")


def test_the_parts_are_in_the_order_of_what_is_shown() -> None:
    with gr.Blocks():
        parts: dict[str, Any] = {name: gr.HTML() for name in SHOWN}
        file = LabelledFile(gr.File(), {}, [], **parts)
    assert file.shown == [parts[name] for name in SHOWN]


PAIR = {"premise": "A man walks.", "hypothesis": "He moves."}


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits."""
    for name, limit in {"ROWS": 3, "COLUMNS": 4, "CELL": 1000, "UNPACKED_MB": 1}.items():
        monkeypatch.setenv(f"NLI_CLINIC_MAX_{name}", str(limit))


def preview(path: Path, rows: list[dict[str, object]]) -> tuple[str, str]:
    """Return the first rows as the page shows them, and the sentence about the columns."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown, _, sentence, *_ = show_file(ME, "nli", str(uploaded(path)))
    return str(shown), str(sentence)


@pytest.mark.usefixtures("limits")
def test_a_file_at_the_limits_is_shown(tmp_path: Path) -> None:
    row = {**PAIR, "c": "x" * 1000, "d": 1}
    shown, sentence = preview(tmp_path / "a.jsonl", [row] * 3)
    assert "A man walks." in shown
    assert "3 rows" in sentence


@pytest.mark.usefixtures("limits")
@each(
    "rows, words",
    [
        ([PAIR] * 4, "the file has more than 3 rows (this app's NLI_CLINIC_MAX_ROWS)"),
        ([{**PAIR, "c": 1, "d": 2, "e": 3}], "the file has more than 4 columns"),
        ([{**PAIR, "c": "x" * 1001}], "a cell of the file has more than 1,000 characters"),
        ([{**PAIR, "c": "x" * 21_001}] * 2, "or a row twenty times as many"),
        ([{**PAIR, "c": " " * 900}] * 1200, "than 1 megabytes once it is unpacked"),
    ],
)
def test_a_file_above_a_limit_gets_its_sentence(
    rows: list[dict[str, object]], words: str, tmp_path: Path
) -> None:
    shown, sentence = preview(tmp_path / "a.jsonl", rows)
    assert shown == ""
    assert words in sentence.replace("&#39;", "'")


def write_arrow(table: pa.Table, path: Path) -> None:
    """Write what the library datasets keeps a data set in."""
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


@each("name, write", [("a.parquet", pq.write_table), ("a.arrow", write_arrow)])
def test_what_typed_columns_lack_and_list_is_shown(
    name: str, write: Callable[[pa.Table, Path], None], tmp_path: Path
) -> None:
    columns = {
        "premise": ["a", None],
        "hypothesis": ["b", "c"],
        "n": pa.array([None, 2], pa.int64()),
        "tags": [["x", "y"], []],
    }
    write(pa.table(columns), tmp_path / name)
    shown, *_ = show_file(ME, "nli", str(uploaded(tmp_path / name)))
    assert "<td>2</td>" in shown
    assert "x" in shown


def test_only_the_beginning_of_a_large_table_is_shown() -> None:
    frame = pd.DataFrame({f"c{number}": ["x" * 1000] * 9 for number in range(100)})
    part = first_rows(of_frame(frame, "csv"))
    assert part.shape == (5, 30)
    assert set(map(len, part.to_numpy().ravel())) == {301}


def test_half_a_character_is_shown_as_a_replacement(tmp_path: Path) -> None:
    shown, _ = preview(tmp_path / "a.jsonl", [{**PAIR, "c": "a\ud800b"}])
    assert "a\ufffdb" in shown
