"""Scoring a file from the page: what is shown on the way, at the end, and after a stop."""

import csv
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from probe.analysis.batch import FIRST_ROWS
from probe.data.rows import guess
from probe.data.source import open_source
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.scoring.files import ScoringRequest
from probe.stopping import Reason
from probe.tasks.nli import NLI
from probe.ui.answers.answering import in_steps
from probe.ui.answers.file_line import FileLine
from probe.ui.answers.pacing import STOPPED, StopRequests
from probe.ui.measure.choice import FILE
from probe.ui.panels import options
from probe.ui.results.batch_tables import ALL, ANY
from probe.ui.results.row_numbers import PAGE_ROWS
from probe.ui.tabs.batch_background import Background
from probe.ui.tabs.batch_rows import turn
from probe.ui.tabs.batch_run import Job, Outputs, run, scored
from tests.support.files.pair_files import PAIRS
from tests.support.models.tiny_models import shared
from tests.support.pages.choices import chosen
from tests.support.pages.visitors import ME, page_models, uploaded

PLACES = list(vars(Outputs()))
ROWS = 10 * len(PAIRS)


@pytest.fixture
def upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of 300 pairs; results are written below the test's own folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    path = tmp_path / "mine.csv"
    rows = [(pair.premise, pair.hypothesis, pair.gold) for pair in PAIRS] * 10
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("premise", "hypothesis", "label"), *rows])
    return path


def shown_of(upload: Path, *reasons: Reason) -> Iterator[list[Any]]:
    """Score a file, each row reversed as well, and yield what the page shows."""
    source = open_source(upload)
    request = ScoringRequest(guess(source.names, NLI), ("reverse",), precision="fp32")
    job = Job(upload, source, shared("bert"), request, ME)
    result = job.begun()
    return scored(job, result, in_steps("file_minutes", result.chunks(), *reasons))


def outputs(upload: Path, stop_at: Callable[[int], bool]) -> list[dict[str, object]]:
    """Return by place what the page is shown, stopping where `stop_at` says so of an output."""
    stops = StopRequests()
    shown = []
    for values in shown_of(upload, stops.reason("me")):
        shown.append(dict(zip(PLACES, values, strict=True)))
        if stop_at(len(shown)):
            stops.ask("me")
    return shown


def files(shown: dict[str, object]) -> list[Path]:
    """Return the files that an output offers."""
    return [Path(file["path"]) for file in shown["files"].value]  # type: ignore[attr-defined]  # gr.Files


def fields(upload: Path) -> tuple[Any, ...]:  # Any: of components of several kinds
    """Return what a visitor has entered to score a file."""
    with gr.Blocks():
        controls = [control.value for control in options.build()]
    columns = ("premise", "hypothesis", "label", None)
    given = chosen(["minilm"], FILE, str(uploaded(upload)), columns, precision="fp32")
    return (ME, "nli", *given, [], *controls)


def test_a_file_is_scored_to_its_end(upload: Path) -> None:
    *_, last = outputs(upload, lambda count: False)
    assert f"{ROWS} rows, {ROWS} scored" in str(last["head"])
    assert "Stopped" not in str(last["progress"])
    with files(last)[0].open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == ROWS


def test_stop_writes_what_was_scored_and_says_so(upload: Path) -> None:
    *_, last = outputs(upload, lambda count: count == 1)
    assert f"Stopped after {FIRST_ROWS} of {ROWS} rows." in str(last["progress"])
    assert [path.name for path in files(last)] == [
        *("mine-scored.csv", "mine-summary.json", "mine-pairs.csv")
    ]
    with files(last)[0].open(newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert len(written) == FIRST_ROWS
    assert all(row["prediction"] for row in written)


def test_the_first_chunk_shows_its_figures_at_once(upload: Path) -> None:
    first, *_ = outputs(upload, lambda count: True)
    assert f"n = {FIRST_ROWS}<" in str(first["figures"])
    assert not set(re.findall('data-cell="[^"]*"|A press', str(first["figures"])))
    assert str(first["rows"]).count("<tr>") == PAGE_ROWS + 1


def test_stop_inside_a_chunk_keeps_the_rows_before_it(upload: Path) -> None:
    looks = 0

    def third_chunk_has_begun() -> str:
        nonlocal looks
        looks += 1
        return STOPPED if looks > 2 * FIRST_ROWS else ""

    *_, last = shown_of(upload, third_chunk_has_begun)
    assert f"Stopped after {FIRST_ROWS} of {ROWS} rows." in str(last[0])


def test_a_file_that_takes_too_long_keeps_what_was_scored(
    upload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_FILE_MINUTES", "1")
    in_time = time.monotonic()
    shown = []
    for values in shown_of(upload):
        shown.append(str(values[0]))
        monkeypatch.setattr(time, "monotonic", lambda: in_time + 61)
    assert "this took longer than 1 minutes" in shown[-1]
    assert f"Stopped after {FIRST_ROWS} of {ROWS} rows." in shown[-1]


def test_the_rows_stay_as_they_are_before_a_file_is_scored() -> None:
    assert turn("", ALL, ANY, "", 3) == (gr.skip(), gr.skip())


def test_who_comes_second_sees_the_file_that_is_before_theirs(upload: Path) -> None:
    line, stops, models = FileLine(), StopRequests(), page_models()
    with line.place(("", "first"), lambda: "") as ahead:
        assert list(ahead) == []
        background = Background(models.store, Engine(models.store))
        place = ("", "second")
        steps = run(models, background, stops, line, place, False, *fields(upload))
        waiting = dict(zip(PLACES, next(steps), strict=True))
        assert "One file is scored before yours" in str(waiting["progress"])
        stops.ask("second")
        stopped = dict(zip(PLACES, next(steps), strict=True))
    assert "nothing to put into a file" in str(stopped["trouble"])
    assert "alert" not in str(stopped["trouble"])


def test_once_the_model_is_loaded_the_first_rows_are_said_to_be_scored(upload: Path) -> None:
    models = page_models()
    background = Background(models.store, Engine(models.store))
    asked = (StopRequests(), FileLine(), ("", "me"), False, *fields(upload))
    steps = run(models, background, *asked)
    shown = [str(next(steps)[PLACES.index("progress")]) for _ in range(2)]
    assert "Loading the model" in shown[0]
    assert "Scoring the first rows" in shown[1] and f"{ROWS} rows" in shown[1]


def test_a_file_that_is_under_way_in_the_background_is_not_begun_again(
    upload: Path, home: Path, waiting_engine: tuple[Store, Engine]
) -> None:
    store, _ = waiting_engine
    background, source = Background(*waiting_engine), open_source(upload)
    request = ScoringRequest(guess(source.names, NLI), ("reverse",))

    def begun(asked: ScoringRequest, path: Path = upload) -> int:
        background.start(ME, uploaded(path), source, "da", NLI, asked)
        return len(store.runs(ME))

    assert [begun(request), begun(request)] == [1, 1]
    (run,) = store.runs(ME)
    assert [path.name for path in (home / "scoring").iterdir()] == [run.plan["folder"]]
    assert begun(replace(request, seed=1)) == 2
    other = upload.parent / "other" / upload.name
    other.parent.mkdir()
    other.write_bytes(upload.read_bytes() + b"Snow fell.,It snowed.,entailment\n")
    assert begun(request, other) == 3
    store.request_cancel(store.runs(ME)[-1].id)
    assert begun(request) == 4
