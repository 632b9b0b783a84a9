"""A file before it is scored: what is shown of it, what is asked, and what is refused."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
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
from probe.models.prediction_file import ANSWERS_OF
from probe.tasks.nli import NLI
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from probe.ui.measure.answer_files import answers_on
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
PAIR = {"premise": "A man walks.", "hypothesis": "He moves."}
MANY = "".join(f"Good.,word {number}\n" for number in range(30))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploads lie below the test's own folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))


def shown(task: str, text: str, tmp_path: Path, name: str = "mine.csv") -> dict[str, Any]:
    """Return what is shown of a file for a task, by component; the columns come as a list."""
    path = tmp_path / name
    path.write_text(text)
    values = show_file(ME, task, str(uploaded(path)))
    return dict(zip(SHOWN, values, strict=False)) | {"columns": values[len(SHOWN) :]}


@each(
    ("task", "text", "part", "words"),
    [
        ("sentiment", "text,label\nGood.,five\n", "labels", "This file has the labels five."),
        ("sentiment", f"text,label\n{MANY}", "labels", "30 different values"),
        ("sentiment", "text\nGood.\n", "labels", "Without right answers"),
        ("nli", "premise,hypothesis,label\n", "doubt", "mine.csv has no rows below its header"),
        ("nli", "words\nGood.\n", "doubt", "no columns 'premise' and 'hypothesis'"),
        ("nli", "a,b\nA.,B.\n", "doubt", "Say it below"),
        (
            *("nli", "question,sentence,label\nA?,B.,not_entailment\n", "doubt"),
            "it has: question, sentence, label. Say it below",
        ),
        (
            *("paraphrase", "question1,question2,label\nA?,B?,1\nA?,C?,0\n", "labels"),
            "1 read as paraphrase, 0 as non-paraphrase, as in GLUE, PAWS and Quora",
        ),
        (
            *("sentiment", "premise,hypothesis,label\nA.,B.,neutral\n", "doubt"),
            "it fits natural language inference. Choose Inference at the top",
        ),
        (
            *("paraphrase", "sentence1,sentence2,label\nA.,B.,neutral\n", "doubt"),
            "a file of natural language inference, which it fits",
        ),
    ],
)
def test_what_a_file_says_or_leaves_open_is_told(
    task: str, text: str, part: str, words: str, tmp_path: Path
) -> None:
    parts = shown(task, text, tmp_path)
    assert words in unescape(Markup(parts[part]).striptags())
    if "fits" in words:  # another task
        assert parts["switch"].value == "Switch to Inference"


def test_columns_are_named_as_the_task_names_its_texts(tmp_path: Path) -> None:
    first, second, gold, form = shown("sentiment", "review,label\nGood.,pos\n", tmp_path)["columns"]
    assert form.visible is False and gold.value == "label"
    assert (first.label, first.value, second.visible) == ("Text column", "review", False)


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
    labels, doubt, said = show_labels(ME, "nli", place, [], "premise", "b", "other", None)
    assert "Say it below" not in doubt and "data-asked" not in labels and said == ""
    assert "data-asked" in show_labels(ME, "nli", place, [], "premise", "b", "label", None)[0]


def test_a_form_that_a_file_does_not_tell_is_asked_and_heeded(tmp_path: Path) -> None:
    text = "".join(f"A man walks {n} miles.,He walks far.,neutral\n" for n in range(3))
    parts = shown("nli", text, tmp_path)
    assert "looks like data" in parts["doubt"]
    assert [way for _, way in parts["columns"][-1].choices] == ["--no-header", "--header"]
    answered = show_file(ME, "nli", str(uploaded(tmp_path / "mine.csv")), [], "--no-header")
    assert answered[len(SHOWN)].choices[0][0] == answered[len(SHOWN) + 1].choices[0][0]
    assert answered[-1].visible is True


def chosen(
    text: str, columns: tuple[str | None, ...], task: Task, folder: Path, meanings: str = ""
) -> Columns:
    """Return how a file is read by what is chosen on the page."""
    path = folder / "mine.csv"
    path.write_text(text)
    return columns_of(read_table(path), path, task, options_of((*columns, None), task, meanings))


def test_a_column_that_no_name_tells_is_left_open_and_asked_for(tmp_path: Path) -> None:
    parts = shown("nli", "premise,label\nA.,neutral\n", tmp_path)
    assert "Say it below" in parts["doubt"]
    assert [column.value for column in parts["columns"][:-1]] == ["premise", None, "label"]
    with pytest.raises(FileError, match="no column 'hypothesis' in your file; it has: premise"):
        chosen("premise,label\nA.,neutral\n", ("premise", None, "label"), NLI, tmp_path)
    named = chosen("premise,said,label\nA.,B.,e\n", (None, "said", "label"), NLI, tmp_path)
    assert named.texts == {"premise": "premise", "hypothesis": "said"}


def test_what_is_chosen_wins_over_what_is_guessed_and_scoring_waits_for_it(tmp_path: Path) -> None:
    text = "text,other,label\nA.,B.,pos\n"
    without = chosen(text, ("other", None, "(no right answers)"), SENTIMENT, tmp_path)
    assert without == Columns({"text": "other"})
    assert chosen(text, (None, None, None), SENTIMENT, tmp_path).gold == "label"
    with pytest.raises(FileError, match="no column 'absent'"):
        chosen(text, ("absent", None, None), SENTIMENT, tmp_path)
    asked = "text,label\nGood.,five stars\n", ("text", None, "label"), SENTIMENT, tmp_path
    with pytest.raises(FileError, match=r"holds 'five stars' .* say it below the file"):
        chosen(*asked)
    assert chosen(*asked, '{"five stars": "positive"}').values == {"five-stars": "positive"}
    # what is still undecided says nothing
    assert read_meanings('{"0": "positive", "1": "?", "-": ""}') == {"0": "positive", "-": ""}
    with pytest.raises(LabelError, match="choose it again"):
        read_meanings("[1]")


def test_the_parts_are_in_the_order_of_what_is_shown() -> None:
    with gr.Blocks():
        parts: dict[str, Any] = {name: gr.HTML() for name in SHOWN}
        file = LabelledFile(gr.File(), {}, [], **parts)
    assert file.shown == [parts[name] for name in SHOWN]


@each(
    "rows, words",
    [
        ([{**PAIR, "c": "x" * 1000, "d": 1}] * 3, "3 rows"),
        ([{**PAIR, "c": "a\ud800b"}], "1 row"),
        ([PAIR] * 4, "the file has more than 3 rows (this app's NLI_CLINIC_MAX_ROWS)"),
        ([{**PAIR, "c": 1, "d": 2, "e": 3}], "the file has more than 4 columns"),
        ([{**PAIR, "c": "x" * 1001}], "a cell of the file has more than 1,000 characters"),
        ([{**PAIR, "c": "x" * 21_001}] * 2, "or a row twenty times as many"),
        ([{**PAIR, "c": " " * 900}] * 1200, "than 1 megabytes once it is unpacked"),
    ],
)
def test_a_file_within_the_limits_is_shown_and_one_above_gets_its_sentence(
    rows: list[dict[str, object]], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in {"ROWS": 3, "COLUMNS": 4, "CELL": 1000, "UNPACKED_MB": 1}.items():
        monkeypatch.setenv(f"NLI_CLINIC_MAX_{name}", str(limit))
    parts = shown("nli", "".join(json.dumps(row) + "\n" for row in rows), tmp_path, "a.jsonl")
    assert words in unescape(parts["doubt"])
    assert ("A man walks." in parts["preview"]) is words.endswith(("row", "3 rows"))
    assert "\ud800" not in parts["preview"]


def write_arrow(table: pa.Table, path: Path) -> None:
    """Write what the library datasets keeps a data set in."""
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


@each("name, write", [("a.parquet", pq.write_table), ("a.arrow", write_arrow)])
def test_what_typed_columns_lack_and_list_is_shown(
    name: str, write: Callable[[pa.Table, Path], None], tmp_path: Path
) -> None:
    numbers, tags = pa.array([None, 2], pa.int64()), [["x", "y"], []]
    columns = {"premise": ["a", None], "hypothesis": ["b", "c"], "n": numbers, "tags": tags}
    write(pa.table(columns), tmp_path / name)
    preview, *_ = show_file(ME, "nli", str(uploaded(tmp_path / name)))
    assert "<td>2</td>" in preview and "x" in preview


def test_only_the_beginning_of_a_large_table_is_shown() -> None:
    frame = pd.DataFrame({f"c{number}": ["x" * 1000] * 9 for number in range(100)})
    part = first_rows(of_frame(frame, "csv"))
    assert part.shape == (5, 30)
    assert set(map(len, part.to_numpy().ravel())) == {301}


def test_the_numbers_of_answers_without_texts_are_asked_below_the_file_with_the_texts(
    tmp_path: Path,
) -> None:
    (tmp_path / "bare.csv").write_text("index,prediction\n0,1\n1,0\n")
    (tmp_path / "texts.csv").write_text(
        "premise,hypothesis,label\nA.,B.,neutral\nC.,D.,contradiction\n"
    )
    (tmp_path / "numbers.csv").write_text("premise,hypothesis,label\nA.,B.,1\nC.,D.,0\n")
    bare, place, own = (uploaded(tmp_path / f"{name}.csv") for name in ("bare", "texts", "numbers"))
    names = [f"{ANSWERS_OF}{bare.parent.name}"]
    assert "drop that one next" in show_file(ME, "nli", str(bare), [])[2]
    for labels in (
        show_file(ME, "nli", str(place), names)[1],
        show_labels(ME, "nli", str(place), names, "premise", "hypothesis", "label", None)[0],
    ):
        assert "The answers in bare.csv are 0 and 1." in labels
        assert labels.count("data-asked") == 2 and "score without" not in labels
    assert "data-asked" not in show_file(ME, "nli", str(place), ["minilm"])[1]
    assert "bare.csv" not in show_file(ME, "nli", str(own), names)[1]  # asked of the labels

    table, asked = read_table(place), ["premise", "hypothesis", "label", None]

    def answer(meanings: str) -> list[str]:
        options = replace(options_of(asked, NLI, meanings), one_file=False)
        columns = columns_of(table, place, NLI, options)
        (given,) = answers_on(ME, names, table, columns, NLI, options).values()
        return [each.label for each in given.answers.values()]

    with pytest.raises(FileError, match="say it below the file"):
        answer("")
    assert answer('{"0": "contradiction", "1": "neutral"}') == ["neutral", "contradiction"]
