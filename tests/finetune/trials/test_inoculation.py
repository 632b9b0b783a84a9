"""The outcomes of Liu et al. 2019 with our thresholds, and their bootstrap intervals."""

import json
import math
from dataclasses import fields, replace
from typing import get_args

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import (
    MEASURES,
    OUTCOMES,
    Outcome,
    SizeOutcome,
    badge,
    baseline_scores,
    classify,
    conclude,
    judge,
    outcome_of,
    verdict_json,
)
from finetune.trials.inoculation_plan import BASE, Cell, Plan, Point, Thresholds, choose, merge
from probe.statistics import Estimate
from tests.support.runs.points import make_point

PLAN = Plan("tiny", "negation", (400,), (2e-5,), (0,))
SMALL, LARGE = Cell(10, 2e-5, 0), Cell(400, 2e-5, 0)


def certain(value: float) -> Estimate:
    """Return an estimate with a narrow interval on the value's side of zero."""
    return Estimate(value, value - 0.005, value + 0.005, 1000)


def unsure(value: float) -> Estimate:
    """Return an estimate whose interval includes zero."""
    return Estimate(value, -0.01, abs(value) + 0.1, 1000)


TABLE: list[tuple[Estimate, Estimate, Estimate, Estimate, Outcome]] = [
    (certain(0.019), certain(0.9), certain(0.0), certain(0.0), "0"),
    (unsure(0.10), certain(0.9), certain(0.0), certain(0.09), "0"),
    (certain(0.01), certain(0.9), certain(0.05), certain(0.0), "3"),
    (certain(0.15), certain(0.80), certain(0.0), certain(0.12), "1"),
    (certain(0.15), certain(0.79), certain(0.0), certain(0.12), "between"),
    (certain(0.15), certain(0.24), certain(0.0), certain(0.04), "2"),
    (certain(0.15), certain(0.25), certain(0.0), certain(0.04), "between"),
    (certain(0.15), certain(-0.5), certain(0.0), certain(-0.08), "2"),
    (certain(0.15), certain(0.5), certain(0.0), unsure(0.08), "2"),
    (certain(0.15), certain(0.95), certain(0.85 - 0.82), certain(0.14), "3"),
    (certain(0.15), certain(0.1), certain(0.07), certain(0.01), "3"),
    (certain(0.15), certain(0.95), certain(0.029), certain(0.14), "1"),
    (certain(0.15), certain(0.95), unsure(0.04), certain(0.14), "between"),
]


def test_the_outcome_follows_the_table_and_thresholds_are_settings() -> None:
    assert [classify(*row[:4]) for row in TABLE] == [row[4] for row in TABLE]
    quantities = (certain(0.15), certain(0.85), certain(0.0), certain(0.13))
    strict = classify(*quantities, Thresholds(cured=0.90))
    assert (classify(*quantities), strict) == ("1", "between")


def test_each_outcome_has_a_name_and_an_explanation() -> None:
    assert set(OUTCOMES) == set(get_args(Outcome))
    for words in OUTCOMES.values():
        assert words.name and words.summary.endswith(".") and len(words.summary) <= 160
    assert set(MEASURES) == {f.name for f in fields(SizeOutcome) if f.type is Estimate}
    assert (badge("1"), badge("between")) == ("1 · gap closes", "between")


def test_gap_closed_and_drop_are_those_of_the_paper() -> None:
    before, after = make_point(80, 60), make_point(78, 75, cell=LARGE)
    found = outcome_of(merge([before]), merge([after]))
    assert found == outcome_of(merge([before]), merge([after]))  # intervals too
    assert found.gap.value == pytest.approx(0.20)
    assert found.closed.value == pytest.approx(0.75)  # 15 of 20 points
    assert found.drop.value == pytest.approx(0.02)
    assert found.gain.value == pytest.approx(0.15)
    same = outcome_of(merge([before]), merge([make_point(80, 60, cell=LARGE)]))
    assert (same.drop.low, same.drop.value, same.drop.high) == (0, 0, 0)
    no_gap = outcome_of(merge([make_point(60, 60)]), merge([make_point(60, 60, cell=LARGE)]))
    assert no_gap.outcome == "0" and math.isnan(no_gap.closed.value)
    short = replace(merge([before]), challenge_right=(True,) * 6 + (False,) * 4)
    longer = replace(merge([after]), challenge_right=(True,) * 7 + (False,) * 3)
    assert outcome_of(short, longer).gap.n == 10  # test sets may differ in length


