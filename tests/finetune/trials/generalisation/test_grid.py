"""Accuracies over repeats, the choice of a rate, and what is lost away from what was seen."""

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from finetune.trials.generalisation import (
    by_label,
    chosen,
    constant,
    loss,
    on_condition,
    on_original,
    repeats,
)
from finetune.trials.generalisation_plan import Cell, base_cell
from tests.support.runs.generalisation import make_point

ROW = [make_point(Cell("simple", 100, 1e-3, seed), (270, 210, 150 + seed)) for seed in (0, 1)]


def test_repeats_are_counted_together() -> None:
    assert on_condition(ROW, "simple").value == pytest.approx(540 / 600)
    assert on_condition(ROW, "complex").n == 600
    assert repeats(ROW, "complex") == (150 / 300, 151 / 300)


def test_the_original_set_is_the_same_in_all_repeats_so_its_n_does_not_grow() -> None:
    assert (on_original(ROW).value, on_original(ROW).n) == (pytest.approx(0.8), 300)


def test_labels_are_told_apart() -> None:
    estimates = by_label(ROW, "medium")
    assert {label: each.value for label, each in estimates.items()} == dict.fromkeys(
        ("contradiction", "entailment", "neutral"), pytest.approx(0.7)
    )
    assert constant(ROW, "medium") == pytest.approx(1 / 3)


def test_the_rate_is_chosen_by_held_out_pairs_of_what_was_trained_on_not_by_tests() -> None:
    better_dev = make_point(Cell("simple", 100, 1e-4, 0), (100, 100, 100), dev=0.95)
    points = [better_dev, make_point(Cell("simple", 100, 1e-3, 0), (300, 300, 300), dev=0.9)]
    assert chosen(points) == {("simple", 100): [better_dev]}


def test_of_equal_rates_the_smaller_is_chosen() -> None:
    points = [make_point(Cell("simple", 100, lr, 0), (200, 200, 200)) for lr in (1e-3, 1e-4)]
    assert chosen(points)["simple", 100][0].cell.lr == 1e-4


def test_the_model_as_it_was_is_no_rate() -> None:
    assert chosen([make_point(base_cell(0), (1, 1, 1))]) == {}


def test_a_loss_has_newcombe_s_interval() -> None:
    away = loss(ROW, "simple", "complex")
    low, high = confint_proportions_2indep(540, 600, 301, 600, method="newcomb", compare="diff")
    assert away.loss.value == pytest.approx(540 / 600 - 301 / 600)
    assert (away.loss.low, away.loss.high) == pytest.approx((low, high))
