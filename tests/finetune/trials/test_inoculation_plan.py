"""Sizes, rates and what a plan must not ask for."""

from dataclasses import replace

import pytest

from finetune.training.recipes import default_rate
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import (
    ALL,
    LIU_LRS,
    LIU_SIZES,
    Plan,
    cell_count,
    cells,
    check,
    read_sizes,
    resolved,
)
from probe.errors import ExperimentError

PLAN = Plan("tiny", "negation", (6, ALL), (1e-3,), (0,))


def test_all_stands_for_the_whole_training_set(sets: Sets) -> None:
    assert resolved(PLAN, sets).sizes == (6, 30)
    assert resolved(replace(PLAN, sizes=(30, ALL)), sets).sizes == (30,)
    check(resolved(PLAN, sets), sets)


def test_sizes_are_read_as_liu_gave_them() -> None:
    assert read_sizes("--sizes", "5,10,50,100,400,500,750,1000, all") == LIU_SIZES
    assert LIU_LRS == (0.000001, 0.00001, 0.0001, 0.0004, 0.001, 0.01)
    assert read_sizes("--sizes", "5,10,5,010") == (5, 10)
    for text in ("-1", "5,-5", "0", "-0"):
        with pytest.raises(ExperimentError, match="each size must be 1 or more"):
            read_sizes("--sizes", text)


def test_a_text_that_is_no_list_of_numbers_is_quoted_in_short() -> None:
    for text in ("5,most", "9" * 4301, "10,50," * 200_000 + "x", "nan", "inf", "1e400"):
        with pytest.raises(ExperimentError) as refusal:
            read_sizes("--sizes", text)
        assert str(refusal.value).endswith("is not a list of numbers such as 10,50,100")
        assert len(str(refusal.value)) < 150


def test_cells_are_counted_as_they_are_listed() -> None:
    plan = replace(PLAN, sizes=(5, 10, 5), lrs=(1e-3, 1e-2), seeds=(0, 1, 2, 0))
    assert cell_count(plan) == len(cells(plan)) == 13


def test_non_entailment_can_be_trained_on_and_a_pair_without_a_label_cannot(sets: Sets) -> None:
    pairs = [replace(pair, gold="non-entailment") for pair in sets.challenge_train]
    check(resolved(PLAN, sets), replace(sets, challenge_train=tuple(pairs)))
    pairs[0] = replace(pairs[0], gold=None)
    with pytest.raises(ExperimentError, match="needs a gold label"):
        check(resolved(PLAN, sets), replace(sets, challenge_train=tuple(pairs)))


def test_a_model_begins_with_the_rate_of_its_kind() -> None:
    rates = {"da": 0.01, "esim": 4e-4, "esim_char": 4e-4, "minilm": 2e-5, "who/knows": 2e-5}
    assert {model: default_rate(model) for model in rates} == rates
    assert (default_rate("minilm", "fast"), default_rate("esim", "fast")) == (1e-3, 4e-4)
