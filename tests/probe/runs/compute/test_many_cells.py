"""A run of many cells costs the store no more than one of few."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy
from sqlalchemy import event

from probe.runs.dispatch import MAX_SENT
from probe.runs.engine import Engine
from probe.runs.run import ended
from probe.runs.store import Store
from tests.support.pages.visitors import ME
from tests.support.runs.logged_cells import Log
from tests.support.waiting import until


@contextmanager
def cell_writes() -> Iterator[list[str]]:
    """Note the statements that change cells."""
    statements: list[str] = []

    def note(connection: object, cursor: object, statement: str, *others: object) -> None:
        if statement.startswith("UPDATE cell"):
            statements.append(statement)

    event.listen(sqlalchemy.Engine, "before_cursor_execute", note)
    yield statements
    event.remove(sqlalchemy.Engine, "before_cursor_execute", note)


def test_a_run_begins_and_is_stopped_with_few_writes_however_many_cells_it_has(
    log: Log, one_worker: Engine
) -> None:
    run_id = Store().create(ME, log.request("a", 2 * MAX_SENT)).id
    with cell_writes() as statements:
        one_worker.submit(run_id)
        until(Store(), run_id, lambda run: run.cells[0].progress is not None)
        one_worker.cancel(run_id)
        run = until(Store(), run_id, ended)
    assert (run.state, {cell.state for cell in run.cells}) == ("cancelled", {"cancelled"})
    assert log.lines() == ["a1"]
    assert len(statements) < 10


def test_what_was_stopped_before_it_was_sent_is_taken_up_again(
    log: Log, one_worker: Engine
) -> None:
    run_id = Store().create(ME, log.request("a", MAX_SENT + 5)).id
    one_worker.submit(run_id)
    until(Store(), run_id, lambda run: run.cells[0].progress is not None)
    one_worker.cancel(run_id)
    until(Store(), run_id, ended)
    log.gate.touch()
    one_worker.reopen(run_id)
    run = until(Store(), run_id, ended)
    assert (run.state, len(run.results)) == ("done", MAX_SENT + 5)
    assert log.lines()[1:] == [f"a{number}" for number in range(1, MAX_SENT + 6)]
