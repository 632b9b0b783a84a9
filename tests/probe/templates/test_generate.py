"""Generated pairs: their seeds and number, what each kind's hold, and requests."""

import re
import subprocess
import sys
from collections import Counter
from itertools import islice, permutations, product
from pathlib import Path
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
from probe.templates.generate import Combinations, Permutation
from probe.templates.grammar import grammar, slot_names
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

ROOT = Path(__file__).resolve().parents[3]


@each("kind", kinds())
def test_the_same_seed_gives_the_same_pairs_and_another_seed_others(kind: str) -> None:
    first, repeated, other = (list(generate(Request(kind), 200, seed)) for seed in (1, 1, 2))
    assert first == repeated
    assert texts(first) != texts(other)


@each("kind", kinds())
def test_a_larger_set_starts_with_the_smaller_one(kind: str) -> None:
    assert list(generate(Request(kind), 50)) == list(islice(generate(Request(kind), 500), 50))


@each("kind", kinds())
def test_every_row_has_its_own_id(kind: str) -> None:
    assert len({row.id for row in generate(Request(kind), 2000)}) == 2000


PEAK_BYTES = """
import tracemalloc
from collections import deque
from probe.templates import Request, generate

def peak_bytes_of(n):
    tracemalloc.start()
    deque(generate(Request("numerical", "simple", "A"), n), maxlen=0)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak_bytes

peak_bytes_of(4000)  # reads the templates and fills the interpreter's caches, once
print(peak_bytes_of(400), peak_bytes_of(4000))
"""


