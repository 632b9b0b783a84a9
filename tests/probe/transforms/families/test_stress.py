"""The stress tests beyond their golden rows: what holds for any sentence and any seed."""

import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.baselines import BASELINES
from probe.tasks.nli import NLI, Pair
from probe.transforms import REGISTRY, Options
from probe.transforms.registry import Tools, missing
from tests.support.cases import each
from tests.support.property_settings import STEADY

KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
WORDS = ["The", "old", "NASA", "He", "a", "it", "can't", "well-known", "12,500", "Über", "sees"]
SENTENCE = st.builds(
    lambda words, mark: " ".join(words) + mark,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=7),
    st.sampled_from(["", ".", "!", " ?"]),
)


def transformed(
    name: str, pair: Pair, seed: int = 0, options: Options = Options()
) -> tuple[Pair, ...]:
    """Return the pairs of a transform; skip where it lacks a resource."""
    if lacks := missing(REGISTRY[name]):
        pytest.skip(lacks)
    changed = REGISTRY[name].make(pair, NLI, Tools(random.Random(seed), options))
    return changed.made if changed else ()


def misspelt(name: str, text: str, seed: int = 0) -> str | None:
    """Return a misspelt hypothesis, None where nothing can be misspelt."""
    pairs = transformed(name, Pair("A man sat.", text), seed)
    return pairs[0].hypothesis if pairs else None


def one_word(before: str, after: str) -> tuple[str, str]:
    """Return the word that changed and what it became, both between blanks."""
    assert len(before) == len(after)
    words = list(zip(before.split(" "), after.split(" "), strict=True))
    ((old, new),) = [(first, second) for first, second in words if first != second]
    return old, new


# spelling


@each("name", ["spelling_swap", "spelling_keyboard", "spelling"])
@STEADY
@given(SENTENCE, st.integers(0, 99))
def test_one_word_changes_and_nothing_else(name: str, text: str, seed: int) -> None:
    after = misspelt(name, text, seed)
    if after is not None:
        old, new = one_word(text, after)
        assert any(letter.isalpha() for letter in old)
        assert [c for c in new if not c.isalpha()] == [c for c in old if not c.isalpha()]


@STEADY
@given(SENTENCE, st.integers(0, 99))
def test_a_swap_permutes_the_letters_of_the_word(text: str, seed: int) -> None:
    after = misspelt("spelling_swap", text, seed)
    if after is not None:
        old, new = one_word(text, after)
        assert Counter(new.lower()) == Counter(old.lower())
        changed = [i for i in range(len(old)) if old[i].lower() != new[i].lower()]
        assert changed == [changed[0], changed[0] + 1]


@STEADY
@given(SENTENCE, st.integers(0, 99))
def test_a_wrong_key_lies_beside_the_right_one(text: str, seed: int) -> None:
    after = misspelt("spelling_keyboard", text, seed)
    if after is not None:
        ((right, wrong),) = [(b, a) for b, a in zip(text, after, strict=True) if b != a]
        (row,) = [row for row in KEYBOARD if right.lower() in row]
        assert abs(row.index(right.lower()) - row.index(wrong.lower())) == 1


@each("name", ["spelling_swap", "spelling_keyboard", "spelling"])
@STEADY
@given(SENTENCE, st.integers(0, 99))
def test_capitals_stay_where_they_are(name: str, text: str, seed: int) -> None:
    after = misspelt(name, text, seed)
    if after is not None:
        assert [c.isupper() for c in after] == [c.isupper() for c in text]


@each("name", ["spelling_swap", "spelling_keyboard", "spelling"])
def test_a_word_inside_another_is_not_hit(name: str) -> None:
    for seed in range(40):
        after = misspelt(name, "12-planet plan", seed)
        assert after is not None
        old, new = one_word("12-planet plan", after)
        assert (old in ("plan", "12-planet")) and old != new
        if name == "spelling_swap":
            assert old == "plan"  # no hyphen


def test_the_mix_throws_a_fair_coin() -> None:
    ways = [misspelt("spelling", "maps", seed) for seed in range(400)]
    swaps = sum(Counter(way) == Counter("maps") for way in ways if way)
    assert 150 < swaps < 250  # 200 and five standard deviations


def test_every_word_may_be_the_one() -> None:
    changed = [misspelt("spelling_swap", "cold rain fell", seed) for seed in range(100)]
    assert {one_word("cold rain fell", after)[0] for after in changed if after} == {
        "cold",
        "rain",
        "fell",
    }


def test_content_words_leave_out_singular_nouns() -> None:
    options = Options(spelling="content")
    pair = Pair("A man sat.", "The dog saw us.")
    assert transformed("spelling_keyboard", pair, 0, options) == ()


# tautologies as in the released code


@each(
    ("text", "made"),
    [
        ("He left.", "He left and true is true."),
        ("Mr. Hale left.", "Mr and true is true."),
        ("It cost 3.5 dollars.", "It cost 3 and true is true."),
        ("What?!", "What and true is true?"),
        ("Wait...", "Wait and true is true."),
        ("(He left.)", "(He left and true is true."),
        ("He left", "He left and true is true"),
        ("It cost 3.5 dollars", "It cost 3.5 dollars and true is true"),
    ],
)
def test_the_code_ends_a_text_at_its_first_mark(text: str, made: str) -> None:
    options = Options(tautology="naik_code")
    (pair,) = transformed("word_overlap", Pair("It rained.", text), 0, options)
    assert pair.hypothesis == made


