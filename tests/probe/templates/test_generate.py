"""Generated pairs: their seeds and number, what each kind's hold, and requests."""

import re
import tracemalloc
from collections import Counter, deque
from itertools import islice, permutations, product
from operator import eq, gt, lt
from typing import Any

import pytest

from probe.errors import TemplateError
from probe.tasks.paraphrase import PARAPHRASE, PARAPHRASE_IDENTIFICATION
from probe.templates import (
    RANGES,
    Request,
    TemplatePair,
    count,
    generate,
    kinds,
    read_range,
    split_by_template,
    subcases,
    template_ids,
)
from probe.templates.generate import combination, combinations, permutation
from probe.templates.grammar import slot_names
from tests.support.cases import each
from tests.support.files.template_files import (
    CRATE,
    FILES,
    GIVE,
    LEVELS,
    ROZEN,
    sample,
    texts,
    words,
)


@each("kind", kinds())
def test_pairs_are_those_of_the_seed_however_many_are_asked_for(kind: str) -> None:
    first, repeated, other = (list(generate(Request(kind), 200, seed)) for seed in (1, 1, 2))
    assert first == repeated
    assert texts(first) != texts(other)
    many = list(generate(Request(kind), 1000, 1))
    assert many[:200] == first
    assert len({row.id for row in many}) == 1000


def test_memory_does_not_grow_with_the_number_of_pairs() -> None:
    def peak_bytes_of(n: int) -> int:
        tracemalloc.start()
        deque(generate(Request("numerical", "simple", "A"), n), maxlen=0)
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak_bytes

    peak_bytes_of(1000)  # reads the templates and fills the interpreter's caches, once
    assert peak_bytes_of(1000) < peak_bytes_of(100) + 100_000
    assert len(list(islice(generate(Request("numerical"), 600_000), 5))) == 5


def test_arguments_are_all_combinations_without_a_word_twice_from_one_list() -> None:
    lists = {"who": ("a", "b", "c"), "act": ("x", "y"), "who2": ("a", "b", "c")}
    fillers = {tuple(combination(lists, at).values()) for at in range(combinations(lists))}
    assert fillers == {row for row in product("abc", "xy", "abc") if row[0] != row[2]}
    assert combinations(lists) == 12
    for size in (1, 2, 3, 7, 64, 100, 257):
        order, other = ([*map(permutation(size, seed), range(size))] for seed in ("0", "1"))
        assert sorted(order) == sorted(other) == list(range(size))
        assert order != other or size < 64


def test_a_dative_premise_has_its_three_hypotheses() -> None:
    premise = "The young clerk gave the tourist a folded map at the front desk."
    rows = sample("dative", GIVE, 256 * 3, lexical="A", balance=False)
    assert {row.hypothesis: row.gold for row in rows if row.premise == premise} == {
        "The young clerk gave a folded map to the tourist at the front desk.": "entailment",
        "The young clerk gave a folded map at the front desk.": "entailment",
        "The young clerk gave the tourist at the front desk.": "contradiction",
    }


def test_dative_pairs_are_counted_by_hand_and_half_of_them_are_entailed() -> None:
    thirty, request = len(template_ids("dative")), Request("dative", "simple", "A")
    assert count(Request("dative")) == thirty * 8**4 * 2
    assert count(Request("dative", "simple", "B2", balance=False)) == 10 * 4**4 * 3
    assert count(request) == 10 * 4**4 * 2
    rows = list(generate(request, 5120))
    assert len(set(texts(rows))) == 5120
    assert Counter(row.gold for row in rows) == {"entailment": 2560, "contradiction": 2560}
    entailed = [row for row in rows if row.gold == "entailment"]
    kept = sum(bool(re.search(r" (to|for) the ", row.hypothesis)) for row in entailed)
    assert 0.45 < kept / len(entailed) < 0.55  # of the two entailments


CONJUNCTIONS = set("if unless that or and since because although though after".split())  # noqa: SIM905
HEURISTICS = {"l": "lexical_overlap", "s": "subsequence", "c": "constituent"}


