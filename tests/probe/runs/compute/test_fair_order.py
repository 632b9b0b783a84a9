"""Whose cells come next: one visitor's many make nobody else wait for all of them."""

import pytest

from probe.runs import dispatch
from probe.runs.engine import Engine
from probe.runs.fair_order import FairOrder
from probe.runs.run import RunRequest, ended
from probe.runs.store import Store
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.logged_cells import Log
from tests.support.waiting import until


def test_a_newcomer_s_first_cell_is_next_and_an_owner_s_own_cells_keep_their_order() -> None:
    order = FairOrder()
    mine = order.places(3, [])
    assert list(mine) == [1, 2, 3]
    order.begin(1)
    assert list(order.places(2, [])) == [2, 3]  # of somebody who has nothing waiting
    assert list(order.places(2, [2, 3])) == [4, 5]  # of the first one


def test_virtual_time_does_not_run_back() -> None:
    order = FairOrder()
    order.begin(5)
    order.begin(3)
    assert list(order.places(1, [])) == [6]


def test_what_was_withdrawn_does_not_count() -> None:
    order = FairOrder()
    order.places(300, [])
    assert list(order.places(1, [])) == [1]


def submit(engine: Engine, owner: str, request: RunRequest) -> str:
    """Store a run and hand it to the engine."""
    run_id = Store().create(owner, request).id
    engine.submit(run_id)
    return run_id


def sent(engine: Engine, count: int) -> None:
    """Wait until the scheduler knows so many cells."""
    client = engine.cluster.connect()
    assert client is not None
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) < count:
        pass


def test_the_cells_of_two_visitors_take_turns(log: Log, one_worker: Engine) -> None:
    mine = submit(one_worker, ME, log.request("a", 6))
    until(Store(), mine, lambda run: run.cells[0].state == "running")
    others = [
        submit(one_worker, YOU, log.request("b", 3)),
        submit(one_worker, ME, log.request("c", 2)),
    ]
    sent(one_worker, 11)
    log.gate.touch()
    for run_id in (mine, *others):
        assert until(Store(), run_id, ended).state == "done"
    assert log.lines() == ["a1", "a2", "b1", "a3", "b2", "a4", "b3", "a5", "a6", "c1", "c2"]


def test_more_cells_than_are_sent_at_once_are_computed_in_their_order(
    log: Log, one_worker: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "MAX_SENT", 2)
    run_id = submit(one_worker, ME, log.request("a", 5, gated=False))
    run = until(Store(), run_id, ended)
    assert [cell.result for cell in run.cells] == [{"number": number} for number in range(1, 6)]
    assert log.lines() == ["a1", "a2", "a3", "a4", "a5"]


def test_a_run_that_is_cancelled_leaves_its_turns_to_others(log: Log, one_worker: Engine) -> None:
    many = submit(one_worker, ME, log.request("a", 40))
    until(Store(), many, lambda run: run.cells[0].state == "running")
    one_worker.cancel(many)
    run = until(Store(), many, ended)
    assert {cell.state for cell in run.cells} == {"cancelled"}
    other = submit(one_worker, YOU, log.request("b", 3))
    until(Store(), other, lambda run: run.cells[0].state == "running")
    again = submit(one_worker, ME, log.request("c", 3))
    sent(one_worker, 6)
    log.gate.touch()
    for run_id in (other, again):
        until(Store(), run_id, ended)
    assert log.lines() == ["a1", "b1", "b2", "c1", "b3", "c2", "c3"]
