"""A file in the background: how long it still takes, and what can be pressed."""

import re
from dataclasses import replace

import pytest

from probe.runs.run import Run, RunCell, StoredRun
from probe.ui.html.background import background_runs


@pytest.fixture
def run() -> StoredRun:
    """A file of 600 rows: half a minute for the first part, none yet for the second."""
    first = RunCell(0, {}, "done", {"rows": 200, "seconds": 30.0}, {"rows": 200, "scored": 200})
    second = RunCell(1, {}, "running")
    plan = {"file": "big.csv", "rows": 600, "model": "da", "names": []}
    return Run(
        *("a", "scoring", "me", plan, "running", False, "", 1.0, 1.0, 0.0, {}, {}, ""),
        cells=(first, second),
    )


def left(run: StoredRun) -> list[str]:
    """Return the times left that are told."""
    return re.findall(r"about (\S+ \w+) left", background_runs([run]))


def buttons(run: StoredRun) -> list[str]:
    """Return the buttons, in their order."""
    return re.findall(r'data-cell="(\S+):a"', background_runs([run]))


def test_the_time_left_is_that_of_the_rows_at_the_speed_of_those_before(run: StoredRun) -> None:
    assert left(run) == ["60 s"]


def test_the_time_left_is_shared_by_the_parts_that_are_scored_at_once(run: StoredRun) -> None:
    assert left(replace(run, cells=(*run.cells, *run.cells[1:]))) == ["30 s"]


def test_no_time_is_told_before_rows_were_timed_or_once_it_is_to_stop(run: StoredRun) -> None:
    untimed = replace(run.cells[0], progress=None)
    assert left(replace(run, cells=(untimed, run.cells[1]))) == []
    assert left(replace(run, cancelling=True)) == []


def test_stop_keeps_its_place_once_it_is_pressed(run: StoredRun) -> None:
    stopping = replace(run, cancelling=True)
    assert buttons(run) == buttons(stopping) == ["stop", "take"]
    assert 'data-cell="stop:a" disabled' in background_runs([stopping])
    assert "disabled" not in background_runs([run])