def test_pairing_the_test_sets_narrows_the_gap_when_the_same_rows_are_right() -> None:
    before, after = merge([make_point(80, 60)]), merge([make_point(80, 75, cell=LARGE)])
    loose, tight = outcome_of(before, after).gap, outcome_of(before, after, paired=True).gap
    assert tight.high - tight.low < loose.high - loose.low


def test_the_paper_chooses_the_rate_by_the_challenge_and_we_also_by_dev() -> None:
    points = [
        make_point(80, 62, cell=Cell(400, 1e-6, 0), dev=0.81),
        make_point(75, 78, cell=Cell(400, 1e-4, 0), dev=0.76),
    ]
    assert [one.lr for one in choose(points, "oracle_lr")] == [1e-4]
    assert [one.lr for one in choose(points, "dev_lr")] == [1e-6]
    tied = [make_point(80, 70, cell=Cell(400, lr, 0)) for lr in (1e-4, 1e-5)]
    assert choose(tied, "oracle_lr")[0].lr == 1e-5


def test_seeds_are_averaged() -> None:
    seeds = [make_point(80, right, cell=Cell(400, 1e-5, right)) for right in (60, 70)]
    (chosen,) = choose(seeds, "oracle_lr")
    assert (chosen.seeds, chosen.challenge) == (2, pytest.approx(0.65))
    assert chosen.challenge_right[65] == 0.5  # one of the two seeds


def test_the_largest_size_names_the_outcome() -> None:
    points = [make_point(800, 780, 1000, LARGE), make_point(800, 610, 1000, SMALL)]
    verdict = judge(PLAN, make_point(800, 600, 1000), points)
    assert [one.outcome for one in verdict.by_size] == ["2", "1"]
    assert verdict.largest.name == "Outcome 1: dataset weakness"
    with pytest.raises(ValueError, match="no size has been computed"):
        judge(PLAN, make_point(80, 60), [])


def warnings(**change: object) -> str:
    """Return the warnings of an unsuspicious run with one change, joined."""
    settings = {"base": make_point(800, 600, 1000), "points": [make_point(800, 790, 1000, LARGE)]}
    return " ".join(judge(PLAN, **{**settings, **change}).warnings)  # type: ignore[arg-type]  # of several types


def test_what_to_beware_of_is_said_where_it_holds() -> None:
    assert warnings(majority=0.69) == ""
    assert "70% of the challenge training pairs have the same label" in warnings(majority=0.70)
    few = [make_point(239, right, 299, cell) for right, cell in ((150, BASE), (230, LARGE))]
    assert "only 299 pairs" in warnings(base=few[0], points=few[1:])
    broken = make_point(400, 400, 1000, Cell(400, 1e-2, 0), dev=0.42)
    damage = "learning rate 0.01 even the best epoch scores 38.0 points less"
    assert damage in warnings(points=[broken])
    otherwise = [
        make_point(800, 605, 1000, Cell(400, 1e-6, 0), dev=0.81),
        make_point(800, 790, 1000, Cell(400, 1e-4, 0), dev=0.80),
    ]
    told = "1e-06, gives another outcome: Outcome 2: model weakness"
    assert told in warnings(points=otherwise)


def test_a_verdict_is_plain_json_even_without_a_gap() -> None:
    verdict = judge(PLAN, make_point(60, 60), [make_point(60, 60, cell=LARGE)])
    row = json.loads(json.dumps(verdict_json(verdict), allow_nan=False))
    assert (row["outcome"], row["closed"], row["oracle_lr"]["size"]) == ("0", None, 400)


