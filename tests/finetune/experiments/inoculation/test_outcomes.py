"""The outcomes of Liu et al. 2019 with our thresholds, and their bootstrap intervals."""

import json
import math
import random
from dataclasses import fields, replace
from typing import get_args

import numpy as np
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
    resample,
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


@pytest.mark.parametrize(
    ("gap", "closed", "drop", "gain", "outcome"),
    [
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
    ],
)
def test_the_outcome_follows_the_table(
    gap: Estimate, closed: Estimate, drop: Estimate, gain: Estimate, outcome: Outcome
) -> None:
    assert classify(gap, closed, drop, gain) == outcome


def test_thresholds_are_settings() -> None:
    strict = Thresholds(cured=0.90)
    quantities = (certain(0.15), certain(0.85), certain(0.0), certain(0.13))
    assert (classify(*quantities), classify(*quantities, strict)) == ("1", "between")


def test_each_outcome_has_a_name_and_an_explanation() -> None:
    assert set(OUTCOMES) == set(get_args(Outcome))
    for words in OUTCOMES.values():
        assert words.name and words.summary.endswith(".") and len(words.summary) <= 160


def test_every_quantity_of_an_outcome_is_told_in_words() -> None:
    assert set(MEASURES) == {f.name for f in fields(SizeOutcome) if f.type is Estimate}


def test_a_badge_has_the_papers_number_in_front_of_the_title() -> None:
    assert badge("1") == "1 · gap closes"
    assert badge("between") == "between"


def test_gap_closed_and_drop_are_those_of_the_paper() -> None:
    before, after = make_point(80, 60), make_point(78, 75, cell=LARGE)
    found = outcome_of(merge([before]), merge([after]))
    assert found.gap.value == pytest.approx(0.20)
    assert found.closed.value == pytest.approx(0.75)  # 15 of 20 points
    assert found.drop.value == pytest.approx(0.02)
    assert found.gain.value == pytest.approx(0.15)


def test_without_a_gap_nothing_can_be_closed() -> None:
    found = outcome_of(merge([make_point(60, 60)]), merge([make_point(60, 60, cell=LARGE)]))
    assert found.outcome == "0"
    assert math.isnan(found.closed.value)


def test_resampled_means_spread_like_those_of_a_loop() -> None:
    chance = random.Random(0)
    rows = [(chance.random() < 0.7, chance.random() < 0.4) for _ in range(80)]
    loop = []
    for _ in range(4000):
        drawn = [rows[chance.randrange(80)] for _ in range(80)]
        loop.append([sum(row[0] for row in drawn) / 80, sum(row[1] for row in drawn) / 80])
    fast = resample(np.array(rows, dtype=float), 4000, np.random.default_rng(0))
    for percentile in (2.5, 50, 97.5):
        expected = np.percentile(np.array(loop), percentile, axis=0)
        assert np.percentile(fast, percentile, axis=0) == pytest.approx(expected, abs=0.015)


def test_resampling_keeps_rows_together() -> None:
    draws = resample(np.array([[1.0, 0.0], [0.0, 1.0]] * 20), 200, np.random.default_rng(0))
    assert draws.sum(axis=1) == pytest.approx(np.ones(200))


def test_a_model_that_did_not_change_has_no_drop_and_no_doubt() -> None:
    found = outcome_of(merge([make_point(80, 60)]), merge([make_point(80, 60, cell=LARGE)]))
    assert (found.drop.low, found.drop.value, found.drop.high) == (0, 0, 0)


def test_pairing_the_test_sets_narrows_the_gap_when_the_same_rows_are_right() -> None:
    before, after = merge([make_point(80, 60)]), merge([make_point(80, 75, cell=LARGE)])
    loose, tight = outcome_of(before, after).gap, outcome_of(before, after, paired=True).gap
    assert tight.high - tight.low < loose.high - loose.low


def test_test_sets_may_differ_in_length() -> None:
    before, after = make_point(80, 60), make_point(80, 75, cell=LARGE)
    short = [
        merge([make_point(8, 6, n=10)]).challenge_right,
        merge([make_point(8, 7, n=10)]).challenge_right,
    ]
    old, new = (
        type(whole)(**{**vars(whole), "challenge_right": part})
        for whole, part in zip((merge([before]), merge([after])), short, strict=True)
    )
    assert outcome_of(old, new).gap.n == 10


def test_intervals_are_the_same_each_time() -> None:
    before, after = merge([make_point(80, 60)]), merge([make_point(75, 75, cell=LARGE)])
    assert outcome_of(before, after) == outcome_of(before, after)


def test_the_paper_chooses_the_rate_by_the_challenge_and_we_also_by_dev() -> None:
    points = [
        make_point(80, 62, cell=Cell(400, 1e-6, 0), dev=0.81),
        make_point(75, 78, cell=Cell(400, 1e-4, 0), dev=0.76),
    ]
    assert [one.lr for one in choose(points, "oracle_lr")] == [1e-4]
    assert [one.lr for one in choose(points, "dev_lr")] == [1e-6]


def test_a_tie_goes_to_the_smaller_rate() -> None:
    points = [make_point(80, 70, cell=Cell(400, lr, 0)) for lr in (1e-4, 1e-5)]
    assert choose(points, "oracle_lr")[0].lr == 1e-5


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


def test_a_run_without_sizes_has_no_outcome() -> None:
    with pytest.raises(ValueError, match="no size has been computed"):
        judge(PLAN, make_point(80, 60), [])


def warnings(**change: object) -> str:
    """Return the warnings of an unsuspicious run with one change, joined."""
    settings = {"base": make_point(800, 600, 1000), "points": [make_point(800, 790, 1000, LARGE)]}
    return " ".join(judge(PLAN, **{**settings, **change}).warnings)  # type: ignore[arg-type]


def test_an_unsuspicious_run_has_no_warnings() -> None:
    assert warnings(majority=0.69) == ""


def test_a_one_sided_training_set_is_warned_of() -> None:
    assert "70% of the challenge training pairs have the same label" in warnings(majority=0.70)


def test_a_small_test_set_is_warned_of() -> None:
    few = {"base": make_point(239, 150, 299), "points": [make_point(239, 230, 299, LARGE)]}
    assert "only 299 pairs" in warnings(**few)


def test_a_damaging_rate_is_warned_of() -> None:
    broken = make_point(400, 400, 1000, Cell(400, 1e-2, 0), dev=0.42)
    assert "learning rate 0.01 even the best epoch scores 38.0 points less" in warnings(
        points=[broken]
    )


def test_a_choice_on_dev_that_says_otherwise_is_told() -> None:
    points = [
        make_point(800, 605, 1000, Cell(400, 1e-6, 0), dev=0.81),
        make_point(800, 790, 1000, Cell(400, 1e-4, 0), dev=0.80),
    ]
    assert "1e-06, gives another outcome: Outcome 2: model weakness" in warnings(points=points)


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
