"""A database of an older version, written by the last program that made such, still opens.

`version_1.sqlite` holds a finished run, a failed one and one that was interrupted in the middle;
`version_1.json` is what that program answered when it was asked for each of them.
`version_2.sqlite` is the same after the upgrade to version 2. On PostgreSQL too, where
NLI_CLINIC_TEST_DATABASE is the URL of an empty one.
"""

import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    BigInteger,
    Integer,
    MetaData,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
    update,
)

from finetune.trials.inoculation import conclude, verdict_json
from finetune.trials.inoculation_plan import inoculation_run, sets_from
from probe.errors import StoreError
from probe.models.weights import model_hash
from probe.runs.database import ADDED_TO_VERSION_1, SCHEMA, Base, GrantRow, RunRow, SchemaRow
from probe.runs.engine import Engine, Lease
from probe.runs.experiment import run_json
from probe.runs.run import ended
from probe.runs.store import Store
from tests.support.models.tiny_bert import tiny_bert
from tests.support.waiting import until

HERE = Path(__file__).parent
ANSWERS: dict[str, Any] = json.loads((HERE / "version_1.json").read_text(encoding="utf-8"))
INTERRUPTED, FAILED, DONE = ANSWERS  # the newest first
POSTGRES = os.environ.get("NLI_CLINIC_TEST_DATABASE")


@pytest.fixture(params=["sqlite", *(["postgresql"] if POSTGRES else [])])
def url(request: pytest.FixtureRequest, home: Path) -> Iterator[str]:
    """The URL of a database of version 1."""
    yield from database(1, request.param, home)


@pytest.fixture(params=["sqlite", *(["postgresql"] if POSTGRES else [])])
def url_of_version_2(request: pytest.FixtureRequest, home: Path) -> Iterator[str]:
    """The URL of a database of version 2."""
    yield from database(2, request.param, home)


def database(version: int, dialect: str, home: Path) -> Iterator[str]:
    """Lay down a database of a version and yield its URL."""
    shutil.copy(HERE / f"version_{version}.sqlite", home / "runs.sqlite")
    file = f"sqlite:///{home / 'runs.sqlite'}"
    if dialect == "sqlite" or POSTGRES is None:
        yield file
        return
    _copy_database(file, POSTGRES)
    yield POSTGRES
    Base.metadata.drop_all(create_engine(POSTGRES))


def _generalise(inspector: object, table: object, column: dict[str, Any]) -> None:
    """Give a column a type that every database knows, large enough for the failed run's seed."""
    kind = column["type"].as_generic()
    column["type"] = BigInteger() if isinstance(kind, Integer) else kind


def _copy_database(source: str, target: str) -> None:
    """Copy tables and rows into an empty database."""
    tables = MetaData()
    event.listen(tables, "column_reflect", _generalise)
    reader, writer = create_engine(source), create_engine(target)
    tables.reflect(reader)
    with reader.connect() as old, writer.begin() as new:
        tables.create_all(new)
        for table in tables.sorted_tables:
            rows = old.execute(select(table)).mappings().all()
            new.execute(insert(table), [dict(row) for row in rows])


