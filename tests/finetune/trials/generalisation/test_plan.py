"""The cells of a plan, and what a plan must not ask for."""

from dataclasses import replace

import pytest

from finetune.trials.generalisation_plan import (
    Cell,
    Thresholds,
    base_cell,
    cells,
    check,
    usual_rates,
)
from probe.errors import ExperimentError
from tests.support.runs.generalisation import PLAN


def test_the_model_as_it_was_is_tested_once_for_each_seed_and_first() -> None:
    planned = cells(PLAN)
    assert planned[:2] == (base_cell(0), base_cell(1))
    assert len(planned) == 2 + 3 * 2
    assert planned[2] == Cell("simple", 100, 1e-3, 0)


def test_a_seed_that_is_named_twice_counts_once() -> None:
    assert cells(replace(PLAN, seeds=(0, 1, 0))) == cells(PLAN)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sizes": ()}, "at least one size"),
        ({"sizes": (0,)}, "each size must be"),
        ({"sizes": (100_001,)}, "each size must be a whole number from 1 to 100,000"),
        ({"lrs": (0.0,)}, "learning rate must be above 0"),
        ({"lrs": (float("nan"),)}, "learning rate must be above 0"),
        ({"seeds": (-1,)}, "each seed"),
        ({"tests": 0}, "test pairs of a condition"),
        ({"patience": 0}, "patience must be 1 or more"),
        ({"max_epochs": 1001}, "epochs must be at most"),
        ({"mode": "slow"}, "mode must be one of full, fast"),
        ({"precision": "int8"}, "precision must be one of"),
        ({"thresholds": Thresholds(0.0)}, "the loss from which it learnt the set"),
        ({"rows": ("simple",)}, "at least two conditions"),
    ],
)
def test_a_plan_that_cannot_run_is_refused(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        check(replace(PLAN, **change))  # type: ignore[arg-type]  # wrong values are the point


def test_a_plan_that_can_run_is_let_through() -> None:
    check(PLAN)
    assert PLAN.thresholds.loss == 0.10


def test_the_usual_rate_and_a_lower_one_are_tried() -> None:
    assert usual_rates(1e-3) == (3e-4, 1e-3)
    assert usual_rates(2e-5) == (6e-6, 2e-5)