@each("subcase", subcases())
def test_every_hans_pair_fits_its_heuristic_and_its_label(subcase: str) -> None:
    adverbs = FILES["hans"]["words"]["perhaps"] + FILES["hans"]["words"]["surely"]
    for pair in generate(Request("hans", subcase=subcase), 200):
        premise, part = words(pair.premise), words(pair.hypothesis)
        assert set(part) <= set(premise)
        assert (pair.subcase, pair.heuristic) == (subcase, HEURISTICS[subcase[0]])
        assert pair.gold == ("entailment" if subcase[1] == "e" else "non-entailment")
        # the heuristics are nested; each of ours is exactly the one it is named after
        in_one_piece = any(premise[at : at + len(part)] == part for at in range(len(premise)))
        assert in_one_piece == (pair.heuristic != "lexical_overlap")
        if pair.heuristic == "constituent":  # a clause from end to end
            clause = pair.hypothesis[0].lower() + pair.hypothesis[1:-1]
            before, _, after = (pair.premise[0].lower() + pair.premise[1:]).partition(clause)
            begins_clause = before.endswith(", ") or before.strip() in ("", *adverbs)
            assert begins_clause or before.split()[-1] in CONJUNCTIONS, pair.premise
            assert after[0] in ".," or after.split()[0] in CONJUNCTIONS | {"provided"}


def test_hans_pairs_are_as_many_of_each_sub_case_and_label() -> None:
    rows = list(generate(Request("hans"), 9000))
    assert Counter(row.subcase for row in rows) == dict.fromkeys(subcases(), 300)
    assert set(Counter(row.gold for row in rows).values()) == {4500}
    assert len(set(texts(rows))) == 9000
    rows = list(generate(Request("hans", heuristic="subsequence"), 80))
    assert {row.subcase for row in rows} == set(subcases("subsequence"))


QUANTITY = re.compile(r"(?:\b(more|less) than )?(\d+)", re.IGNORECASE)


def quantity(text: str) -> tuple[str, int]:
    """Return "more", "less" or "", and the one number of a text."""
    ((relation, number),) = QUANTITY.findall(text)
    assert len(re.findall("(?:more|less) than", text, re.IGNORECASE)) == bool(relation)
    return relation.lower(), int(number)


def solve(pair: TemplatePair, step: float) -> str:
    """Return a pair's label by trying all amounts from 0 to 32, one every `step`."""
    amounts = [step * number for number in range(round(32 / step) + 1)]

    def worlds(text: str) -> set[float]:
        relation, number = quantity(text)
        holds = {"more": gt, "less": lt, "": eq}[relation]
        return {amount for amount in amounts if holds(amount, number)}

    premise, hypothesis = worlds(pair.premise), worlds(pair.hypothesis)
    if premise <= hypothesis:
        return "entailment"
    return "neutral" if premise & hypothesis else "contradiction"


@each("strict", [False, True])
def test_a_solver_finds_every_numerical_label(strict: bool) -> None:
    request = Request("numerical", low=2, high=30, balance=False, integer_strict=strict)
    rows = list(generate(request, 2000))
    assert [solve(row, 0.5) for row in rows] == [row.gold for row in rows]
    wrong = [row for row in rows if solve(row, 1) != row.gold]  # over whole numbers
    assert bool(wrong) != strict
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
    for row in generate(Request("numerical", low=2, high=30, balance=False), 2000):
        (first, n), (second, other) = quantity(row.premise), quantity(row.hypothesis)
        if first == relation:
            slot = "n" if other == n else "l" if other < n else "h"
            measured[row.gold].add(f"{second} {slot}")
    assert measured == {"entailment": entailed, "neutral": neutral, "contradiction": contradicted}


def test_numerical_labels_are_as_frequent_as_in_the_paper() -> None:
    rows = sample("numerical", CRATE, 4**4 * 22, lexical="A", balance=False)
    counted = Counter(row.gold for row in rows)
    ratio = {"entailment": 4, "neutral": 6, "contradiction": 12}
    assert counted == {label: 4**4 * times for label, times in ratio.items()}
    rows = sample("numerical", CRATE, 4**4 * 12, lexical="A")
    assert set(Counter(row.gold for row in rows).values()) == {4**4 * 4}
    assert count(Request("numerical")) is None


