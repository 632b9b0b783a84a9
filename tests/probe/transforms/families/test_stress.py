"""The stress tests beyond their golden rows: what holds for any sentence and any seed."""

import sys
from collections import Counter
from itertools import combinations
from operator import eq, gt, lt

from hypothesis import given
from hypothesis import strategies as st

from probe.baselines import BASELINES
from probe.tasks.nli import Pair
from tests.support.cases import each
from tests.support.models.scored_tokens import made
from tests.support.property_settings import STEADY

KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
MISSPELLINGS = ["spelling_swap", "spelling_keyboard", "spelling"]
WORDS = ["The", "old", "NASA", "He", "a", "it", "can't", "well-known", "12,500", "Über", "sees"]
SENTENCE = st.builds(
    lambda words, mark: " ".join(words) + mark,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=7),
    st.sampled_from(["", ".", "!", " ?"]),
)
NAILS = Pair("Tim has 350 nails.", "?")


def transformed(name: str, pair: Pair, seed: int = 0, **options: object) -> tuple[Pair, ...]:
    """Return the pairs of a transform."""
    return made(name, pair, seed, **options)[0]


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


@each("name", MISSPELLINGS)
@STEADY
@given(SENTENCE, st.integers(0, 99))
def test_one_word_changes_and_keeps_its_capitals_and_marks(name: str, text: str, seed: int) -> None:
    after = misspelt(name, text, seed)
    if after is None:
        return
    old, new = one_word(text, after)
    assert any(letter.isalpha() for letter in old)
    assert [c for c in new if not c.isalpha()] == [c for c in old if not c.isalpha()]
    assert [c.isupper() for c in after] == [c.isupper() for c in text]
    changed = [i for i in range(len(old)) if old[i].lower() != new[i].lower()]
    if name == "spelling_swap":
        assert Counter(new.lower()) == Counter(old.lower())
        assert changed == [changed[0], changed[0] + 1]
    if name == "spelling_keyboard":
        (at,) = changed
        (row,) = [row for row in KEYBOARD if old[at].lower() in row]
        assert abs(row.index(old[at].lower()) - row.index(new[at].lower())) == 1


@each("name", MISSPELLINGS)
def test_a_word_inside_another_is_not_hit(name: str) -> None:
    for seed in range(40):
        after = misspelt(name, "12-planet plan", seed)
        old, _ = one_word("12-planet plan", after or "")
        assert old in (("plan",) if name == "spelling_swap" else ("plan", "12-planet"))


def test_every_word_and_either_error_may_be_the_one() -> None:
    ways = [misspelt("spelling", "maps", seed) for seed in range(400)]
    swaps = sum(Counter(way) == Counter("maps") for way in ways if way)
    assert 150 < swaps < 250  # 200 and five standard deviations
    changed = [misspelt("spelling_swap", "cold rain fell", seed) or "" for seed in range(100)]
    words = {one_word("cold rain fell", after)[0] for after in changed}
    assert words == {"cold", "rain", "fell"}
    pair = Pair("A man sat.", "The dog saw us.")  # content words leave out singular nouns
    assert transformed("spelling_keyboard", pair, spelling="content") == ()


@each(
    ("text", "expected"),
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
def test_the_code_ends_a_text_at_its_first_mark(text: str, expected: str) -> None:
    (pair,) = transformed("word_overlap", Pair("It rained.", text), tautology="naik_code")
    assert pair.hypothesis == expected


@each(
    ("premise", "option", "expected"),
    [
        ("Impolite!", "paper", ["Polite!"]),
        ("She was impolite.", "paper", ["She was polite."]),
        ("She was impolite.", "naik_code", []),  # the head of a cluster of adjectives
        ("Her wife sang.", "naik_code", ["Her husband sang."]),
        # WordNet has one sense of "daughter", with the lemmas daughter (son) and girl (boy)
        ("Her daughter sang.", "paper", ["Her boy sang.", "Her son sang."]),
    ],
)
def test_each_antonym_makes_a_contradiction(premise: str, option: str, expected: list[str]) -> None:
    pairs = transformed("antonym", Pair(premise, "?"), antonym=option)
    assert sorted(pair.hypothesis for pair in pairs) == expected
    assert {(pair.premise, pair.gold) for pair in pairs} <= {(premise, "contradiction")}


def test_antonyms_end_at_32_pairs_and_leave_the_global_reader_of_nltk_alone() -> None:
    assert len(transformed("antonym", Pair("war " * 40, "It rained."))) == 32
    loader = sys.modules["nltk.wsd"].wordnet
    assert type(loader).__name__ == "LazyCorpusLoader"  # it would have become a reader


def counts(statement: str) -> set[int]:
    """Return the counts that a statement allows, of 0 to 10,000."""
    *words, bound = statement.removeprefix("Tim has ").removesuffix(" nails.").split()
    holds = {"": eq, "more than": gt, "less than": lt}[" ".join(words)]
    return {n for n in range(10_001) if holds(n, int(bound))}


@STEADY
@given(st.integers(1, 9999), st.integers(0, 99))
def test_every_label_follows_from_arithmetic(number: int, seed: int) -> None:
    pairs = transformed("numerical", Pair(f"Tim has {number} nails.", "It rained."), seed)
    solved = []
    for pair in pairs:
        premise, hypothesis = counts(pair.premise), counts(pair.hypothesis)
        other = "neutral" if premise & hypothesis else "contradiction"
        solved.append("entailment" if premise <= hypothesis else other)
    assert [pair.gold for pair in pairs] == ["entailment", "contradiction", "neutral"] == solved


def test_three_rules_solve_all_but_the_contradictions_with_a_phrase() -> None:
    phrases = 0
    for seed in range(400):
        pairs = transformed("numerical", NAILS, seed)
        with_phrase = "than" in pairs[1].hypothesis  # Liu et al. 2019, appendix C
        solved = ["entailment", "entailment" if with_phrase else "contradiction", "neutral"]
        assert BASELINES["numerical"](pairs) == solved
        assert pairs[2] == Pair(pairs[0].hypothesis, pairs[0].premise, "neutral")
        phrases += with_phrase
    assert 150 < phrases < 250  # half


@each(("number", "changed"), [("first", {"30"}), ("random", {"30", "40"})])
def test_the_first_number_or_any_is_changed(number: str, changed: set[str]) -> None:
    gone = set()
    for seed in range(40):
        pair = Pair("Tim has 30 nails and 40 bolts.", "?")
        entailed = transformed("numerical", pair, seed, number=number)[0]
        gone |= {n for n in ("30", "40") if n not in entailed.hypothesis.split()}
    assert gone == changed


@each(
    ("premise", "pairs"),
    [
        ("Tim has at least 5 hats.", 0),
        ("Tim paid €5.", 0),
        ("Tim won 2:1.", 0),
        ("Tim has ٣ hats.", 0),
        ("Tim has ² hats", 0),
        (f"Tim has {'7' * 5000} nails.", 3),
    ],
)
def test_what_is_not_a_bare_count_is_passed_over(premise: str, pairs: int) -> None:
    assert len(transformed("numerical", Pair(premise, "?"))) == pairs


@each("name", ["antonym", "numerical"])
def test_the_pairs_of_a_row_differ_and_keep_its_id(name: str) -> None:
    pair = Pair("Ann won 3 victories in the war.", "Her wife won 3.", None, "r7")
    pairs = transformed(name, pair)
    assert pairs and {pair.id for pair in pairs} == {"r7"}
    assert all(first != second for first, second in combinations(pairs, 2))