# antonym


def test_at_most_32_pairs_are_made() -> None:
    assert len(transformed("antonym", Pair("war " * 40, "It rained."))) == 32


def test_a_capital_goes_over_to_the_antonym() -> None:
    (pair,) = transformed("antonym", Pair("Impolite!", "It rained."))
    assert pair.hypothesis == "Polite!"


def test_the_code_leaves_out_adjectives_that_head_a_cluster() -> None:
    pair = Pair("She was impolite.", "It rained.")
    assert [new.hypothesis for new in transformed("antonym", pair)] == ["She was polite."]
    assert transformed("antonym", pair, 0, Options(antonym="naik_code")) == ()


def test_the_code_takes_nouns() -> None:
    (pair,) = transformed("antonym", Pair("Her wife sang.", "?"), 0, Options(antonym="naik_code"))
    assert pair == Pair("Her wife sang.", "Her husband sang.", "contradiction")


def test_each_antonym_makes_a_pair_of_its_own() -> None:
    # WordNet has one sense of "daughter", with the lemmas daughter (son) and girl (boy)
    texts = [pair.hypothesis for pair in transformed("antonym", Pair("Her daughter sang.", "?"))]
    assert sorted(texts) == ["Her boy sang.", "Her son sang."]


def test_no_synset_comes_from_the_global_reader_of_nltk() -> None:
    transformed("antonym", Pair("The war went on.", "It rained."))
    loader = sys.modules["nltk.wsd"].wordnet
    assert type(loader).__name__ == "LazyCorpusLoader"  # it would have become a reader


# numerical


def numbers(statement: str) -> set[int]:
    """Return the counts that a statement allows, of 0 to 10,000."""
    words = statement.removeprefix("Tim has ").removesuffix(" nails.").split()
    bound = int(words[-1])
    tests: dict[str, Callable[[int], bool]] = {
        "": lambda n: n == bound,
        "more than": lambda n: n > bound,
        "less than": lambda n: n < bound,
    }
    return set(filter(tests[" ".join(words[:-1])], range(10_001)))


def solve(premise: str, hypothesis: str) -> str:
    """Label a pair by the counts its sides allow."""
    allowed_by_premise, allowed_by_hypothesis = numbers(premise), numbers(hypothesis)
    if allowed_by_premise <= allowed_by_hypothesis:
        return "entailment"
    return "neutral" if allowed_by_premise & allowed_by_hypothesis else "contradiction"


@STEADY
@given(st.integers(1, 9999), st.integers(0, 99))
def test_every_label_follows_from_arithmetic(number: int, seed: int) -> None:
    pairs = transformed(
        "numerical", Pair(f"Tim has {number} nails.", "It rained.", "neutral"), seed
    )
    assert [pair.gold for pair in pairs] == ["entailment", "contradiction", "neutral"]
    assert [solve(pair.premise, pair.hypothesis) for pair in pairs] == [p.gold for p in pairs]


def test_three_rules_solve_all_but_the_contradictions_with_a_phrase() -> None:
    for seed in range(40):
        pairs = transformed("numerical", Pair("Tim has 350 nails.", "?"), seed)
        solved = BASELINES["numerical"](pairs)
        with_phrase = "than" in pairs[1].hypothesis  # Liu et al. 2019, appendix C
        assert solved == ["entailment", "entailment" if with_phrase else "contradiction", "neutral"]


def test_the_neutral_pair_is_the_entailed_one_turned_round() -> None:
    entailed, _, neutral = transformed("numerical", Pair("Tim has 350 nails.", "?"))
    assert neutral == Pair(entailed.hypothesis, entailed.premise, "neutral")


def test_half_of_the_contradictions_have_a_phrase() -> None:
    pairs = [
        transformed("numerical", Pair("Tim has 350 nails.", "?"), seed)[1] for seed in range(400)
    ]
    assert 150 < sum("than" in pair.hypothesis for pair in pairs) < 250


@each(("number", "changed"), [("first", {"30"}), ("random", {"30", "40"})])
def test_the_first_number_or_any_is_changed(number: str, changed: set[str]) -> None:
    premise = "Tim has 30 nails and 40 bolts."
    options = replace(Options(), number=number)  # type: ignore[arg-type]  # one of the two
    changed_numbers = set()
    for seed in range(40):
        entailed = transformed("numerical", Pair(premise, "?"), seed, options)[0]
        changed_numbers |= {n for n in ("30", "40") if n not in entailed.hypothesis.split()}
    assert changed_numbers == changed


@each(
    "premise",
    [
        "Tim has at least 5 hats.",
        "Tim paid €5.",
        "Tim won 2:1.",
        "Tim has ٣ hats.",
        "Tim has ² hats",
    ],
)
def test_what_is_not_a_bare_count_is_passed_over(premise: str) -> None:
    assert transformed("numerical", Pair(premise, "?")) == ()


def test_a_long_number_is_read() -> None:
    premise = f"Tim has {'7' * 5000} nails."
    assert len(transformed("numerical", Pair(premise, "?"))) == 3


# all of them


@each("name", ["antonym", "numerical"])
def test_the_pairs_of_a_row_differ_and_keep_its_id(name: str) -> None:
    pairs = transformed(
        name, Pair("Ann won 3 victories in the war.", "Her wife won 3.", None, "r7")
    )
    assert pairs and {pair.id for pair in pairs} == {"r7"}
    assert all(first != second for first, second in combinations(pairs, 2))