def as_before(answer: Any) -> Any:  # Any: JSON
    """Return an answer without what later versions added, and without its verdict's words.

    A stored verdict is read by the rule of today; `dose` was not recorded.
    """
    if isinstance(answer, list):
        return [as_before(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    left_out = {"kind", "verdict"} | ({"dose"} if answer.get("dose", 0) is None else set())
    return {name: as_before(each) for name, each in answer.items() if name not in left_out}


def test_each_run_is_answered_as_before_and_has_a_kind(url: str) -> None:
    answers = {run.id: run_json(run) for run in Store(url).runs("somebody")}
    assert list(answers) == list(ANSWERS)
    assert {answer["kind"] for answer in answers.values()} == {"inoculation"}
    assert as_before(list(answers.values())) == as_before(list(ANSWERS.values()))
    assert answers[DONE]["verdict"]["outcome"] in ("?", ANSWERS[DONE]["verdict"]["outcome"])


def test_points_and_sets_give_the_verdict_that_was_stored(url: str) -> None:
    store = Store(url)
    run = inoculation_run(store.get(DONE))
    verdict = verdict_json(conclude(run.plan, sets_from(store.inputs(DONE)), run.results))
    stored = ANSWERS[DONE]["verdict"]
    for name in ("gap", "closed", "drop", "outcome"):
        assert verdict[name] == run.verdict[name] == stored[name]


def test_the_cell_that_was_interrupted_keeps_its_epoch(url: str) -> None:
    cell = inoculation_run(Store(url).get(INTERRUPTED)).cells[1]
    assert (cell.state, cell.result) == ("running", None)
    assert cell.progress is not None
    assert (cell.progress.cell, cell.progress.epoch >= 1) == (cell.key, True)


def test_an_upgraded_database_is_opened_again_as_it_is(url: str) -> None:
    first = Store(url).runs()
    assert Store(url).runs() == first
    engine = create_engine(url)
    tables = sorted(Base.metadata.tables)
    assert sorted(inspect(engine).get_table_names()) == tables
    with engine.connect() as connection:
        assert connection.scalars(select(SchemaRow.number)).all() == [SCHEMA]


def test_a_database_of_version_2_keeps_its_runs_and_takes_grants(url_of_version_2: str) -> None:
    store = Store(url_of_version_2)
    answers = {run.id: run_json(run) for run in store.runs("somebody")}
    assert as_before(list(answers.values())) == as_before(list(ANSWERS.values()))
    with store.database.writing() as session:
        session.add(GrantRow(id="a", run=DONE, owner="somebody", created=0.0))
    with create_engine(url_of_version_2).connect() as connection:
        assert connection.scalars(select(SchemaRow.number)).all() == [SCHEMA]
        assert connection.scalars(select(GrantRow.run)).all() == [DONE]


def test_of_several_programs_that_open_it_at_once_one_upgrades(url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: Store(url), range(4)))
    assert {len(store.runs()) for store in stores} == {3}


def test_an_interrupted_run_is_resumed_and_a_failed_one_taken_up(url: str, home: Path) -> None:
    model = model_hash(tiny_bert(home / "models" / "tiny"))
    store = Store(url)
    for run_id in (INTERRUPTED, FAILED):  # other versions of torch write other bytes
        store.add_artefacts(run_id, {"model": model})
    before = store.get(INTERRUPTED)
    engine = Engine(store, in_process=True)
    engine.resume()
    run = until(store, INTERRUPTED, ended)
    assert (run.state, run.error, len(run.results)) == ("done", "", 3)
    first, again_first = before.results[0], run.results[0]  # computed again, to record its dose
    assert {name: again_first[name] for name in first if name != "seconds"} == {
        name: value for name, value in first.items() if name != "seconds"
    }
    engine.reopen(FAILED)
    again = until(store, FAILED, ended)
    engine.close()
    assert (again.state, len(again.results)) == ("failed", 3)
    assert "overflow" in again.error.lower()


def test_the_first_databases_lack_three_columns(url: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        for column in ADDED_TO_VERSION_1:
            connection.execute(text(f"ALTER TABLE run DROP COLUMN {column}"))
    store = Store(url)
    assert store.get(DONE).artefacts == {}
    store.add_artefacts(DONE, {"model": "abc"})
    assert store.get(DONE).artefacts == {"model": "abc"}
    assert Lease(store.database).acquire(DONE)


def test_the_first_plans_have_neither_mode_nor_thresholds(url: str) -> None:
    store = Store(url)
    plan = store.get(DONE).plan
    old = {name: value for name, value in plan.items() if name not in ("mode", "thresholds")}
    store.database.write(update(RunRow).where(RunRow.id == DONE).values(plan=old))
    assert inoculation_run(store.get(DONE)).plan.mode == "full"


def test_a_database_of_a_newer_program_is_refused(home: Path) -> None:
    store = Store()
    store.database.write(update(SchemaRow).values(number=SCHEMA + 1))
    with pytest.raises(StoreError, match="a newer program wrote it"):
        Store()
