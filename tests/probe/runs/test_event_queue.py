"""Bookkeeping: in order, again where the store could not be written, and never at an end."""

from pathlib import Path
from queue import Queue

import pytest

from finetune.experiments.inoculation.plan import Cell, Plan
from finetune.experiments.inoculation.sets import Sets
from probe.runs.event_queue import EventQueue
from probe.runs.store import Run, Store
from tests.support.database_trouble import locked
from tests.support.points import make_point

CELL = Cell(6, 1e-3, 0)


@pytest.fixture
def store(home: Path) -> Store:
    """An empty store that does not wait long for a lock."""
    return Store(patience=0.01)


@pytest.fixture
def run(store: Store, sets: Sets) -> Run:
    """A run that nobody works on."""
    return store.create("me", Plan("tiny", "negation", (6,), (1e-3,), (0,)), sets, {})


def test_what_cannot_be_stored_is_stored_later_and_before_what_follows(
    store: Store, run: Run, home: Path
) -> None:
    books, seen = EventQueue(lambda run_id, problem: None), Queue[int]()
    with locked(home):
        books.later(run.id, lambda: store.point(run.id, make_point(8, 6, 10, CELL)))
        books.later(run.id, lambda: seen.put(len(store.get(run.id).points)))
        while not store.get(run.id).error:
            assert seen.empty()
    assert seen.get(timeout=60) == 1
    books.close()


def test_what_goes_wrong_otherwise_is_told_and_the_next_is_done(store: Store, run: Run) -> None:
    told, done = Queue[tuple[str, str]](), Queue[bool]()
    books = EventQueue(lambda run_id, problem: told.put((run_id, repr(problem))))
    books.later(run.id, lambda: [][1])  # type: ignore[func-returns-value]  # it never returns
    books.later(run.id, lambda: done.put(True))
    assert told.get(timeout=60) == (run.id, "IndexError('list index out of range')")
    assert done.get(timeout=60)
    books.close()


def test_closing_does_not_wait_for_a_lock_to_end(store: Store, run: Run, home: Path) -> None:
    books = EventQueue(lambda run_id, problem: None)
    with locked(home):
        books.later(run.id, lambda: store.mark(run.id, "running"))
        while not store.get(run.id).error:
            pass
        books.close()
    assert store.get(run.id).state == "queued"
