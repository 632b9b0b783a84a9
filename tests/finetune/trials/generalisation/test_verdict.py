"""Learnt the data set needs a loss of ten points whose interval excludes nothing lost."""

from dataclasses import replace

import pytest

from finetune.trials.generalisation import Outcome, conclude, serving_all, verdict_json, worst_in
from finetune.trials.generalisation_plan import Cell, Plan, Thresholds
from tests.support.runs.generalisation import PLAN, make_point, make_points

GOOD = (285, 285, 285)


@pytest.mark.parametrize(
    ("matrix", "outcome"),
    [
        ([(290, 180, 140), GOOD, GOOD], "data_set"),
        ([GOOD, GOOD, GOOD], "phenomenon"),
        ([(285, 256, 285), GOOD, GOOD], "phenomenon"),
        ([(100, 100, 100), (100, 100, 100), (100, 100, 100)], "not_learnt"),
        ([(100, 100, 100), GOOD, GOOD], "undecided"),
    ],
)
def test_the_outcome_follows_the_losses(
    matrix: list[tuple[int, int, int]], outcome: Outcome
) -> None:
    assert conclude(PLAN, make_points(matrix)).outcome == outcome


def test_a_loss_of_just_ten_points_counts() -> None:
    assert conclude(PLAN, make_points([(285, 255, 285), GOOD, GOOD])).outcome == "data_set"


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


def test_the_threshold_is_a_setting() -> None:
    points = make_points([(285, 270, 285), GOOD, GOOD])
    assert conclude(PLAN, points).outcome == "phenomenon"
    strict = replace(PLAN, thresholds=Thresholds(0.04))
    assert conclude(strict, points).outcome == "data_set"


def test_what_was_not_learnt_cannot_be_lost() -> None:
    verdict = conclude(PLAN, make_points([(100, 0, 0), GOOD, GOOD]))
    assert verdict.learnt == ("medium", "complex")
    assert verdict.outcome == "undecided"


def test_the_sentence_tells_the_largest_loss_in_figures() -> None:
    verdict = conclude(PLAN, make_points([(294, 180, 132), GOOD, GOOD]))
    assert verdict.explanation.startswith(
        "Trained on 100 examples with simple sentences, MiniLM is right on 98 % of them and on "
        "44 % of those with complex sentences."
    )


def warnings_of(plan: Plan, original: int = 240) -> str:
    points = [
        replace(point, original=make_point(point.cell, GOOD, original=original).original)
        if point.cell.size
        else point
        for point in make_points([GOOD, GOOD, GOOD], plan)
    ]
    return " ".join(conclude(plan, points).warnings)


def test_fast_mode_is_named_as_such() -> None:
    assert "Fast mode trains the upper layers only" in warnings_of(PLAN)
    assert "Fast mode" not in warnings_of(replace(PLAN, mode="full"))


def test_a_single_repeat_and_a_lost_original_set_are_warned_of() -> None:
    assert "Only one repeat" in warnings_of(replace(PLAN, seeds=(0,)))
    assert "The original set lost 20.0 points" in warnings_of(PLAN, 180)
    assert "repeat" not in warnings_of(PLAN) and "original set lost" not in warnings_of(PLAN)


def test_the_grid_is_that_of_the_points() -> None:
    grid = verdict_json(PLAN, make_points([(294, 180, 132), GOOD, GOOD]))["grid"]
    assert (grid["rows"], grid["columns"]) == (list(PLAN.rows), list(PLAN.columns))
    assert grid["accuracy"][0] == pytest.approx([0.98, 0.6, 0.44])
    assert grid["low"][0][2] < 0.44 < grid["high"][0][2]
    assert (grid["size"], grid["lr"], grid["n"][0][0]) == (100, [1e-3] * 3, 600)
    assert grid["original"] == pytest.approx([0.8] * 3)


def test_the_table_before_training_has_every_label() -> None:
    before = verdict_json(PLAN, make_points([GOOD, GOOD, GOOD]))["before"]
    assert list(before) == ["original", "simple", "medium", "complex"]
    assert list(before["simple"]) == ["contradiction", "entailment", "neutral", "all"]
    assert before["simple"]["all"]["value"] == pytest.approx(1 / 3)
    assert before["original"]["all"]["n"] == 300


def test_a_condition_without_its_largest_size_cannot_be_judged() -> None:
    with pytest.raises(ValueError, match="no point of 100 examples of complex yet"):
        conclude(PLAN, [p for p in make_points([GOOD] * 3) if p.cell.train != "complex"])


def test_what_is_stored_tells_the_largest_loss_again() -> None:
    points = make_points([(294, 180, 132), GOOD, GOOD])
    assert worst_in(verdict_json(PLAN, points)) == conclude(PLAN, points).worst
    assert worst_in(verdict_json(PLAN, make_points([(100, 100, 100)] * 3))) is None


def test_a_condition_serves_all_where_nothing_large_is_lost() -> None:
    assert serving_all(verdict_json(PLAN, make_points([(294, 180, 132), GOOD, GOOD]))) == [
        "medium",
        "complex",
    ]
    assert serving_all(verdict_json(PLAN, make_points([(285, 255, 285), GOOD, (100, 0, 0)]))) == [
        "medium"
    ]
