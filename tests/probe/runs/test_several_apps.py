"""Several apps on one database, each with an engine and workers of its own.

Runs on SQLite, and on an empty PostgreSQL whose URL is in NLI_CLINIC_TEST_DATABASE.
"""

import time
from collections.abc import Iterator

import pytest
from sqlalchemy import update

from probe.runs import engine as engine_module
from probe.runs.database import RunRow
from probe.runs.engine import LEASE_SECONDS, Engine
from probe.runs.run import ended
from probe.runs.store import Store
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.logged_cells import Log
from tests.support.waiting import until


@pytest.fixture
def apps(
    each_database: None, log: Log, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Engine, Engine]]:
    """Two engines that look after each other's runs often."""
    monkeypatch.setattr(engine_module, "UPKEEP_INTERVAL", 0.1)
    engines = Engine(Store(), in_process=True), Engine(Store(), in_process=True)
    for engine in engines:
        engine.resume()
    yield engines
    for engine in engines:
        engine.close()


def test_runs_of_both_are_computed_once_each_and_listed_by_both(
    log: Log, apps: tuple[Engine, Engine]
) -> None:
    store, ids = Store(), []
    for number in range(3):
        for app, owner in zip(apps, (ME, YOU), strict=True):
            run = store.create(owner, log.request(f"{owner[0]}{number}-", 4, gated=False))
            app.submit(run.id)
            ids.append(run.id)
    runs = [until(store, run_id, ended) for run_id in ids]
    assert {run.state for run in runs} == {"done"}
    assert (len(log.lines()), log.repeated()) == (24, [])
    assert sorted(run.id for run in Store().runs()) == sorted(ids)


def test_one_app_cancels_and_takes_up_what_the_other_holds(
    log: Log, apps: tuple[Engine, Engine]
) -> None:
    first, second = apps
    run_id = Store().create(ME, log.request("a", 3)).id
    first.submit(run_id)
    until(Store(), run_id, lambda run: run.cells[0].progress is not None)
    second.cancel(run_id)
    assert until(Store(), run_id, ended).state == "cancelled"
    log.gate.touch()
    second.reopen(run_id)
    run = until(Store(), run_id, ended)
    assert (run.state, len(run.results)) == ("done", 3)
    assert log.lines() == ["a1", "a1", "a2", "a3"]


def test_what_an_app_leaves_or_never_begins_another_goes_on_with(
    log: Log, apps: tuple[Engine, Engine]
) -> None:
    first, store = apps[0], Store()
    unbegun = store.create(ME, log.request("b", 2, gated=False)).id
    store.database.write(update(RunRow).values(created=time.time() - LEASE_SECONDS))
    assert until(store, unbegun, ended).state == "done"
    run_id = store.create(ME, log.request("a", 3)).id
    for app in apps:  # one of them computes it
        app.submit(run_id)
    until(store, run_id, lambda run: run.cells[0].progress is not None)
    assert log.repeated() == []
    log.gate.touch()
    first.close()
    run = until(store, run_id, ended)
    assert (run.state, len(run.results)) == ("done", 3)


def test_an_app_that_was_silent_leaves_its_run_to_the_one_that_took_it(
    log: Log, apps: tuple[Engine, Engine]
) -> None:
    first, store = apps[0], Store()
    run_id = store.create(ME, log.request("a", 3)).id
    first.submit(run_id)
    until(store, run_id, lambda run: run.cells[0].progress is not None)
    taken = {"holder": "elsewhere 1 1.0 x", "seen": time.time()}
    store.database.write(update(RunRow).values(**taken))
    client = first.cluster.connect()
    assert client is not None
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
        time.sleep(0.05)
    run = store.get(run_id)
    assert (run.state, [cell.state for cell in run.cells]) == (
        "running", ["running", "queued", "queued"],
    )  # fmt: skip
