"""What is tested is not trained on: templates, premises, words, numbers."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from finetune.trials.datasets import Examples
from finetune.trials.generalisation_plan import (
    Plan,
    SourceData,
    TrainingSets,
    draw_tests,
    draw_training,
    with_conditions,
)
from probe.errors import ExperimentError
from probe.tasks.task import task_named
from probe.templates import template_ids
from tests.support.models.tiny_bert import tiny_pairs

NOTHING = SourceData(tiny_pairs(6))


def plan_of(phenomenon: str, vary: str, data: SourceData = NOTHING, size: int = 200) -> Plan:
    plan = Plan("tiny", phenomenon, vary, (), (), (size,), (1e-3,), (0,), tests=120, dev=60)
    return with_conditions(plan, data)


def drawn(
    plan: Plan, row: str, data: SourceData = NOTHING, seed: int = 0
) -> tuple[TrainingSets, dict[str, Examples]]:
    tests = draw_tests(plan, data, seed)
    return draw_training(plan, data, seed, row, tests), tests


def templates(pairs: Iterable[Any]) -> set[str]:
    return {pair.template for pair in pairs}


def premises(pairs: Iterable[Any]) -> set[str]:
    return {pair.premise for pair in pairs}


@pytest.mark.parametrize("phenomenon", ["dative", "numerical"])
def test_no_template_is_both_trained_and_tested_on(phenomenon: str) -> None:
    sets, tests = drawn(plan_of(phenomenon, "complexity"), "simple")
    trained = templates((*sets.train, *sets.dev))
    tested = templates(pair for pairs in tests.values() for pair in pairs)
    assert not trained & tested
    simple = set(template_ids(phenomenon, "simple"))
    assert trained <= simple and len(trained) == round(0.77 * len(simple))
    assert {pair.complexity for pair in tests["complex"]} == {"complex"}


def test_another_seed_splits_the_templates_otherwise() -> None:
    plan = plan_of("dative", "complexity")
    splits = [frozenset(templates(draw_tests(plan, NOTHING, seed)["simple"])) for seed in range(4)]
    assert len(set(splits)) > 1


@pytest.mark.parametrize(
    ("phenomenon", "vary", "row"),
    [("dative", "lexical", "Lex1"), ("numerical", "lexical", "Lex2"),
     ("numerical", "range", "30-49"), ("dative", "complexity", "medium")],
)  # fmt: skip
def test_no_premise_is_in_two_sets(phenomenon: str, vary: str, row: str) -> None:
    sets, tests = drawn(plan_of(phenomenon, vary), row)
    tested = premises(pair for pairs in tests.values() for pair in pairs)
    assert not premises(sets.train) & tested
    assert not premises(sets.dev) & tested
    assert not premises(sets.train) & premises(sets.dev)
    assert (len(sets.train), len(sets.dev), set(map(len, tests.values()))) == (200, 60, {120})


def test_other_words_come_in_the_same_templates() -> None:
    sets, tests = drawn(plan_of("dative", "lexical"), "Lex1")
    assert templates(sets.train) == templates(tests["Lex2"]) == templates(tests["Lex2b"])
    assert {pair.lexical for pair in sets.train} == {"A"}
    assert {pair.lexical for pair in tests["Lex2b"]} == {"B2"}


def test_another_verb_is_the_only_change_to_the_other_words() -> None:
    tests = draw_tests(plan_of("dative", "lexical"), NOTHING, 0)
    pairs = zip(tests["Lex2"], tests["Lex2b"], strict=True)
    assert all((one.id, one.gold) == (other.id, other.gold) for one, other in pairs)


def test_ranges_of_one_width_hold_the_same_sentences_with_all_numbers_shifted() -> None:
    tests = draw_tests(plan_of("numerical", "range"), NOTHING, 0)
    first, second = tests["30-49"][0].hypothesis, tests["60-79"][0].hypothesis
    numbers = [[int(n) for n in re.findall(r"\d+", text)] for text in (first, second)]
    assert re.sub(r"\d+", "#", first) == re.sub(r"\d+", "#", second)
    assert {b - a for a, b in zip(*numbers, strict=True)} <= {0, 30}


def test_a_range_is_tested_with_other_words_than_are_trained_on() -> None:
    sets, tests = drawn(plan_of("numerical", "range"), "60-79")
    assert {pair.lexical for pair in sets.train} == {"A"}
    assert {pair.lexical for pairs in tests.values() for pair in pairs} == {"B"}


@pytest.mark.parametrize("phenomenon", ["dative", "numerical"])
def test_labels_are_about_balanced(phenomenon: str) -> None:
    sets, _ = drawn(plan_of(phenomenon, "complexity", size=600), "simple")
    counts = Counter(pair.gold for pair in sets.train)
    assert max(counts.values()) < 1.2 * 600 / len(counts)


def test_a_smaller_training_set_is_the_start_of_a_larger_one() -> None:
    small, large = plan_of("dative", "complexity", size=50), plan_of("dative", "complexity")
    (one, tests), (other, same) = drawn(small, "simple"), drawn(large, "simple")
    assert (other.train[:50], other.dev, same) == (one.train, one.dev, tests)


def test_too_large_a_size_is_refused_in_a_sentence() -> None:
    plan = plan_of("dative", "lexical", size=50_000)
    with pytest.raises(ExperimentError, match=r"Lex1: there are [\d,]+ pairs to train on"):
        drawn(plan, "Lex1")


def test_templates_are_for_inference_alone() -> None:
    data = SourceData((), task=task_named("sentiment"))
    plan = replace(plan_of("dative", "complexity"), task="sentiment")
    with pytest.raises(ExperimentError, match="the templates are"):
        with_conditions(plan, data)


@pytest.fixture
def own() -> SourceData:
    """Rows of two conditions that share each premise."""
    pairs = tiny_pairs(60)
    told = {
        name: tuple(
            replace(
                pair, premise=f"{pair.premise} {number}", hypothesis=f"{name} {pair.hypothesis}"
            )
            for number, pair in enumerate(pairs)
        )
        for name in ("short", "long")
    }
    return SourceData(pairs, told)


def test_a_file_s_values_are_trained_and_tested_on(own: SourceData) -> None:
    plan = plan_of("mine", "file", own, size=30)
    assert (plan.rows, plan.columns, plan.dev) == (("short", "long"), ("short", "long"), 6)


def test_a_premise_that_is_held_out_in_one_condition_is_not_trained_on_in_another(
    own: SourceData,
) -> None:
    sets, tests = drawn(plan_of("mine", "file", own, size=20), "short", own)
    tested = premises(pair for pairs in tests.values() for pair in pairs)
    assert len(sets.train) == 20
    assert not tested & premises((*sets.train, *sets.dev))
    assert {len(pairs) for pairs in tests.values()} == {len(tested)}
    assert all(pair.hypothesis.startswith("long") for pair in tests["long"])
    assert len(tested) >= round(0.23 * 60)
