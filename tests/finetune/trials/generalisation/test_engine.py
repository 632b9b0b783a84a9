"""A generalisation through store and engine: to its end, and cancelled and taken up again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from finetune.trials.generalisation_plan import FILE, Plan, SourceData, run_request, with_conditions
from probe.runs.engine import Engine
from probe.runs.run import Json, RunRequest, StoredRun, ended
from probe.runs.store import Store
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.waiting import training, until


@pytest.fixture
def store(home: Path) -> Store:
    """An empty store."""
    return Store()


@pytest.fixture
def engine(store: Store) -> Iterator[Engine]:
    """An engine in this process."""
    engine = Engine(store, in_process=True)
    yield engine
    engine.close()


@pytest.fixture
def request_of(model: str) -> RunRequest:
    """Two conditions of a file, a cell each besides the model as it was."""
    pairs = tiny_pairs(30)
    data = SourceData(pairs[:12], {"one": pairs[:20], "two": pairs[10:]})
    plan = Plan(
        model, "mine", FILE, (), (), (5,), (1e-3,), (0,), mode="full", tests=4, batch=1,
        max_epochs=40, patience=40, precision="fp32",
    )  # fmt: skip
    return run_request(with_conditions(plan, data), data)


def figures(run: StoredRun) -> list[Json]:
    """Return the results without the seconds that they took."""
    return [{**result, "seconds": 0} for result in run.results]


def test_a_cancelled_run_goes_on_with_what_it_lacks_and_comes_to_the_same(
    store: Store, engine: Engine, request_of: RunRequest
) -> None:
    whole, stopped = (store.create("me", request_of).id for _ in range(2))
    engine.submit(stopped)
    until(store, stopped, training)
    engine.cancel(stopped)
    run = until(store, stopped, ended)
    assert run.state == "cancelled" and run.cells[0].result is not None
    engine.reopen(stopped)
    run = until(store, stopped, ended)
    engine.submit(whole)
    other = until(store, whole, ended)
    assert (run.state, run.error) == (other.state, other.error) == ("done", "")
    assert figures(run) == figures(other)
    assert len(run.results) == 3
    assert run.verdict == other.verdict and run.verdict["grid"]["rows"] == ["one", "two"]
