"""Generalisations among stored runs: their own types, their JSON, and what earlier ones know."""

import json
from dataclasses import asdict, replace

import pytest

from finetune.trials.base import row_json
from finetune.trials.generalisation import GENERALISATION
from finetune.trials.generalisation_data import same_phenomenon
from finetune.trials.generalisation_plan import (
    FILE,
    Cell,
    Epoch,
    Plan,
    SourceData,
    Thresholds,
    base_cell,
    data_from,
    data_json,
    epoch_from,
    generalisation_run,
    generalisation_runs,
    known_results,
    plan_from,
    point_from,
    run_request,
    with_conditions,
)
from finetune.trials.inoculation_plan import Plan as InoculationPlan
from probe.runs.run import Json, Run, RunCell, StoredRun
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.runs.generalisation import PLAN, make_point, make_points
from tests.support.runs.generalisation import make_run as judged

DATA = SourceData(tiny_pairs(9))
SMALL = replace(PLAN, sizes=(20,), tests=10, dev=5)


def stored(plan: Plan = SMALL, data: SourceData = DATA) -> StoredRun:
    """Return a run all of whose cells are done."""
    request = run_request(plan, data, artefacts={"model": "ab12"})
    keys = GENERALISATION.cells(request.plan)
    cells = tuple(
        RunCell(
            number, key, "done", result=row_json(make_point(Cell(**key), (1, 1, 1)))
        )
        for number, key in enumerate(keys)
    )  # fmt: skip
    return Run(
        "run1", request.kind, "me", request.plan, "done", False, "", 1.0, 2.0, 3.0, {}, {}, "",
        cells, request.artefacts,
    )  # fmt: skip


def known(plan: Plan, data: SourceData = DATA, model: str = "ab12") -> dict[int, Json]:
    artefacts = run_request(plan, data, artefacts={"model": model}).artefacts
    return known_results([stored()], plan, artefacts)


def test_plans_points_and_epochs_survive_json() -> None:
    epoch = Epoch(base_cell(0), 2, 0.5, 0.9, 1e-3, 80.0)
    point = make_point(base_cell(0), (30, 60, 90))
    for row, read in ((epoch, epoch_from), (point, point_from)):
        assert read(vars(row.cell), json.loads(json.dumps(row_json(row)))) == row
    assert plan_from(json.loads(json.dumps(asdict(PLAN)))) == PLAN


def test_data_survives_json() -> None:
    data = SourceData(tiny_pairs(3), {"a": tiny_pairs(2), "b": tiny_pairs(4)})
    assert data_from(json.loads(json.dumps(data_json(data)))) == data


def test_a_stored_run_has_its_own_types() -> None:
    typed = generalisation_run(stored())
    assert (typed.plan, typed.cells[0].key) == (SMALL, base_cell(0))
    assert typed.results[0] == make_point(base_cell(0), (1, 1, 1))


def test_runs_of_other_kinds_are_passed_over() -> None:
    run = stored()
    other = replace(run, kind="word-count", plan={}, cells=())
    assert [typed.id for typed in generalisation_runs([other, run])] == ["run1"]


def test_the_same_plan_is_known_whole() -> None:
    assert list(known(SMALL)) == list(range(8))


def test_more_sizes_and_seeds_leave_what_is_there() -> None:
    larger = replace(SMALL, sizes=(20, 30), seeds=(0, 1, 2))
    keys = GENERALISATION.cells(asdict(larger))
    there = [keys[number] for number in known(larger)]
    assert len(there) == 8
    assert all(key["size"] in (0, 20) and key["seed"] < 2 for key in there)


def test_thresholds_alone_need_no_new_cell() -> None:
    assert len(known(replace(SMALL, thresholds=Thresholds(0.2)))) == 8


@pytest.mark.parametrize(
    "change", [{"phenomenon": "dative"}, {"tests": 11}, {"dev": 6}, {"mode": "full"}]
)
def test_other_settings_know_nothing(change: dict[str, object]) -> None:
    assert known(replace(SMALL, **change)) == {}  # type: ignore[arg-type]


def test_another_model_or_original_set_knows_nothing() -> None:
    assert known(SMALL, model="cd34") == {}
    assert known(SMALL, SourceData(tiny_pairs(8))) == {}


def test_a_label_changed_in_a_file_makes_all_cells_new() -> None:
    rows = {name: tiny_pairs(30) for name in ("a", "b")}
    data = SourceData(tiny_pairs(9), rows)
    plan = with_conditions(
        Plan("tiny", "mine", FILE, (), (), (5,), (1e-3,), (0,), tests=5, dev=3), data
    )
    first, *rest = rows["a"]
    changed = replace(data, rows={**rows, "a": (replace(first, gold="neutral"), *rest)})
    artefacts = run_request(plan, changed, artefacts={"model": "ab12"}).artefacts
    assert known_results([stored(plan, data)], plan, artefacts) == {}


def test_a_run_is_judged_once_every_condition_has_its_largest_size() -> None:
    points = make_points([(285, 285, 285)] * 3)
    assert judged(points).verdict["outcome"] == "phenomenon"
    assert judged(points[:-2]).verdict == {}


def test_the_title_and_what_is_told_over_http() -> None:
    plan = asdict(PLAN)
    assert GENERALISATION.title(plan) == "numerical by complexity on minilm"
    brief = GENERALISATION.brief(row_json(make_point(base_cell(0), (30, 60, 90))))
    assert brief["tests"] == pytest.approx({"simple": 0.1, "medium": 0.2, "complex": 0.3})
    assert set(GENERALISATION.brief(None).values()) == {None}


def inoculated(challenge: str, model: str = "minilm", verdict: Json | None = None) -> StoredRun:
    plan = InoculationPlan(model, challenge, (10,), (1e-3,), (0,))
    return Run(
        challenge, "inoculation", "me", vars(plan) | {"thresholds": {}}, "done", False, "", 1.0,
        2.0, 3.0, {"outcome": "1"} if verdict is None else verdict, {}, "", (), {},
    )  # fmt: skip


def test_the_inoculation_on_the_same_phenomenon_is_found() -> None:
    runs = [
        stored(),
        inoculated("negation"),
        inoculated("numerical", "esim"),
        inoculated("numerical", verdict={}),
        inoculated("templates_numerical"),
    ]
    beside = same_phenomenon(PLAN, runs)
    assert beside is not None and beside.id == "templates_numerical"
    assert same_phenomenon(replace(PLAN, phenomenon="dative"), runs) is None


def test_a_file_s_rows_are_not_the_templates_though_they_share_a_name() -> None:
    plan = replace(PLAN, vary=FILE)
    assert same_phenomenon(plan, [inoculated("templates_numerical")]) is None
