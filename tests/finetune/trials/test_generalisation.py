"""What a generalisation shows: losses, intervals, the outcome, and what is known already."""

from dataclasses import asdict, replace

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from finetune.trials.base import row_json
from finetune.trials.generalisation import (
    GENERALISATION,
    by_label,
    chosen,
    conclude,
    constant,
    judged_anew,
    loss,
    loss_in,
    on_condition,
    on_original,
    repeats,
    same_phenomenon,
    serving_all,
    verdict_json,
    worst_in,
)
from finetune.trials.generalisation_plan import (
    FILE,
    Cell,
    Plan,
    SourceData,
    Thresholds,
    base_cell,
    generalisation_run,
    known_results,
    run_request,
    with_conditions,
)
from finetune.trials.inoculation_plan import Plan as InoculationPlan
from probe.errors import ExperimentError
from probe.runs.run import Json, Run, RunCell, StoredRun
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.runs.generalisation import PLAN, make_point, make_points
from tests.support.runs.generalisation import make_run as judged

ROW = [make_point(Cell("simple", 100, 1e-3, seed), (270, 210, 150 + seed)) for seed in (0, 1)]
GOOD, BAD = (285, 285, 285), (100, 100, 100)
LOSING = [(294, 180, 132), GOOD, GOOD]
DATA = SourceData(tiny_pairs(9))
SMALL = replace(PLAN, sizes=(20,), tests=10, dev=5)


def test_repeats_are_counted_together_but_the_original_set_is_one() -> None:
    assert on_condition(ROW, "simple").value == pytest.approx(540 / 600)
    assert on_condition(ROW, "complex").n == 600
    assert repeats(ROW, "complex") == (150 / 300, 151 / 300)
    assert (on_original(ROW).value, on_original(ROW).n) == (pytest.approx(0.8), 300)
    labels = {label: each.value for label, each in by_label(ROW, "medium").items()}
    assert labels == dict.fromkeys(("contradiction", "entailment", "neutral"), pytest.approx(0.7))
    assert constant(ROW, "medium") == pytest.approx(1 / 3)


def test_the_rate_is_chosen_by_held_out_pairs_of_what_was_trained_on_not_by_tests() -> None:
    better = make_point(Cell("simple", 100, 1e-4, 0), (100, 100, 100), dev=0.95)
    points = [better, make_point(Cell("simple", 100, 1e-3, 0), (300, 300, 300), dev=0.9)]
    assert chosen(points) == {("simple", 100): [better]}
    equal = [make_point(Cell("simple", 100, lr, 0), (200, 200, 200)) for lr in (1e-3, 1e-4)]
    assert chosen(equal)["simple", 100][0].cell.lr == 1e-4
    assert chosen([make_point(base_cell(0), (1, 1, 1))]) == {}


def test_a_loss_has_newcombe_s_interval() -> None:
    away = loss(ROW, "simple", "complex")
    low, high = confint_proportions_2indep(540, 600, 301, 600, method="newcomb", compare="diff")
    assert away.loss.value == pytest.approx(540 / 600 - 301 / 600)
    assert (away.loss.low, away.loss.high) == pytest.approx((low, high))


def test_the_outcome_follows_the_losses_and_the_threshold() -> None:
    table = {
        "a large loss": ([(290, 180, 140), GOOD, GOOD], 0.1, "data_set"),
        "none": ([GOOD, GOOD, GOOD], 0.1, "phenomenon"),
        "a small one": ([(285, 256, 285), GOOD, GOOD], 0.1, "phenomenon"),
        "just ten points": ([(285, 255, 285), GOOD, GOOD], 0.1, "data_set"),
        "nothing learnt": ([BAD, BAD, BAD], 0.1, "not_learnt"),
        "one not learnt": ([BAD, GOOD, GOOD], 0.1, "undecided"),
        "not learnt is not lost": ([(100, 0, 0), GOOD, GOOD], 0.1, "undecided"),
        "five points": ([(285, 270, 285), GOOD, GOOD], 0.1, "phenomenon"),
        "five points, strict": ([(285, 270, 285), GOOD, GOOD], 0.04, "data_set"),
    }
    found = {
        name: conclude(replace(PLAN, thresholds=Thresholds(limit)), make_points(matrix)).outcome
        for name, (matrix, limit, _) in table.items()
    }
    assert found == {name: outcome for name, (_, _, outcome) in table.items()}
    with pytest.raises(ValueError, match="no point of 100 examples of complex yet"):
        conclude(PLAN, [p for p in make_points([GOOD] * 3) if p.cell.train != "complex"])