def test_the_control_is_the_mean_of_the_seeds() -> None:
    seeds = [
        replace(make_point(80, 70, cell=Cell(400, 1e-5, seed)), control=share)
        for seed, share in enumerate((0.5, 0.7))
    ]
    verdict = judge(PLAN, replace(make_point(80, 60), control=0.4), seeds)
    row = verdict_json(verdict)["control"]
    assert (row["before"], row["after"]) == (0.4, pytest.approx(0.6))


def test_each_size_is_judged_with_the_rate_that_dev_chose_too() -> None:
    points = [
        make_point(800, 605, 1000, Cell(10, 1e-6, 0), dev=0.81),
        make_point(800, 790, 1000, Cell(10, 1e-4, 0), dev=0.80),
        make_point(800, 790, 1000, LARGE),
    ]
    row = verdict_json(judge(PLAN, make_point(800, 600, 1000), points))
    assert [one["lr"] for one in row["by_size"].values()] == [1e-4, 2e-5]
    assert [one["lr"] for one in row["by_size_dev"].values()] == [1e-6, 2e-5]


def measured(sets: Sets) -> list[Point]:
    """Return the points of a run on these sets: 10, then 8 and 9 of 12 right."""
    return [make_point(10, 8, 12), make_point(10, 9, 12, LARGE)]


def test_a_conclusion_takes_the_thresholds_of_the_plan(sets: Sets) -> None:
    limits = Thresholds(tests=10, majority=0.2)
    verdict = conclude(replace(PLAN, thresholds=limits), sets, measured(sets))
    assert "33% of the challenge training pairs" in verdict.warnings[0]
    assert not any("test set has only" in one for one in verdict.warnings)
    assert verdict_json(verdict)["thresholds"]["tests"] == 10


def test_a_conclusion_measures_the_rules(sets: Sets) -> None:
    row = verdict_json(conclude(PLAN, sets, measured(sets)))
    assert row["baselines"] == baseline_scores(sets)
    assert set(row["baselines"]) >= {"majority", "hypothesis_only", "numerical", "subsequence"}


def test_the_majority_is_that_of_the_training_set(sets: Sets) -> None:
    learnt = sets.challenge_train[1:3] + sets.challenge_train[4:5]  # neutral comes twice
    tested = (*sets.challenge_test[:2], sets.challenge_test[0])  # and once in three here
    uneven = replace(sets, challenge_train=learnt, challenge_test=tested)
    assert baseline_scores(uneven)["majority"] == pytest.approx(1 / 3)


def test_neutral_is_a_majority_where_the_rest_is_only_not_entailed(sets: Sets) -> None:
    learnt = tuple(replace(pair, gold="non-entailment") for pair in sets.challenge_train[:4])
    mixed = replace(sets, challenge_train=(*learnt, sets.challenge_train[1]))
    assert mixed.majority == 1.0


def test_a_rule_of_two_classes_is_counted_in_three(sets: Sets) -> None:
    # no hypothesis is inside its premise, so the rule never says entailment; neutral comes first
    assert baseline_scores(sets)["lexical_overlap"] == pytest.approx(1 / 3)


def test_a_rule_of_two_classes_is_right_of_two_classes(sets: Sets) -> None:
    two = {"neutral": "non-entailment", "contradiction": "non-entailment"}
    tested = tuple(replace(p, gold=two.get(str(p.gold), p.gold)) for p in sets.challenge_test)
    assert baseline_scores(replace(sets, challenge_test=tested))[
        "lexical_overlap"
    ] == pytest.approx(2 / 3)


def test_a_conclusion_needs_the_model_as_it_was(sets: Sets) -> None:
    with pytest.raises(ValueError, match="the model as it was has not been measured"):
        conclude(PLAN, sets, [point for point in measured(sets) if point.cell != BASE])