def test_memory_does_not_grow_with_the_number_of_pairs() -> None:
    # in a process of its own: threads that other tests have left would be counted too
    ended = subprocess.run(
        [sys.executable, "-c", PEAK_BYTES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    few, many = map(int, ended.stdout.split())
    assert many < few + 100_000


def test_rows_of_600_000_are_generated_lazily() -> None:
    rows = generate(Request("numerical"), 600_000)
    assert len(list(islice(rows, 5))) == 5


@each("size", [1, 2, 3, 7, 64, 100, 257])
def test_an_order_is_a_permutation(size: int) -> None:
    order = Permutation(size, "0")
    assert sorted(order[index] for index in range(size)) == list(range(size))


def test_orders_of_different_seeds_differ() -> None:
    assert [Permutation(1000, "0")[index] for index in range(9)] != [
        Permutation(1000, "1")[index] for index in range(9)
    ]


def test_arguments_are_all_combinations_without_a_word_twice_from_one_list() -> None:
    combinations = Combinations(
        {"who": ("a", "b", "c"), "act": ("x", "y"), "who2": ("a", "b", "c")}
    )
    fillers = {tuple(combinations[index].values()) for index in range(combinations.size)}
    assert fillers == {row for row in product("abc", "xy", "abc") if row[0] != row[2]}
    assert combinations.size == 12


def test_a_dative_premise_has_its_three_hypotheses() -> None:
    premise = "The young clerk gave the tourist a folded map at the front desk."
    labels = {
        row.hypothesis: row.gold
        for row in sample("dative", GIVE, 256 * 3, lexical="A", balance=False)
        if row.premise == premise
    }
    assert labels == {
        "The young clerk gave a folded map to the tourist at the front desk.": "entailment",
        "The young clerk gave a folded map at the front desk.": "entailment",
        "The young clerk gave the tourist at the front desk.": "contradiction",
    }


def test_dative_pairs_are_counted_by_hand() -> None:
    thirty = len(template_ids("dative"))
    assert count(Request("dative")) == thirty * 8**4 * 2
    assert count(Request("dative", lexical="A")) == thirty * 4**4 * 2
    assert count(Request("dative", "simple", "B2", balance=False)) == 10 * 4**4 * 3


def test_all_dative_pairs_differ_and_half_of_them_are_entailed() -> None:
    request = Request("dative", "medium", "B")
    size = count(request) or 0
    rows = list(generate(request, size))
    assert len(set(texts(rows))) == size == 10 * 256 * 2
    assert Counter(row.gold for row in rows) == {"entailment": 2560, "contradiction": 2560}


def test_each_of_the_two_dative_entailments_is_kept_half_of_the_time() -> None:
    rows = list(generate(Request("dative", "simple", "A"), 5120))
    entailed = [row for row in rows if row.gold == "entailment"]
    kept = sum(bool(re.search(r" (to|for) the ", row.hypothesis)) for row in entailed)
    assert 0.45 < kept / len(entailed) < 0.55


def within(part: list[str], whole: list[str]) -> list[int]:
    """Return the indices at which `part` begins as one piece of `whole`."""
    return [start for start in range(len(whole)) if whole[start : start + len(part)] == part]


@each("subcase", subcases())
def test_every_hans_pair_fits_its_heuristic_and_its_label(subcase: str) -> None:
    for pair in generate(Request("hans", subcase=subcase), 200):
        premise, hypothesis = words(pair.premise), words(pair.hypothesis)
        starts = within(hypothesis, premise)
        assert set(hypothesis) <= set(premise)
        assert pair.subcase == subcase
        assert pair.gold == ("entailment" if subcase[1] == "e" else "non-entailment")
        assert pair.heuristic == {"l": "lexical_overlap", "s": "subsequence"}.get(
            subcase[0], "constituent"
        )
        # the heuristics are nested; each of ours is exactly the one it is named after
        assert bool(starts) == (pair.heuristic != "lexical_overlap")


CONJUNCTIONS = {
    "if",
    "unless",
    "that",
    "or",
    "and",
    "since",
    "because",
    "although",
    "though",
    "after",
}


@each("subcase", subcases("constituent"))
def test_a_constituent_is_a_clause_from_end_to_end(subcase: str) -> None:
    adverbs = FILES["hans"]["words"]["perhaps"] + FILES["hans"]["words"]["surely"]
    for pair in generate(Request("hans", subcase=subcase), 200):
        clause = pair.hypothesis[0].lower() + pair.hypothesis[1:-1]
        before, _, after = (pair.premise[0].lower() + pair.premise[1:]).partition(clause)
        begins_clause = before.endswith(", ") or before.strip() in ("", *adverbs)
        assert begins_clause or before.split()[-1] in CONJUNCTIONS, pair.premise
        assert after[0] in ".," or after.split()[0] in CONJUNCTIONS | {"provided"}, pair.premise


def test_thirty_thousand_hans_pairs_are_a_thousand_of_each_sub_case() -> None:
    rows = list(generate(Request("hans"), 30_000))
    assert Counter(row.subcase for row in rows) == dict.fromkeys(subcases(), 1000)
    assert set(Counter(row.gold for row in rows).values()) == {15_000}
    assert len(set(texts(rows))) == 30_000


def test_a_heuristic_or_a_sub_case_can_be_asked_for_alone() -> None:
    rows = list(generate(Request("hans", heuristic="subsequence"), 80))
    assert {row.subcase for row in rows} == set(subcases("subsequence"))
    assert {row.subcase for row in generate(Request("hans", subcase="sn_NP/Z"), 9)} == {"sn_NP/Z"}


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


KIND = "word_order"
TEMPLATES = FILES[KIND]["template"]


def exchanged(text: str, one: str, other: str) -> str:
    """Return a text with two of its slots in each other's place."""
    return (
        text.replace(f"{{{one}}}", "\0")
        .replace(f"{{{other}}}", f"{{{one}}}")
        .replace("\0", f"{{{other}}}")
    )


@each("row", TEMPLATES)
def test_what_is_no_paraphrase_exchanges_two_words_of_what_is_one(row: dict[str, Any]) -> None:
    couples = list(permutations(slot_names(row["text1"]), 2))
    changed = {exchanged(row[name], *couple) for name in ("text1", "same") for couple in couples}
    assert row["swapped"] in changed


@each("row", TEMPLATES)
def test_both_labels_change_the_order_and_keep_most_words(row: dict[str, Any]) -> None:
    for pair in sample(KIND, row["id"], 20):
        first, second = (Counter(words(text)) for text in (pair.text1, pair.text2))
        assert pair.text1 != pair.text2
        assert (first & second).total() >= 0.6 * max(first.total(), second.total())


def test_both_labels_are_as_frequent() -> None:
    golds = Counter(pair.gold for pair in generate(Request(KIND), 560))
    assert set(golds) == set(PARAPHRASE_IDENTIFICATION.labels)
    assert 0.4 < golds[PARAPHRASE] / 560 < 0.6


def test_they_are_examples_of_paraphrase_with_their_template() -> None:
    assert grammar(KIND).task is PARAPHRASE_IDENTIFICATION
    pair = next(generate(Request(KIND), 1))
    assert isinstance(pair, PARAPHRASE_IDENTIFICATION.example)
    assert pair.template in {row["id"] for row in TEMPLATES}


# the split


@each("kind", kinds())
@each("seed", range(5))
def test_no_template_is_on_both_sides_of_a_split(kind: str, seed: int) -> None:
    train, test = split_by_template(kind, seed=seed)
    assert not set(train) & set(test)
    assert sorted(train + test) == sorted(template_ids(kind))
    assert abs(len(train) / len(train + test) - 0.77) < 0.04


@each("kind", ROZEN)
def test_both_sides_of_a_split_have_every_complexity(kind: str) -> None:
    for side in split_by_template(kind, seed=1):
        assert all(set(side) & set(template_ids(kind, level)) for level in LEVELS)


def test_splits_differ_by_seed() -> None:
    assert len({split_by_template("numerical", seed=seed) for seed in range(5)}) == 5


# refused requests


@each(
    ("request_", "message"),
    [
        (Request("anagram"), "kind 'anagram' is not one of dative, numerical, hans"),
        (Request("dative", "hard"), "complexity 'hard' is not one of simple, medium, complex"),
        (Request("hans", "simple"), "complexity means nothing for hans templates"),
        (Request("hans", lexical="A"), "lexical means nothing for hans templates"),
        (Request("dative", subcase="ce_adverb"), "subcase means nothing for dative templates"),
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
        (Request("dative", "complex", templates=(GIVE,)), "no dative template fits"),
        (
            Request("hans", heuristic="constituent", subcase="sn_NP/S"),
            "no hans template fits all that was asked for",
        ),
    ],
)
def test_an_impossible_request_is_refused_at_once(request_: Request, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        generate(request_, 1)
    assert message in str(caught.value)


def test_asking_for_more_than_there_is_says_how_many_there_are() -> None:
    with pytest.raises(TemplateError, match=r"513 pairs were asked for.* has 512 diff"):
        generate(Request("dative", lexical="A", templates=(GIVE,)), 513)


def test_numerical_pairs_have_no_end() -> None:
    assert count(Request("numerical")) is None


@each("text", ["", "30", "30-", "a-b", "30-49-60", "-3-5"])
def test_a_range_is_two_numbers(text: str) -> None:
    with pytest.raises(TemplateError, match="LO-HI"):
        read_range(text)


@each("share", [0.0, 1.0, -1.0])
def test_a_split_needs_two_sides(share: float) -> None:
    with pytest.raises(TemplateError, match="not between 0 and 1"):
        split_by_template("dative", share)