def test_a_large_loss_over_few_examples_is_undecided() -> None:
    plan = replace(PLAN, rows=("simple", "medium"), columns=("simple", "medium"), seeds=(0,))
    few = [
        replace(
            point,
            tests={
                name: {label: hits._replace(right=right, n=8) for label, hits in scores.items()}
                for (name, scores), right in zip(point.tests.items(), line, strict=True)
            },
        )
        for row, line in (("simple", (7, 6, 7)), ("medium", (7, 7, 7)))
        for point in [make_point(Cell(row, 100, 1e-3, 0), GOOD)]
    ]
    verdict = conclude(plan, few)
    assert verdict.worst is not None and verdict.worst.loss.value > 0.1 > verdict.worst.loss.low
    assert verdict.outcome == "undecided"


def warnings_of(plan: Plan, original: int = 240) -> str:
    points = [
        replace(point, original=make_point(point.cell, GOOD, original=original).original)
        if point.cell.size
        else point
        for point in make_points([GOOD, GOOD, GOOD], plan)
    ]
    return " ".join(conclude(plan, points).warnings)


def test_what_to_beware_of_is_said_where_it_holds() -> None:
    assert "Fast mode trains the upper layers only" in warnings_of(PLAN)
    assert "Fast mode" not in warnings_of(replace(PLAN, mode="full"))
    assert "Only one repeat" in warnings_of(replace(PLAN, seeds=(0,)))
    assert "The original set lost 20.0 points" in warnings_of(PLAN, 180)
    assert "repeat" not in warnings_of(PLAN) and "original set lost" not in warnings_of(PLAN)


def test_a_verdict_holds_sentence_grid_and_table_and_is_read_again() -> None:
    points = make_points(LOSING)
    verdict = verdict_json(PLAN, points)
    assert verdict["explanation"].startswith(
        "Trained on 100 examples with simple sentences, MiniLM is right on 98 % of them and on "
        "44 % of those with complex sentences."
    )
    grid, before = verdict["grid"], verdict["before"]
    assert (grid["rows"], grid["columns"]) == (list(PLAN.rows), list(PLAN.columns))
    assert grid["accuracy"][0] == pytest.approx([0.98, 0.6, 0.44])
    assert grid["low"][0][2] < 0.44 < grid["high"][0][2]
    assert (grid["size"], grid["lr"], grid["n"][0][0]) == (100, [1e-3] * 3, 600)
    assert grid["original"] == pytest.approx([0.8] * 3)
    assert list(before) == ["original", "simple", "medium", "complex"]
    assert list(before["simple"]) == ["contradiction", "entailment", "neutral", "all"]
    assert before["simple"]["all"]["value"] == pytest.approx(1 / 3)
    assert before["original"]["all"]["n"] == 300
    assert worst_in(verdict) == conclude(PLAN, points).worst
    assert worst_in(verdict_json(PLAN, make_points([BAD] * 3))) is None
    assert serving_all(verdict) == ["medium", "complex"]
    some = make_points([(285, 255, 285), GOOD, (100, 0, 0)])
    assert serving_all(verdict_json(PLAN, some)) == ["medium"]


def test_a_judged_run_is_judged_anew_by_another_rule() -> None:
    run = judged(make_points(LOSING))
    assert {limit: judged_anew(run, limit).verdict["outcome"] for limit in (0.5, 0.6)} == {
        0.5: "data_set", 0.6: "phenomenon",
    }  # fmt: skip
    anew = judged_anew(run, 0.6)
    assert (anew.results, anew.verdict["grid"]) == (run.results, run.verdict["grid"])
    assert run.verdict["outcome"] == "data_set"
    for wrong in (0, -0.1, 1.1):
        with pytest.raises(ExperimentError, match="above 0 and at most 1"):
            judged_anew(run, wrong)
    assert loss_in("12.5") == loss_in("12,5") == 0.125
    with pytest.raises(ExperimentError, match="must be a number of points"):
        loss_in("many")


