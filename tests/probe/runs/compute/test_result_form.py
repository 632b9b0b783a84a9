"""Parts of an earlier version are computed again where that gave another form of result."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from sqlalchemy import update

from probe.cli.compute import compute_run
from probe.runs.access import COMMAND_LINE
from probe.runs.database import RunRow
from probe.runs.engine import Engine
from probe.runs.experiment import register
from probe.runs.run import Json, StoredRun, ended
from probe.runs.store import Store, renewed_words
from probe.ui.html.background import background_runs
from probe.ui.html.elements import NOTHING
from probe.ui.html.run import under_way
from tests.support.runs.logged_cells import LOGGED, Log
from tests.support.waiting import until

AGAIN = "2 parts that an earlier version of this program computed are computed again"


@pytest.fixture
def begun(log: Log) -> StoredRun:
    """A stopped run of which two cells of three are done."""
    results = {number: {"number": number + 1} for number in range(2)}
    store = Store()
    run = store.create("me", log.request("a", 3, gated=False), results)
    store.set_cell_state(run.id, 2, "cancelled")
    store.set_state(run.id, "cancelled")
    return store.get(run.id)


@pytest.fixture
def upgraded() -> Iterator[None]:
    """A version whose results have another form."""
    register(replace(LOGGED, form=2))
    yield


def taken_up(engine: Engine, run: StoredRun) -> StoredRun:
    engine.reopen(run.id)
    return until(Store(), run.id, ended)


def test_what_is_done_is_kept_by_the_same_version(
    begun: StoredRun, one_worker: Engine, log: Log
) -> None:
    assert taken_up(one_worker, begun).state == "done"
    assert log.lines() == ["a3"]


def test_a_run_of_before_there_were_forms_has_the_first(
    begun: StoredRun, one_worker: Engine, log: Log
) -> None:
    nothing = update(RunRow).where(RunRow.id == begun.id).values(artefacts={})
    Store().database.write(nothing)
    assert taken_up(one_worker, begun).state == "done"
    assert log.lines() == ["a3"]


def test_what_another_version_did_is_done_again_and_the_page_says_so(
    begun: StoredRun, upgraded: None, one_worker: Engine, log: Log
) -> None:
    run = taken_up(one_worker, begun)
    assert (run.state, len(run.results), sorted(log.lines())) == ("done", 3, ["a1", "a2", "a3"])
    assert AGAIN in under_way(run, "", "", NOTHING)
    assert AGAIN not in under_way(begun, "", "", NOTHING)
    again = replace(run, state="cancelled", plan={"rows": 3, "name": "a"})
    assert AGAIN in background_runs([again])
    assert log.repeated() == []


def test_it_is_done_again_once(
    begun: StoredRun, upgraded: None, one_worker: Engine, log: Log
) -> None:
    done = taken_up(one_worker, begun)
    one_worker.submit(done.id)
    one_worker.close()
    assert log.repeated() == []


def test_a_run_that_is_to_be_stopped_keeps_what_it_has(
    begun: StoredRun, upgraded: None, one_worker: Engine
) -> None:
    store = Store()
    store.reopen(begun.id)
    store.request_cancel(begun.id)
    one_worker.submit(begun.id)
    run = until(store, begun.id, ended)
    assert (run.state, len(run.results)) == ("cancelled", 2)


def test_the_command_takes_over_what_has_this_form_and_says_what_has_not(
    begun: StoredRun, upgraded: None, log: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    def known(runs: Iterable[StoredRun]) -> dict[int, Json]:
        return {cell.number: cell.result for run in runs for cell in run.cells if cell.result}

    request = log.request("b", 3, gated=False)
    compute_run(request, known, lambda key, row: f"cell {key['number']}", in_process=True)
    assert f"note: {AGAIN}" in capsys.readouterr().out
    (mine,) = Store().runs(COMMAND_LINE)
    assert sorted(log.lines()) == ["b1", "b2", "b3"] and mine.state == "done"
    compute_run(request, known, lambda key, row: f"cell {key['number']}", in_process=True)
    told = capsys.readouterr().out
    assert "note" not in told and told.count("(from an earlier call)") == 3


def test_one_part_is_said_as_one() -> None:
    one = "1 part that an earlier version of this program computed is computed again"
    assert (renewed_words(0), renewed_words(1), renewed_words(2)) == ("", one, AGAIN)
