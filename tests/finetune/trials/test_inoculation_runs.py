"""Inoculations among stored runs: their own types, and what earlier ones know already."""

from dataclasses import replace

import pytest

from finetune.trials.base import row_json
from finetune.trials.datasets import Sets, sets_facts
from finetune.trials.inoculation_plan import (
    BASE,
    Cell,
    Epoch,
    Plan,
    Thresholds,
    inoculation_run,
    inoculation_runs,
    known_results,
    run_request,
)
from probe.runs.run import Json, Run, RunCell, StoredRun
from tests.support.runs.points import make_point

PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,))
CELL = Cell(6, 1e-3, 0)
EPOCH = Epoch(Cell(12, 1e-3, 0), 3, 0.7, 0.8, 1e-3, 55.5)
POINTS = [make_point(8, 6, 10), make_point(8, 7, 10, CELL)]


@pytest.fixture
def artefacts(sets: Sets) -> Json:
    """The hashes of a model and the sets."""
    return {"model": "ab12", "sets": sets_facts(sets)}


@pytest.fixture
def run(sets: Sets, artefacts: Json) -> StoredRun:
    """A run of two points whose last cell trains."""
    keys = [vars(cell) for cell in (BASE, CELL, EPOCH.cell)]
    results = [*map(row_json, POINTS), None]
    cells = (
        RunCell(number, key, "done" if result else "running", result=result)
        for number, (key, result) in enumerate(zip(keys, results, strict=True))
    )
    first, second, last = cells
    return Run(
        "run1", "inoculation", "me", run_request(PLAN, sets).plan, "running", False, "",
        1.0, 2.0, 0.0, {}, {}, "", (first, second, replace(last, progress=row_json(EPOCH))),
        artefacts,
    )  # fmt: skip


def test_a_stored_run_has_its_own_types(run: StoredRun) -> None:
    typed = inoculation_run(run)
    assert (typed.plan, typed.id, typed.owner, typed.state) == (PLAN, "run1", "me", "running")
    assert [cell.key for cell in typed.cells] == [BASE, CELL, EPOCH.cell]
    assert (list(typed.results), typed.cells[2].progress) == (POINTS, EPOCH)


def test_runs_of_other_kinds_are_passed_over(run: StoredRun) -> None:
    runs = inoculation_runs([replace(run, kind="word-count", plan={}, cells=()), run])
    assert [typed.id for typed in runs] == ["run1"]


def test_more_sizes_rates_or_seeds_take_over_what_is_known(run: StoredRun, artefacts: Json) -> None:
    wider = replace(PLAN, sizes=(3, 6), lrs=(1e-4, 1e-3), seeds=(0, 1))
    other = replace(wider, thresholds=Thresholds(gap=0.5))
    # the cells of size 3 come first: 0, then 3 at two rates of two seeds, then 6
    for plan in (wider, other):
        known = known_results([run], plan, artefacts)
        assert known == {0: row_json(POINTS[0]), 7: row_json(POINTS[1])}


def test_other_settings_take_nothing_over(run: StoredRun, artefacts: Json) -> None:
    changes: list[dict[str, object]] = [
        {"patience": 1}, {"mode": "fast"}, {"challenge": "spelling"},
    ]  # fmt: skip
    for change in changes:
        plan = replace(PLAN, **change)  # type: ignore[arg-type]  # fields of several types
        assert known_results([run], plan, artefacts) == {}, change


def test_another_model_or_other_sets_take_nothing_over(
    run: StoredRun, artefacts: Json, sets: Sets
) -> None:
    fewer = sets_facts(replace(sets, challenge_train=sets.challenge_train[:20]))
    for others in ({"model": "cd34"}, {"sets": fewer}):
        assert known_results([run], PLAN, {**artefacts, **others}) == {}