def test_a_run_is_judged_once_every_condition_has_its_largest_size() -> None:
    points = make_points([GOOD] * 3)
    assert judged(points).verdict["outcome"] == "phenomenon"
    assert judged(points[:-2]).verdict == {}


def stored(plan: Plan = SMALL, data: SourceData = DATA) -> StoredRun:
    """Return a run all of whose cells are done."""
    request = run_request(plan, data, artefacts={"model": "ab12"})
    cells = tuple(
        RunCell(number, key, "done", result=row_json(make_point(Cell(**key), (1, 1, 1))))
        for number, key in enumerate(GENERALISATION.cells(request.plan))
    )
    return Run(
        "run1", request.kind, "me", request.plan, "done", False, "", 1.0, 2.0, 3.0, {}, {}, "",
        cells, request.artefacts,
    )  # fmt: skip


def known(plan: Plan, data: SourceData = DATA, model: str = "ab12") -> dict[int, Json]:
    artefacts = run_request(plan, data, artefacts={"model": model}).artefacts
    return known_results([stored()], plan, artefacts)


def test_what_earlier_runs_know_is_taken_over_and_nothing_else() -> None:
    typed = generalisation_run(stored())
    assert (typed.plan, typed.cells[0].key) == (SMALL, base_cell(0))
    assert list(known(SMALL)) == list(range(8))
    larger = replace(SMALL, sizes=(20, 30), seeds=(0, 1, 2))
    keys = GENERALISATION.cells(asdict(larger))
    there = [keys[number] for number in known(larger)]
    assert len(there) == 8
    assert all(key["size"] in (0, 20) and key["seed"] < 2 for key in there)
    assert len(known(replace(SMALL, thresholds=Thresholds(0.2)))) == 8
    changes: list[dict[str, object]] = [
        {"phenomenon": "dative"}, {"tests": 11}, {"dev": 6}, {"mode": "full"},
    ]  # fmt: skip
    for change in changes:
        assert known(replace(SMALL, **change)) == {}, change  # type: ignore[arg-type]  # of several types
    assert known(SMALL, model="cd34") == known(SMALL, SourceData(tiny_pairs(8))) == {}


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


def test_the_title_and_what_is_told_over_http() -> None:
    assert GENERALISATION.title(asdict(PLAN)) == "numerical by complexity on minilm"
    brief = GENERALISATION.brief(row_json(make_point(base_cell(0), (30, 60, 90))))
    assert brief["tests"] == pytest.approx({"simple": 0.1, "medium": 0.2, "complex": 0.3})
    assert GENERALISATION.brief(None) == dict.fromkeys(("original", "tests", "dev", "seconds"))


def inoculated(challenge: str, model: str = "minilm", verdict: Json | None = None) -> StoredRun:
    plan = InoculationPlan(model, challenge, (10,), (1e-3,), (0,))
    return Run(
        challenge, "inoculation", "me", vars(plan) | {"thresholds": {}}, "done", False, "", 1.0,
        2.0, 3.0, {"outcome": "1"} if verdict is None else verdict, {}, "", (), {},
    )  # fmt: skip


def test_the_inoculation_on_the_same_phenomenon_is_found() -> None:
    templates = inoculated("templates_numerical")
    others = [inoculated("negation"), inoculated("numerical", "esim")]
    runs = [stored(), *others, inoculated("numerical", verdict={}), templates]
    beside = same_phenomenon(PLAN, runs)
    assert beside is not None and beside.id == "templates_numerical"
    assert same_phenomenon(replace(PLAN, phenomenon="dative"), runs) is None
    assert same_phenomenon(replace(PLAN, vary=FILE), [templates]) is None  # only of that name
