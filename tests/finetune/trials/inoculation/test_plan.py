"""Sizes, rates and what a plan must not ask for."""

from dataclasses import replace

import pytest

from finetune.training.recipes import default_rate
from finetune.trials.base import MAX_EPOCHS, MAX_SEED
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


def test_all_beside_its_own_number_is_one_size(sets: Sets) -> None:
    assert resolved(replace(PLAN, sizes=(30, ALL)), sets).sizes == (30,)


def test_sizes_are_read_as_liu_gave_them() -> None:
    assert read_sizes("--sizes", "5,10,50,100,400,500,750,1000, all") == LIU_SIZES


def test_the_published_rates_are_six() -> None:
    assert LIU_LRS == (0.000001, 0.00001, 0.0001, 0.0004, 0.001, 0.01)


def test_another_word_is_no_size() -> None:
    with pytest.raises(ExperimentError, match="--sizes '5,most' is not a list of numbers"):
        read_sizes("--sizes", "5,most")


@pytest.mark.parametrize("text", ["-1", "5,-5", "0", "-0"])
def test_no_number_below_one_is_a_size(text: str) -> None:
    with pytest.raises(ExperimentError, match="each size must be 1 or more"):
        read_sizes("--sizes", text)


def test_a_number_that_is_typed_twice_counts_once() -> None:
    assert read_sizes("--sizes", "5,10,5,010") == (5, 10)


@pytest.mark.parametrize("text", ["9" * 4301, "10,50," * 200_000 + "x", "nan", "inf", "1e400"])
def test_a_text_that_is_no_list_of_numbers_is_quoted_in_short(text: str) -> None:
    with pytest.raises(ExperimentError) as refusal:
        read_sizes("--sizes", text)
    assert str(refusal.value).endswith("is not a list of numbers such as 10,50,100")
    assert len(str(refusal.value)) < 150


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), 0.0, -1e-3, 10.5])
def test_a_rate_at_which_nothing_is_learnt_is_refused(sets: Sets, rate: float) -> None:
    with pytest.raises(ExperimentError, match="each learning rate must be above 0 and at most 10"):
        check(replace(resolved(PLAN, sets), lrs=(1e-3, rate)), sets)


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1, 10**30])
def test_a_seed_that_a_library_does_not_take_is_refused(sets: Sets, seed: int) -> None:
    check(replace(resolved(PLAN, sets), seeds=(MAX_SEED,)), sets)
    with pytest.raises(ExperimentError, match="each seed must be a whole number from 0 to 2147"):
        check(replace(resolved(PLAN, sets), seeds=(0, seed)), sets)


def test_epochs_have_an_end(sets: Sets) -> None:
    check(replace(resolved(PLAN, sets), max_epochs=MAX_EPOCHS), sets)
    with pytest.raises(ExperimentError, match="epochs must be at most 1000"):
        check(replace(resolved(PLAN, sets), max_epochs=MAX_EPOCHS + 1), sets)


def test_cells_are_counted_as_they_are_listed() -> None:
    plan = replace(PLAN, sizes=(5, 10, 5), lrs=(1e-3, 1e-2), seeds=(0, 1, 2, 0))
    assert cell_count(plan) == len(cells(plan)) == 13


def test_all_must_be_resolved_first(sets: Sets) -> None:
    with pytest.raises(ExperimentError, match="each size must be 1 or more"):
        check(PLAN, sets)
    check(resolved(PLAN, sets), sets)


def test_non_entailment_can_be_trained_on_and_a_pair_without_a_label_cannot(sets: Sets) -> None:
    pairs = [replace(pair, gold="non-entailment") for pair in sets.challenge_train]
    check(resolved(PLAN, sets), replace(sets, challenge_train=tuple(pairs)))
    pairs[0] = replace(pairs[0], gold=None)
    with pytest.raises(ExperimentError, match="needs a gold label"):
        check(resolved(PLAN, sets), replace(sets, challenge_train=tuple(pairs)))


def test_an_unknown_mode_is_refused(sets: Sets) -> None:
    plan = replace(resolved(PLAN, sets), mode="slow")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ExperimentError, match="mode must be one of full, fast"):
        check(plan, sets)


@pytest.mark.parametrize(
    ("model", "rate"),
    [("da", 0.01), ("esim", 4e-4), ("esim_char", 4e-4), ("minilm", 2e-5), ("who/knows", 2e-5)],
)
def test_a_model_begins_with_the_rate_of_its_kind(model: str, rate: float) -> None:
    assert default_rate(model) == rate


@pytest.mark.parametrize("share", [-0.1, 2.0, float("nan"), float("inf")])
def test_a_threshold_is_a_share(share: float, sets: Sets) -> None:
    for name in ("gap", "cured", "majority"):
        thresholds = replace(PLAN.thresholds, **{name: share})
        with pytest.raises(ExperimentError, match=r"^each threshold must be a share from 0 to 1$"):
            check(replace(resolved(PLAN, sets), thresholds=thresholds), sets)


def test_in_fast_mode_few_weights_of_a_bert_begin_with_a_larger_rate() -> None:
    assert (default_rate("minilm", "fast"), default_rate("esim", "fast")) == (1e-3, 4e-4)
