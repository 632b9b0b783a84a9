"""Pairs of numerical reasoning, checked by a solver over amounts."""

import re
from collections import Counter
from typing import Any

from probe.templates import RANGES, Request, TemplatePair, generate, read_range
from tests.support.each import each
from tests.support.files.template_files import CRATE, sample, texts

QUANTITY = re.compile(r"(?:\b(more|less) than )?(\d+)", re.IGNORECASE)


def quantity(text: str) -> tuple[str, int]:
    """Return "more", "less" or "", and the one number of a text."""
    ((relation, number),) = QUANTITY.findall(text)
    assert len(re.findall("(?:more|less) than", text, re.IGNORECASE)) == bool(relation)
    return relation.lower(), int(number)


def worlds(text: str, amounts: list[float]) -> set[float]:
    """Return the amounts of which a text is true."""
    relation, number = quantity(text)
    return {
        amount
        for amount in amounts
        if (relation == "more" and amount > number)
        or (relation == "less" and amount < number)
        or (relation == "" and amount == number)
    }


def solve(pair: TemplatePair, step: float) -> str:
    """Return a pair's label by trying all amounts from 0 to 32, one every `step`."""
    amounts = [step * number for number in range(round(32 / step) + 1)]
    premise, hypothesis = (worlds(text, amounts) for text in (pair.premise, pair.hypothesis))
    if premise <= hypothesis:
        return "entailment"
    return "neutral" if premise & hypothesis else "contradiction"


def low_numbers(n: int, **fields: Any) -> list[TemplatePair]:
    return list(generate(Request("numerical", low=2, high=30, balance=False, **fields), n))


@each("strict", [False, True])
def test_a_solver_over_amounts_finds_every_numerical_label(strict: bool) -> None:
    rows = low_numbers(4000, integer_strict=strict)
    assert [solve(row, 0.5) for row in rows] == [row.gold for row in rows]


def test_with_integer_strict_a_solver_over_whole_numbers_agrees() -> None:
    rows = low_numbers(4000, integer_strict=True)
    assert [solve(row, 1) for row in rows] == [row.gold for row in rows]


def test_without_integer_strict_some_neutral_pairs_contradict_in_whole_numbers() -> None:
    rows = low_numbers(4000)
    wrong = [row for row in rows if solve(row, 1) != row.gold]
    assert wrong
    for row in wrong:
        (relation, n), (other_relation, other) = quantity(row.premise), quantity(row.hypothesis)
        assert (row.gold, solve(row, 1)) == ("neutral", "contradiction")
        assert (relation, other_relation, other - n) in {("more", "less", 1), ("less", "more", -1)}


@each(
    ("relation", "entailed", "neutral", "contradicted"),
    [
        ("more", {"more l"}, {"more h", "less h", " h"}, {"less n", "less l", " n", " l"}),
        ("", {"more l", "less h"}, set(), {"more h", "more n", "less l", "less n"}),
        ("less", {"less h"}, {"less l", "more l", " l"}, {"more h", "more n", " n", " h"}),
    ],
)
def test_the_22_hypotheses_are_those_measured_in_the_released_files(
    relation: str, entailed: set[str], neutral: set[str], contradicted: set[str]
) -> None:
    measured: dict[str, set[str]] = {"entailment": set(), "neutral": set(), "contradiction": set()}
    for row in low_numbers(4000):
        (first, n), (second, other) = quantity(row.premise), quantity(row.hypothesis)
        if first == relation:
            slot = "n" if other == n else "l" if other < n else "h"
            measured[str(row.gold)].add(f"{second} {slot}")
    assert measured == {"entailment": entailed, "neutral": neutral, "contradiction": contradicted}


def test_all_hypotheses_of_all_words_are_4_6_and_12() -> None:
    once = 4**4 * 22
    rows = sample("numerical", CRATE, once, lexical="A", balance=False)
    assert Counter(row.gold for row in rows) == {
        "entailment": 4**4 * 4,
        "neutral": 4**4 * 6,
        "contradiction": 4**4 * 12,
    }


def test_balanced_numerical_pairs_are_a_third_of_each_label() -> None:
    rows = sample("numerical", CRATE, 4**4 * 12, lexical="A")
    assert set(Counter(row.gold for row in rows).values()) == {4**4 * 4}
    golds = Counter(row.gold for row in generate(Request("numerical"), 6000))
    assert all(abs(number / 6000 - 1 / 3) < 0.02 for number in golds.values())


@each("text", RANGES)
def test_numbers_lie_in_the_range(text: str) -> None:
    low, high = read_range(text)
    rows = generate(Request("numerical", low=low, high=high), 300)
    numbers = {quantity(text)[1] for row in rows for text in (row.premise, row.hypothesis)}
    assert low <= min(numbers) and max(numbers) <= high


def test_three_numbers_are_drawn_alike_from_the_range() -> None:
    """All 4 triples of 2-5: n is 3 in (2 3 4) (2 3 5) and 4 in (2 4 5) (3 4 5)."""
    rows = generate(Request("numerical", low=2, high=5), 6000)
    drawn = Counter(quantity(row.premise)[1] for row in rows)
    assert set(drawn) == {3, 4}
    assert abs(drawn[3] / 6000 - 0.5) < 0.03


def test_a_range_of_the_same_width_gives_the_same_pairs_with_shifted_numbers() -> None:
    def shift(text: str) -> str:
        return re.sub(r"\d+", lambda number: str(int(number[0]) + 30), text)

    near = generate(Request("numerical", low=30, high=49), 300)
    far = generate(Request("numerical", low=60, high=79), 300)
    assert [(shift(a), shift(b)) for a, b in texts(near)] == texts(far)


def test_no_numerical_pair_comes_twice_while_its_words_last() -> None:
    pairs = sample("numerical", CRATE, 4**4 * 12, lexical="A", low=2, high=6)
    assert len(set(texts(pairs))) == len(pairs)


def test_words_that_come_again_come_with_other_numbers() -> None:
    pairs = sample("numerical", CRATE, 4**4 * 12 * 4, lexical="A", low=30, high=49)
    assert len(set(texts(pairs))) == len(pairs)
