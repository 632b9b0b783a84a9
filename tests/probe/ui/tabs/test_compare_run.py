"""Comparing on a file from the page: what is shown at the end, and after a stop."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from probe.analysis.batch import FIRST_ROWS, Chunk
from probe.analysis.comparison import Row, compare_rows, read
from probe.data.rows import guess
from probe.data.source import read_table
from probe.tasks.nli import NLI
from probe.ui.answers.answering import in_steps
from probe.ui.answers.file_line import FileLine
from probe.ui.answers.pacing import StopRequests
from probe.ui.measure.choice import BUNDLED, ONE
from probe.ui.measure.scripts import UNCHANGED
from probe.ui.tabs.compare_run import Job, Outputs, compared, run
from tests.support.files.pair_files import PAIRS
from tests.support.models.tiny_models import shared
from tests.support.pages.choices import chosen
from tests.support.pages.visitors import ME, page_models

PLACES = list(vars(Outputs()))

NAMES = ["one", "other"]
ROWS = 10 * len(PAIRS)


@pytest.fixture
def comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Job, Iterator[Chunk[Row]]]:
    """Two models on 300 pairs; results are written below the test's own folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    path = tmp_path / "mine.csv"
    rows = [(pair.premise, pair.hypothesis, pair.gold) for pair in PAIRS] * 10
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("premise", "hypothesis", "label"), *rows])
    table = read_table(path)
    unread = read(table, guess(["premise", "hypothesis", "label"], NLI), NLI)
    models = [replace(shared(), name=name) for name in NAMES]
    return Job(table, NAMES, "fp32", "mine", ME), compare_rows(models, unread, "fp32")


def written(shown: dict[str, object]) -> list[dict[str, str]]:
    """Return the rows of the file that an output offers."""
    first, _ = shown["files"].value  # type: ignore[attr-defined]  # gr.Files
    with Path(first["path"]).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def asked(
    names: list[str], source: str, stops: StopRequests, line: FileLine
) -> Iterator[dict[str, object]]:
    """Press Compare, with two texts in the fields of one pair."""
    texts = ("A dog barks.", "A dog is loud.")
    turn = ("10.0.0.1", "me")
    given = chosen(names, source, texts=texts, precision="fp32")
    every = run(page_models(), stops, line, turn, ME, "nli", *given)
    return (dict(zip(PLACES, values, strict=True)) for values in every)


def set_on(button: Any) -> dict[str, Any]:
    """Return what an output changes of a button."""
    return dict(button.constructor_args)


def test_a_file_is_compared_to_its_end(comparison: tuple[Job, Iterator[Chunk[Row]]]) -> None:
    job, chunks = comparison
    shown = [dict(zip(PLACES, values, strict=True)) for values in compared(job, chunks)]
    assert "Stopped" not in str(shown[-1]["progress"])
    assert len(written(shown[-1])) == ROWS


def test_stop_hands_over_what_was_compared(comparison: tuple[Job, Iterator[Chunk[Row]]]) -> None:
    job, chunks = comparison
    stops, shown = StopRequests(), []
    for values in compared(job, in_steps("file_minutes", chunks, stops.reason("me"))):
        shown.append(dict(zip(PLACES, values, strict=True)))
        stops.ask("me")
    told = str(shown[-1]["progress"])
    assert f'role="status">Stopped after {FIRST_ROWS} of {ROWS} rows.' in told
    assert [row["one.prediction"] != "" for row in written(shown[-1])] == [True] * FIRST_ROWS


@pytest.mark.parametrize(("seconds", "rate"), [(200.0, "0.4"), (10.0, "8"), (2.0, "40")])
def test_few_rows_a_second_are_not_none(
    comparison: tuple[Job, Iterator[Chunk[Row]]], seconds: float, rate: str
) -> None:
    job, chunks = comparison
    slow = (replace(chunk, done=80, seconds=seconds) for chunk in chunks)
    values = dict(zip(PLACES, next(compared(job, slow)), strict=True))
    assert f"80 of {ROWS} rows, {rate} a second" in values["progress"]


def test_stop_before_the_first_rows_says_so(comparison: tuple[Job, Iterator[Chunk[Row]]]) -> None:
    job, chunks = comparison
    stops = StopRequests()
    stops.ask("me")
    (values,) = compared(job, in_steps("file_minutes", chunks, stops.reason("me")))
    assert 'role="status">Stopped before the first rows were compared.' in values[0]
    assert UNCHANGED in values[0]


def test_stop_in_line_says_the_same_and_is_no_fault() -> None:
    stops, line = StopRequests(), FileLine()
    with line.place(("10.0.0.2", "other"), lambda: "") as before:
        assert list(before) == []
        shown = asked(["da", "esim"], BUNDLED, stops, line)
        assert "before yours" in str(next(shown)["progress"])
        stops.ask("me")
        (last,) = [str(values["progress"]) for values in shown]
    assert "Stopped before the first rows were compared." in last
    assert UNCHANGED in last
    assert "alert" not in last


def test_a_comparison_that_goes_on_is_stopped_and_not_begun_again() -> None:
    stops, line = StopRequests(), FileLine()
    with line.place(("10.0.0.2", "other"), lambda: "") as before:
        assert list(before) == []
        waiting = next(asked(["da", "esim"], BUNDLED, stops, line))
    assert set_on(waiting["go"]) == {"interactive": False}
    assert set_on(waiting["halt"]) == {"visible": True}


def test_one_pair_is_not_begun_again_meanwhile_and_offers_no_stop_that_nothing_heeds() -> None:
    asking, answered = asked(["da", "esim"], ONE, StopRequests(), FileLine())
    assert 'role="status">Asking the models' in str(asking["progress"])
    assert set_on(asking["go"]) == {"interactive": False}
    assert asking["halt"] == answered["halt"] == gr.skip()


def test_a_refusal_leaves_results_as_those_of_before() -> None:
    (refused,) = asked(["da"], ONE, StopRequests(), FileLine())
    assert UNCHANGED in str(refused["progress"])
