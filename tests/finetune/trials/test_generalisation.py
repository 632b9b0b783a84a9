"""What a generalisation trains and tests on, what it shows, and what is known already."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from finetune.trials.challenges import UserFiles
from finetune.trials.datasets import Examples
from finetune.trials.generalisation import (
    FILE,
    TRIALS,
    Cell,
    Hits,
    Plan,
    Point,
    Scores,
    SourceData,
    Thresholds,
    TrainingSets,
    base_cell,
    by_label,
    cells,
    chosen,
    conditions,
    constant,
    current_verdict,
    data_from,
    data_json,
    draw_tests,
    draw_training,
    grids,
    judged_anew,
    known_results,
    loss,
    loss_in,
    offered,
    on_condition,
    on_original,
    phenomena,
    read_conditions,
    read_data,
    run_request,
    same_phenomenon,
    serving_all,
    templates,
    usual_rates,
    verdict_json,
    with_conditions,
    worst_in,
)
from finetune.trials.inoculation import Plan as InoculationPlan
from probe.errors import ExperimentError, FileError
from probe.runs.run import Json, StoredRun
from probe.templates import template_ids
from tests.support.cases import each, failures
from tests.support.files.pair_files import row, write
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.runs.generalisation import LEVELS, PLAN, make_point, make_points, scores
from tests.support.runs.generalisation import make_run as judged
from tests.support.runs.stored import stored

ROW = [make_point(Cell("simple", 100, 1e-3, seed), (270, 210, 150 + seed)) for seed in (0, 1)]
GOOD, BAD = (285, 285, 285), (100, 100, 100)
LOSING = [(294, 180, 132), GOOD, GOOD]
DATA, SMALL = SourceData(tiny_pairs(9)), replace(PLAN, sizes=(20,), tests=10, dev=5)


def test_repeats_are_counted_together_but_the_original_set_is_one() -> None:
    assert on_condition(ROW, "simple").value == pytest.approx(540 / 600)
    assert on_condition(ROW, "complex").n == 600
    assert (on_original(ROW).value, on_original(ROW).n) == (pytest.approx(0.8), 300)
    labels = {label: each.value for label, each in by_label(ROW, "medium").items()}
    assert labels == dict.fromkeys(("contradiction", "entailment", "neutral"), pytest.approx(0.7))
    assert constant(ROW, "medium") == pytest.approx(1 / 3)
    away = loss(ROW, "simple", "complex").loss
    ends = confint_proportions_2indep(540, 600, 301, 600, method="newcomb", compare="diff")
    assert (away.value, away.low, away.high) == pytest.approx((540 / 600 - 301 / 600, *ends))


def test_the_rate_is_chosen_by_held_out_pairs_of_what_was_trained_on_not_by_tests() -> None:
    better = make_point(Cell("simple", 100, 1e-4, 0), (100, 100, 100), dev=0.95)
    points = [better, make_point(Cell("simple", 100, 1e-3, 0), (300, 300, 300), dev=0.9)]
    assert chosen(points) == {("simple", 100): [better]}
    equal = [make_point(Cell("simple", 100, lr, 0), (200, 200, 200)) for lr in (1e-3, 1e-4)]
    assert chosen(equal)["simple", 100][0].cell.lr == 1e-4
    assert chosen([make_point(base_cell(0), (1, 1, 1))]) == {}


def thinned(points: Iterable[Point], n: int) -> list[Point]:
    """Return the points with only n test examples of each label, as many right in proportion."""

    def fewer(scores: Scores) -> Scores:
        return {label: Hits(hits.right * n // 100, n) for label, hits in scores.items()}

    return [replace(p, tests={name: fewer(s) for name, s in p.tests.items()}) for p in points]


def test_the_outcome_follows_the_losses_and_the_threshold() -> None:
    table = {
        "a large loss": ([(290, 180, 140), GOOD, GOOD], 0.1, "data_set"),
        "none": ([GOOD, GOOD, GOOD], 0.1, "phenomenon"),
        "a small one": ([(285, 275, 285), GOOD, GOOD], 0.1, "phenomenon"),
        "one that may be large": ([(285, 256, 285), GOOD, GOOD], 0.1, "undecided"),
        "just ten points": ([(285, 255, 285), GOOD, GOOD], 0.1, "data_set"),
        "nothing learnt": ([BAD, BAD, BAD], 0.1, "not_learnt"),
        "one not learnt": ([BAD, GOOD, GOOD], 0.1, "undecided"),
        "not learnt is not lost": ([(100, 0, 0), GOOD, GOOD], 0.1, "undecided"),
        "five points, strict": ([(285, 270, 285), GOOD, GOOD], 0.04, "data_set"),
    }

    def follows(name: str) -> None:
        matrix, limit, outcome = table[name]
        plan = replace(PLAN, thresholds=Thresholds(limit))
        assert verdict_json(plan, make_points(matrix))["outcome"] == outcome

    assert failures(follows, table) == {}
    with pytest.raises(ValueError, match="no point of 100 examples of complex yet"):
        verdict_json(PLAN, [p for p in make_points([GOOD] * 3) if p.cell.train != "complex"])
    one = replace(PLAN, seeds=(0,))
    few = verdict_json(PLAN, thinned(make_points([(285, 240, 285), GOOD, GOOD]), 8))
    worst = worst_in(few)
    assert worst is not None and worst.loss.value > 0.1 > worst.loss.low
    assert few["outcome"] == "undecided"
    assert verdict_json(one, make_points([(290, 180, 140), GOOD, GOOD], one))["outcome"] == (
        "undecided"  # by one repeat nothing is decided
    )
    fewer = verdict_json(PLAN, thinned(make_points([(285, 100, 285), GOOD, GOOD]), 3))
    assert worst_in(fewer) is None  # of fewer than 20 none is named


def test_an_interval_and_a_verdict_rest_on_repeats_and_templates() -> None:
    """Four repeats right on 50, 93, 21 and 30 % are no 1,200 independent texts."""
    plan = replace(PLAN, seeds=(0, 1, 2, 3))
    away = dict(zip(plan.seeds, (150, 279, 63, 90), strict=True))
    points = [
        make_point(p.cell, (285, away[p.cell.seed], 285)) if p.cell.train == "simple" else p
        for p in make_points([GOOD, GOOD, GOOD], plan)
    ]
    found = on_condition([p for p in points if p.cell.train == "simple"], "medium")
    assert (found.value, found.n) == (pytest.approx(582 / 1200), 1200)
    assert found.high - found.low > 0.9
    verdict = verdict_json(plan, points)
    assert verdict["outcome"] == "undecided" and verdict["worst"]["loss"]["low"] < 0
    assert "4 repeats: an interval over so few is wide" in verdict["warnings"][0]
    assert "Which templates a text is of was not kept" in verdict["warnings"][1]
    halves = {"a": {"entailment": Hits(150, 150)}, "b": {"entailment": Hits(0, 150)}}
    apart = [replace(p, clusters={"medium": halves}) for p in points if p.cell.train == "medium"]
    assert templates(apart, "medium") == 2
    assert on_condition(apart, "medium").low == 0  # all of one template, none of the other
    stale = {**verdict, "grid": {"low": []}}
    cells = [(vars(p.cell), asdict(p)) for p in points]
    assert current_verdict(asdict(plan), {}, stale, cells) == verdict
    assert current_verdict(asdict(plan), {}, stale) is stale


def test_all_complexities_are_one_condition_beside_each_that_nothing_is_away_from() -> None:
    plan = plan_of("dative", "complexity")
    assert plan.rows == plan.columns == (*LEVELS, "all")
    sets, tests = drawn(plan, "all")
    for pairs in (sets.train, tests["all"]):
        assert of("complexity", pairs) == set(LEVELS)
    assert not of("template", (*sets.train, *sets.dev)) & of("template", together(tests))
    asked = with_conditions(replace(plan, rows=("all", "simple")), NOTHING)
    assert (asked.rows, asked.columns) == (("simple", "all"), plan.columns)
    with pytest.raises(ExperimentError, match="conditions to train on are some of simple, medium"):
        with_conditions(replace(plan, rows=("easy",)), NOTHING)
    two = replace(PLAN, rows=("simple", "all"), columns=(*LEVELS, "all"))
    points = [
        replace(p, tests={**p.tests, "all": scores(290)})
        for p in make_points([(294, 180, 132), (290, 290, 290)], two)
    ]
    verdict = verdict_json(two, points)
    assert [(e["row"], e["column"]) for e in verdict["losses"]] == [
        ("simple", "medium"), ("simple", "complex"),
    ]  # fmt: skip
    alone = verdict_json(
        replace(two, rows=("all",)), [p for p in points if p.cell.train != "simple"]
    )
    assert (alone["losses"], alone["outcome"]) == ([], "undecided")


def test_what_to_beware_of_is_said_where_it_holds() -> None:
    def says(sentence: str, plan: Plan = PLAN, original: int = 240, tests: int = 100) -> bool:
        points = [
            replace(point, original=make_point(point.cell, GOOD, original=original).original)
            if point.cell.size
            else point
            for point in thinned(make_points([GOOD, GOOD, GOOD], plan), tests)
        ]
        return sentence in " ".join(verdict_json(plan, points)["warnings"])

    one = replace(PLAN, seeds=(0,))
    assert says("Fast mode trains the upper layers only")
    assert not says("Fast mode", replace(PLAN, mode="full"))
    five = replace(PLAN, seeds=(0, 1, 2, 3, 4))
    assert says("Only one repeat", one) and says("2 repeats: an") and not says("repeats:", five)
    assert says("The original set lost 20.0 points", original=180)
    assert not says("original set lost")
    assert says("has only 297 test examples; the intervals are wide", one, tests=99)
    assert not says("test examples", one)


def test_a_verdict_holds_sentence_grid_and_table_and_is_read_again() -> None:
    points = make_points(LOSING)
    verdict = verdict_json(PLAN, points)
    assert verdict["explanation"].startswith(
        "Trained on 100 examples with simple sentences, MiniLM is right on 98 % of them and on "
        "44 % of those with complex sentences: 54 points less ("
    )
    grid, before = verdict["grid"], verdict["before"]
    assert (grid["rows"], grid["columns"]) == (list(PLAN.rows), list(PLAN.columns))
    assert grid["accuracy"][0] == pytest.approx([0.98, 0.6, 0.44])
    assert grid["low"][0][2] < 0.44 < grid["high"][0][2]
    assert (grid["size"], grid["lr"], grid["n"][0][0]) == (100, [1e-3] * 3, 600)
    assert grid["original"] == pytest.approx([0.8] * 3)
    assert grid["repeats"][0][2] == [132 / 300] * 2
    assert list(before) == ["original", "simple", "medium", "complex"]
    assert list(before["simple"]) == ["contradiction", "entailment", "neutral", "all"]
    assert before["simple"]["all"]["value"] == pytest.approx(1 / 3)
    assert before["original"]["all"]["n"] == 300
    worst = worst_in(verdict)
    assert worst is not None and asdict(worst) == verdict["worst"]
    assert (worst.row, worst.column) == ("simple", "complex")
    assert worst_in(verdict_json(PLAN, make_points([BAD] * 3))) is None
    assert serving_all(verdict) == ["medium", "complex"]
    some = make_points([(285, 255, 285), GOOD, (100, 0, 0)])
    assert serving_all(verdict_json(PLAN, some)) == ["medium"]
    assert judged(points).verdict == verdict
    assert judged(points[:-2]).verdict == {}  # a condition lacks its largest size


def test_a_judged_run_is_judged_anew_by_another_rule() -> None:
    run = judged(make_points(LOSING))
    outcomes = [judged_anew(run, limit).verdict["outcome"] for limit in (0.5, 0.6)]
    assert (run.verdict["outcome"], outcomes) == ("data_set", ["data_set", "phenomenon"])
    anew = judged_anew(run, 0.6)
    assert (anew.results, anew.verdict["grid"]) == (run.results, run.verdict["grid"])
    for wrong in (0, -0.1, 1.1):
        with pytest.raises(ExperimentError, match="above 0 and at most 1"):
            judged_anew(run, wrong)
    assert loss_in("12.5") == loss_in("12,5") == 0.125
    with pytest.raises(ExperimentError, match="must be a number of points"):
        loss_in("many")


def known_of(plan: Plan = SMALL, data: SourceData = DATA) -> StoredRun:
    """Return a run all of whose cells are done."""
    points = [make_point(cell, (1, 1, 1)) for cell in cells(plan)]
    facts = run_request(plan, data, artefacts={"model": "ab12"}).artefacts
    return stored(TRIALS, plan, points, artefacts=facts)


def test_what_earlier_runs_know_is_taken_over_and_nothing_else() -> None:
    whole = known_of()

    def known(
        plan: Plan, data: SourceData = DATA, model: str = "ab12", run: StoredRun = whole
    ) -> dict[int, Json]:
        artefacts = run_request(plan, data, artefacts={"model": model}).artefacts
        return known_results([run], plan, artefacts)

    assert list(known(SMALL)) == list(range(8))
    larger = replace(SMALL, sizes=(20, 30), seeds=(0, 1, 2))
    there = [cells(larger)[number] for number in known(larger)]
    assert len(there) == 8 and all(cell.size in (0, 20) and cell.seed < 2 for cell in there)
    assert len(known(replace(SMALL, thresholds=Thresholds(0.2)))) == 8
    for change in ({"phenomenon": "dative"}, {"tests": 11}, {"dev": 6}, {"mode": "full"}):
        assert known(replace(SMALL, **change)) == {}, change  # type: ignore[arg-type]  # of several types
    assert known(SMALL, model="cd34") == known(SMALL, SourceData(tiny_pairs(8))) == {}
    own = SourceData(tiny_pairs(9), {name: tiny_pairs(30) for name in ("a", "b")})
    plan = with_conditions(
        Plan("tiny", "mine", FILE, (), (), (5,), (1e-3,), (0,), tests=5, dev=3), own
    )
    first, *rest = own.rows["a"]
    changed = replace(own, rows={**own.rows, "a": (replace(first, gold="neutral"), *rest)})
    assert len(known(plan, own, run=known_of(plan, own))) == 3
    assert known(plan, changed, run=known_of(plan, own)) == {}


def test_the_inoculation_on_the_same_phenomenon_is_found() -> None:
    other = known_of()

    def inoculated(challenge: str, model: str = "minilm", outcome: str = "1") -> StoredRun:
        plan = asdict(InoculationPlan(model, challenge, (10,), (1e-3,), (0,)))
        verdict: Json = {"outcome": outcome} if outcome else {}
        facts: Json = {"id": challenge, "kind": "inoculation", "plan": plan, "verdict": verdict}
        return replace(other, **facts, cells=())

    templates = inoculated("templates_numerical")
    others = (("negation",), ("numerical", "esim"), ("numerical", "minilm", ""))
    runs = [other, *(inoculated(*each) for each in others), templates]
    beside = same_phenomenon(PLAN, runs)
    assert beside is not None and beside.id == "templates_numerical"
    assert same_phenomenon(replace(PLAN, phenomenon="dative"), runs) is None
    assert same_phenomenon(replace(PLAN, vary=FILE), [templates]) is None  # only of that name


NOTHING = SourceData(tiny_pairs(6))


def plan_of(phenomenon: str, vary: str, data: SourceData = NOTHING, size: int = 200) -> Plan:
    plan = Plan("tiny", phenomenon, vary, (), (), (size,), (1e-3,), (0,), tests=120, dev=60)
    return with_conditions(plan, data)


def drawn(
    plan: Plan, name: str, data: SourceData = NOTHING, seed: int = 0
) -> tuple[TrainingSets, dict[str, Examples]]:
    tests = draw_tests(plan, data, seed)
    return draw_training(plan, data, seed, name, tests), tests


def of(field: str, pairs: Iterable[Any]) -> set[str]:
    return {getattr(pair, field) for pair in pairs}


def together(sets: dict[str, Examples]) -> Examples:
    return tuple(pair for pairs in sets.values() for pair in pairs)


def test_the_model_as_it_was_is_tested_once_for_each_seed_and_first() -> None:
    planned = cells(PLAN)
    assert planned[:2] == (base_cell(0), base_cell(1))
    assert (len(planned), planned[2]) == (2 + 3 * 2, Cell("simple", 100, 1e-3, 0))
    assert cells(replace(PLAN, seeds=(0, 1, 0))) == planned
    assert usual_rates(1e-3) == (3e-4, 1e-3)


def test_what_may_vary_is_that_of_the_paper() -> None:
    names = {
        (kind, vary): [each.name for each in conditions(kind, vary)]
        for kind in phenomena()
        for vary in grids(kind)
    }
    levels = list(LEVELS)
    assert names == {
        ("dative", "complexity"): levels,
        ("dative", "lexical"): ["Lex1", "Lex2", "Lex2b"],
        ("numerical", "complexity"): levels,
        ("numerical", "lexical"): ["Lex1", "Lex2"],
        ("numerical", "range"): ["30-49", "60-79", "200-299", "1000-9999"],
    }
    assert conditions("dative", "lexical")[2].train is None
    for asked, sentence in {
        ("hans", "complexity"): "no conditions for 'hans'; there are: dative, numerical",
        ("dative", "range"): "dative templates cannot vary 'range'; they can: complexity, lexical",
    }.items():
        with pytest.raises(ExperimentError, match=sentence):
            offered(*asked)
    with pytest.raises(ExperimentError, match=r"Lex1: there are [\d,]+ pairs to train on"):
        drawn(plan_of("dative", "lexical", size=50_000), "Lex1")
    with pytest.raises(ExperimentError, match="the templates are"):
        with_conditions(replace(PLAN, task="sentiment"), NOTHING)


def test_no_template_is_both_trained_and_tested_on_and_labels_are_balanced() -> None:
    def apart(phenomenon: str) -> None:
        sets, tests = drawn(plan_of(phenomenon, "complexity", size=600), "simple")
        trained = of("template", (*sets.train, *sets.dev))
        simple = set(template_ids(phenomenon, "simple"))
        assert not trained & of("template", together(tests))
        assert trained <= simple and len(trained) == round(0.77 * len(simple))
        assert of("complexity", tests["complex"]) == {"complex"}
        counts = Counter(pair.gold for pair in sets.train)
        assert max(counts.values()) < 1.2 * 600 / len(counts)

    assert failures(apart, phenomena()) == {}
    plan = plan_of("dative", "complexity")
    splits = [frozenset(of("template", draw_tests(plan, NOTHING, n)["simple"])) for n in range(4)]
    assert len(set(splits)) > 1


@each(
    ("phenomenon", "vary", "name"),
    [
        ("dative", "lexical", "Lex1"),
        ("numerical", "lexical", "Lex2"),
        ("numerical", "range", "30-49"),
        ("dative", "complexity", "medium"),
    ],
)
def test_no_premise_is_in_two_sets_and_smaller_sets_begin_larger_ones(
    phenomenon: str, vary: str, name: str
) -> None:
    sets, tests = drawn(plan_of(phenomenon, vary), name)
    parts = [of("premise", part) for part in (sets.train, sets.dev, together(tests))]
    assert not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
    assert (len(sets.train), len(sets.dev), set(map(len, tests.values()))) == (200, 60, {120})
    small, same = drawn(plan_of(phenomenon, vary, size=50), name)
    assert (small.train, small.dev, same) == (sets.train[:50], sets.dev, tests)


def test_other_words_verbs_and_numbers_come_in_the_same_templates() -> None:
    sets, tests = drawn(plan_of("dative", "lexical"), "Lex1")
    for name in ("Lex2", "Lex2b"):
        assert of("template", sets.train) == of("template", tests[name])
    assert (of("lexical", sets.train), of("lexical", tests["Lex2b"])) == ({"A"}, {"B2"})
    pairs = zip(tests["Lex2"], tests["Lex2b"], strict=True)
    assert all((one.id, one.gold) == (other.id, other.gold) for one, other in pairs)
    sets, tests = drawn(plan_of("numerical", "range"), "60-79")
    first, second = tests["30-49"][0].hypothesis, tests["60-79"][0].hypothesis
    numbers = [[int(n) for n in re.findall(r"\d+", text)] for text in (first, second)]
    assert re.sub(r"\d+", "#", first) == re.sub(r"\d+", "#", second)
    assert {b - a for a, b in zip(*numbers, strict=True)} <= {0, 30}
    assert (of("lexical", sets.train), of("lexical", together(tests))) == ({"A"}, {"B"})


def test_a_premise_that_is_held_out_in_one_condition_is_not_trained_on_in_another() -> None:
    pairs = tiny_pairs(60)
    told = {
        name: tuple(
            replace(pair, premise=f"{pair.premise} {at}", hypothesis=f"{name} {pair.hypothesis}")
            for at, pair in enumerate(pairs)
        )
        for name in ("short", "long")
    }
    own = SourceData(pairs, told)
    assert data_from(json.loads(json.dumps(data_json(own)))) == own
    plan = plan_of("mine", "file", own, size=20)
    assert (plan.rows, plan.columns, plan.dev) == (("short", "long"), ("short", "long"), 6)
    sets, tests = drawn(plan, "short", own)
    tested = of("premise", together(tests))
    assert len(sets.train) == 20
    assert not tested & of("premise", (*sets.train, *sets.dev))
    assert {len(pairs) for pairs in tests.values()} == {len(tested)}
    assert all(pair.hypothesis.startswith("long") for pair in tests["long"])
    assert len(tested) >= round(0.23 * 60)


def filed(path: Path, values: Sequence[str]) -> Path:
    """Write a pair for each value of the column Length."""
    pairs = zip(tiny_pairs(len(values)), values, strict=True)
    return write(path, [row(pair, Length=value) for pair, value in pairs])


def test_rows_lie_by_what_the_column_says_and_another_column_is_refused(tmp_path: Path) -> None:
    path = filed(tmp_path / "own.jsonl", ["short", "long", " short ", ""])
    rows = read_conditions(path, "length")
    ids = {name: [pair.id for pair in pairs] for name, pairs in rows.items()}
    assert ids == {"short": ["0", "2"], "long": ["1"]}
    for column, values, sentence in [
        ("size", ["a", "b"], "no column .size. in mine.jsonl names .* say it with --condition"),
        ("length", ["a", "a"], "must name 2 to 12 conditions of labelled rows; it names 1"),
        ("length", [str(n) for n in range(13)], "it names 13"),
    ]:
        with pytest.raises(FileError, match=sentence):
            read_conditions(filed(tmp_path / "mine.jsonl", values), column)
    dev, test = (filed(tmp_path / f"{n}.jsonl", [""] * n) for n in (2, 1))
    assert len(read_data(UserFiles(original_dev=dev, original_test=test)).original) == 3
    assert len(read_data(UserFiles()).original) == 900