def test_a_range_of_the_same_width_gives_the_same_pairs_with_shifted_numbers() -> None:
    near, far = (
        texts(generate(Request("numerical", low=low, high=low + 19), 300)) for low in (30, 60)
    )
    shifted = [re.sub(r"\d+", lambda n: str(int(n[0]) + 30), "\n".join(pair)) for pair in near]
    assert shifted == ["\n".join(pair) for pair in far]
    for low, high in map(read_range, RANGES):
        rows = generate(Request("numerical", low=low, high=high), 100)
        numbers = {quantity(text)[1] for row in rows for text in (row.premise, row.hypothesis)}
        assert low <= min(numbers) and max(numbers) <= high
    # all 4 triples of 2-5: n is 3 in (2 3 4) (2 3 5) and 4 in (2 4 5) (3 4 5)
    rows = generate(Request("numerical", low=2, high=5), 2000)
    drawn = Counter(quantity(row.premise)[1] for row in rows)
    assert set(drawn) == {3, 4} and abs(drawn[3] / 2000 - 0.5) < 0.05
    for times, low, high in ((1, 2, 6), (4, 30, 49)):  # words that come again have other numbers
        pairs = sample("numerical", CRATE, 4**4 * 12 * times, lexical="A", low=low, high=high)
        assert len(set(texts(pairs))) == len(pairs)


def exchanged(text: str, one: str, other: str) -> str:
    """Return a text with two of its slots in each other's place."""
    parts = {f"{{{one}}}": f"{{{other}}}", f"{{{other}}}": f"{{{one}}}"}
    return re.sub(r"\{\w+\}", lambda slot: parts.get(slot[0], slot[0]), text)


@each("row", FILES["word_order"]["template"])
def test_a_paraphrase_and_what_is_none_differ_by_the_order_of_their_words(
    row: dict[str, Any],
) -> None:
    couples = list(permutations(slot_names(row["text1"]), 2))
    changed = {exchanged(row[name], *couple) for name in ("text1", "same") for couple in couples}
    assert row["swapped"] in changed
    for pair in sample("word_order", row["id"], 20):
        first, second = (Counter(words(text)) for text in (pair.text1, pair.text2))
        assert pair.text1 != pair.text2
        assert (first & second).total() >= 0.6 * max(first.total(), second.total())
    golds = Counter(pair.gold for pair in generate(Request("word_order"), 280))
    assert set(golds) == set(PARAPHRASE_IDENTIFICATION.labels)
    assert 0.35 < golds[PARAPHRASE] / 280 < 0.65


@each("kind", kinds())
def test_no_template_is_on_both_sides_of_a_split_and_every_complexity_is(kind: str) -> None:
    splits = [split_by_template(kind, seed=seed) for seed in range(5)]
    assert len(set(splits)) == 5
    for train, test in splits:
        assert not set(train) & set(test)
        assert sorted(train + test) == sorted(template_ids(kind))
        assert abs(len(train) / len(train + test) - 0.77) < 0.04
        for level in LEVELS if kind in ROZEN else ():
            assert all(set(side) & set(template_ids(kind, level)) for side in (train, test))


@each(
    ("request_", "message"),
    [
        (Request("anagram"), "kind 'anagram' is not one of dative, numerical, hans"),
        (Request("dative", "hard"), "complexity 'hard' is not one of simple, medium, complex"),
        (Request("hans", "simple"), "complexity means nothing for hans templates"),
        (Request("dative", high=20), "range means nothing for dative templates"),
        (Request("numerical", lexical="B2"), "others have no sister verbs"),
        (Request("numerical", low=1), "numbers start at 2, not 1"),
        (Request("numerical", low=5, high=6), "the range 5-6 needs at least 3 whole numbers"),
        (Request("numerical", low=9, high=3), "the range 9-3 must begin with the smaller number"),
        (
            Request("numerical", low=5, high=7, integer_strict=True),
            "the range 5-7 needs at least 4 whole numbers",
        ),
        (Request("hans", subcase="ln_nothing"), "subcase 'ln_nothing' is not one of ln_"),
        (Request("dative", templates=("x",)), "template 'x' is not one of dative_simple_give"),
        (Request("hans", heuristic="constituent", subcase="sn_NP/S"), "no hans template fits all"),
        (Request("dative", lexical="A", templates=(GIVE,)), "513 pairs were asked for, but what"),
    ],
)
def test_an_impossible_request_is_refused_at_once(request_: Request, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        generate(request_, 513)
    assert message in str(caught.value)
    for text in ("", "30", "30-", "a-b", "30-49-60", "-3-5"):
        with pytest.raises(TemplateError, match="LO-HI"):
            read_range(text)
    for share in (0.0, 1.0):
        with pytest.raises(TemplateError, match="not between 0 and 1"):
            split_by_template("dative", share)
