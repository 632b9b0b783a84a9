"""What a generalisation trains and tests on: templates, premises, words and numbers apart."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from finetune.trials.challenges import UserFiles
from finetune.trials.datasets import Examples
from finetune.trials.generalisation import read_conditions, read_data
from finetune.trials.generalisation_plan import (
    Cell,
    Plan,
    SourceData,
    TrainingSets,
    base_cell,
    cells,
    conditions,
    data_from,
    data_json,
    draw_tests,
    draw_training,
    grids,
    offered,
    phenomena,
    usual_rates,
    with_conditions,
)
from probe.errors import ExperimentError, FileError
from probe.tasks.task import task_named
from probe.templates import template_ids
from tests.support.cases import failures
from tests.support.files.pair_files import write
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.runs.generalisation import PLAN

NOTHING = SourceData(tiny_pairs(6))


def plan_of(phenomenon: str, vary: str, data: SourceData = NOTHING, size: int = 200) -> Plan:
    plan = Plan("tiny", phenomenon, vary, (), (), (size,), (1e-3,), (0,), tests=120, dev=60)
    return with_conditions(plan, data)


def drawn(
    plan: Plan, row: str, data: SourceData = NOTHING, seed: int = 0
) -> tuple[TrainingSets, dict[str, Examples]]:
    tests = draw_tests(plan, data, seed)
    return draw_training(plan, data, seed, row, tests), tests


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
    assert phenomena() == ("dative", "numerical")
    assert grids("dative") == ("complexity", "lexical")
    assert grids("numerical") == ("complexity", "lexical", "range")
    names = {
        (kind, vary): [each.name for each in conditions(kind, vary)]
        for kind in phenomena()
        for vary in grids(kind)
    }
    assert names["dative", "lexical"] == ["Lex1", "Lex2", "Lex2b"]
    assert names["numerical", "lexical"] == ["Lex1", "Lex2"]
    assert names["numerical", "range"] == ["30-49", "60-79", "200-299", "1000-9999"]
    assert conditions("dative", "lexical")[2].train is None
    for asked, sentence in {
        ("hans", "complexity"): "no conditions for 'hans'; there are: dative, numerical",
        ("dative", "range"): "dative templates cannot vary 'range'; they can: complexity, lexical",
    }.items():
        with pytest.raises(ExperimentError, match=sentence):
            offered(*asked)


def test_no_template_is_both_trained_and_tested_on_and_labels_are_balanced() -> None:
    def apart(phenomenon: str) -> None:
        sets, tests = drawn(plan_of(phenomenon, "complexity", size=600), "simple")
        trained, simple = (
            of("template", (*sets.train, *sets.dev)),
            template_ids(phenomenon, "simple"),
        )
        assert not trained & of("template", together(tests))
        assert trained <= set(simple) and len(trained) == round(0.77 * len(set(simple)))
        assert of("complexity", tests["complex"]) == {"complex"}
        counts = Counter(pair.gold for pair in sets.train)
        assert max(counts.values()) < 1.2 * 600 / len(counts)

    assert failures(apart, phenomena()) == {}
    plan = plan_of("dative", "complexity")
    splits = [frozenset(of("template", draw_tests(plan, NOTHING, n)["simple"])) for n in range(4)]
    assert len(set(splits)) > 1


def test_no_premise_is_in_two_sets() -> None:
    def apart(phenomenon: str, vary: str, row: str) -> None:
        sets, tests = drawn(plan_of(phenomenon, vary), row)
        parts = [of("premise", part) for part in (sets.train, sets.dev, together(tests))]
        assert not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
        assert (len(sets.train), len(sets.dev), set(map(len, tests.values()))) == (200, 60, {120})

    cases = [
        ("dative", "lexical", "Lex1"), ("numerical", "lexical", "Lex2"),
        ("numerical", "range", "30-49"), ("dative", "complexity", "medium"),
    ]  # fmt: skip
    assert failures(apart, cases) == {}


def test_other_words_and_another_verb_come_in_the_same_templates() -> None:
    sets, tests = drawn(plan_of("dative", "lexical"), "Lex1")
    for name in ("Lex2", "Lex2b"):
        assert of("template", sets.train) == of("template", tests[name])
    assert (of("lexical", sets.train), of("lexical", tests["Lex2b"])) == ({"A"}, {"B2"})
    pairs = zip(tests["Lex2"], tests["Lex2b"], strict=True)
    assert all((one.id, one.gold) == (other.id, other.gold) for one, other in pairs)


def test_ranges_hold_the_same_sentences_with_shifted_numbers_and_other_words() -> None:
    sets, tests = drawn(plan_of("numerical", "range"), "60-79")
    first, second = tests["30-49"][0].hypothesis, tests["60-79"][0].hypothesis
    numbers = [[int(n) for n in re.findall(r"\d+", text)] for text in (first, second)]
    assert re.sub(r"\d+", "#", first) == re.sub(r"\d+", "#", second)
    assert {b - a for a, b in zip(*numbers, strict=True)} <= {0, 30}
    assert (of("lexical", sets.train), of("lexical", together(tests))) == ({"A"}, {"B"})


def test_a_smaller_training_set_is_the_start_of_a_larger_one() -> None:
    small, large = plan_of("dative", "complexity", size=50), plan_of("dative", "complexity")
    (one, tests), (other, same) = drawn(small, "simple"), drawn(large, "simple")
    assert (other.train[:50], other.dev, same) == (one.train, one.dev, tests)


def test_what_cannot_be_drawn_is_refused_in_a_sentence() -> None:
    with pytest.raises(ExperimentError, match=r"Lex1: there are [\d,]+ pairs to train on"):
        drawn(plan_of("dative", "lexical", size=50_000), "Lex1")
    plan = replace(plan_of("dative", "complexity"), task="sentiment")
    with pytest.raises(ExperimentError, match="the templates are"):
        with_conditions(plan, SourceData((), task=task_named("sentiment")))


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
    rows = [
        {"premise": p.premise, "hypothesis": p.hypothesis, "label": p.gold, "Length": value}
        for p, value in pairs
    ]
    return write(path, rows)


def test_rows_lie_by_what_the_column_says_and_another_column_is_refused(tmp_path: Path) -> None:
    rows = read_conditions(
        filed(tmp_path / "own.jsonl", ["short", "long", " short ", ""]), "length"
    )
    assert {name: [pair.id for pair in pairs] for name, pairs in rows.items()} == {
        "short": ["0", "2"], "long": ["1"],
    }  # fmt: skip
    for column, values, sentence in [
        (
            "size",
            ["a", "b"],
            "no column .size. in mine.jsonl names .* say it with --condition",
        ),
        ("length", ["a", "a"], "must name 2 to 12 conditions of labelled rows; it names 1"),
        ("length", [str(n) for n in range(13)], "it names 13"),
    ]:
        with pytest.raises(FileError, match=sentence):
            read_conditions(filed(tmp_path / "mine.jsonl", values), column)


def test_the_original_set_is_dev_and_test_together(tmp_path: Path) -> None:
    dev, test = (filed(tmp_path / f"{n}.jsonl", [""] * n) for n in (2, 1))
    assert len(read_data(UserFiles(original_dev=dev, original_test=test)).original) == 3
    assert len(read_data(UserFiles()).original) == 900
