"""The event queue: in order, again where the store could not be written, and never at an end."""

from pathlib import Path
from queue import Queue

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan, run_request
from probe.runs.engine import EventQueue
from probe.runs.run import StoredRun
from probe.runs.store import Store
from tests.support.processes.database_trouble import locked

PLAN = Plan("tiny", "negation", (6,), (1e-3,), (0,))


@pytest.fixture
def store(home: Path) -> Store:
    """An empty store that does not wait long for a lock."""
    return Store(patience=0.01)


@pytest.fixture
def run(store: Store, sets: Sets) -> StoredRun:
    """A run that nobody works on."""
    return store.create("me", run_request(PLAN, sets))


def test_what_cannot_be_stored_is_stored_later_and_before_what_follows(
    store: Store, run: StoredRun, home: Path
) -> None:
    queue, seen = EventQueue(lambda run_id, problem: None), Queue[int]()
    with locked(home):
        queue.put(run.id, lambda: store.set_result(run.id, 1, {"score": 0.6}))
        queue.put(run.id, lambda: seen.put(len(store.get(run.id).results)))
        while not store.get(run.id).error:
            assert seen.empty()
    assert seen.get(timeout=60) == 1
    queue.close()


def test_what_goes_wrong_otherwise_is_told_and_the_next_is_done(
    store: Store, run: StoredRun
) -> None:
    errors, done = Queue[tuple[str, str]](), Queue[bool]()
    queue = EventQueue(lambda run_id, problem: errors.put((run_id, repr(problem))))
    queue.put(run.id, lambda: [][1])  # type: ignore[func-returns-value]  # it never returns
    queue.put(run.id, lambda: done.put(True))
    assert errors.get(timeout=60) == (run.id, "IndexError('list index out of range')")
    assert done.get(timeout=60)
    queue.close()


def test_closing_does_not_wait_for_a_lock_to_end(store: Store, run: StoredRun, home: Path) -> None:
    queue = EventQueue(lambda run_id, problem: None)
    with locked(home):
        queue.put(run.id, lambda: store.set_state(run.id, "running"))
        while not store.get(run.id).error:
            pass
        queue.close()
    assert store.get(run.id).state == "queued"
