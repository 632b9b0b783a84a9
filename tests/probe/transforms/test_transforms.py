"""What holds for every transform, for chains, and for any text at all."""

import random
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise, permutations
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from probe.analysis.transformed import ImportanceReader
from probe.errors import Unavailable, UnknownTransform
from probe.graphemes import clusters
from probe.tasks.label_rules import COMPUTED, KEEP, UNDEFINED
from probe.tasks.nli import LABELS, NLI, NLI_TWO_WAY, Pair
from probe.text.words import tokenise
from probe.transforms import (
    REGISTRY,
    Options,
    Result,
    apply,
    chain,
    default_of,
    leaves_gold,
    rule_of,
)
from probe.transforms.families.importance import kept_units, units
from probe.transforms.registry import RESOURCES, Scored, SubWords, Tools, applies_of, missing, ready
from tests.support.cases import each
from tests.support.global_state import leaves_global_chance_alone
from tests.support.models.scored_tokens import FixedReader, scored
from tests.support.models.tiny_models import shared
from tests.support.property_settings import STEADY

NAMES = [name for name, entry in REGISTRY.items() if entry.suits(NLI)]
WORD_LEVEL = [name for name in NAMES if REGISTRY[name].level == "word"]
PAIR = Pair("The old man walks to the green park.", "The man isn't happy!", "neutral", "r1")
OTHER = Pair("She reads a letter.", "She writes some music now.", "entailment", "r2")
LOOSE = st.text(max_size=40)
NUMBERS = Pair("Tim has 350 old stamps.", "Tim is glad.", "neutral", "r3")
ODD = {
    "empty": "",
    "blank": " \t\n ",
    "one token": "no",
    "more tokens than a model reads": "the man walks . " * 130,
    "emoji": "👩‍👩‍👧 🇫🇮 ok 👍🏽!",
    "right to left": "الرجل في الحديقة. האיש בבית?",
    "NUL": "\x00",
    "NUL inside": "a\x00b \x00",
    "control": "a\x07b\x1b[0m\x85\u2028c",
    "Chinese": "那个人在公园里。",
    "Finnish": "Mies kävelee puistossa, eikö?",
    "only punctuation": "?!... ,;",
    "quotes": "\"''``\"",
    "combining": "e\u0301\u0301\u0301 a\u200d\ufeff",
}


def applied(
    name: str, pairs: Sequence[Pair], seed: int = 0, options: Options = Options()
) -> list[Result]:
    """Apply with the tiny model as reader; return the first result of each pair."""
    several = apply(name, pairs, NLI, seed, options, ImportanceReader(shared(), options))
    return [row[0] for row in several]


def no_reading(pairs: Sequence[Pair]) -> Sequence[SubWords]:
    """Stand where nothing reads sub-words."""
    raise AssertionError("a word-level transform asked for sub-words")


def several(name: str, pair: Pair, seed: int = 0) -> tuple[Result, ...]:
    """Apply a word-level transform to a pair; all results that come of it."""
    return apply(name, [pair], NLI, seed, Options(), no_reading)[0]


def words_only(name: str, text: str, seed: int = 0) -> Result:
    """Apply a word-level transform to a hypothesis."""
    return several(name, Pair("A man sat.", text), seed)[0]


# the contract, over everything registered


@each("name", NAMES)
def test_every_transform_keeps_the_contract(name: str) -> None:
    entry, pair, options = REGISTRY[name], deepcopy(PAIR), Options()
    result = applied(name, [pair], options=options)[0]
    assert (pair, options) == (PAIR, Options()) and result.original is pair
    assert entry.suits(NLI_TWO_WAY) and set(entry.edited(NLI)) <= {"premise", "hypothesis"}
    for field in {"premise", "hypothesis"} - {*entry.edited(NLI)}:
        assert getattr(result.example, field) == getattr(PAIR, field)
    assert applied(name, [OTHER, PAIR])[1] == result  # the same again, whatever else there is
    assert [each.example.id for each in applied(name, [PAIR, OTHER, OTHER])] == ["r1", "r2", "r2"]
    assert leaves_global_chance_alone(lambda: applied(name, [PAIR, OTHER]))
    assert ("model" in entry.needs) == (entry.level == "sub-word")
    for keep in (0, 0.3, 1) if "keep" in entry.options else ():
        assert len(applied(name, [PAIR, OTHER], options=Options(keep=keep))) == 2


@each("name", NAMES)
def test_any_text_comes_to_an_end_and_no_character_is_split(name: str) -> None:
    options = Options(other_languages="count")
    for odd, text in ODD.items():
        pairs = [Pair(text, "A man.", None, "1"), Pair("A man.", text, None, "2"), Pair(text, text)]
        for result in applied(name, pairs, options=options):
            assert isinstance(result.example.hypothesis, str), odd
            assert result.changed or result.original.hypothesis.split() or not text.split(), odd
    for run in (" ", ".", "\t") if name in WORD_LEVEL else ():
        text = "a." + run * 20_000 + "b"  # minutes, where time grows with the square
        assert several(name, Pair(text, text))[0].original.premise == text
    for text in ("ne\u0301e\u0301 re\u0301sume\u0301 किताब पढ़ रहा ที่นี่", "你好世界 👩‍👩‍👧 👍🏽 ok!"):
        pairs = [Pair(text, "A man sat.", None, str(at)) for at in range(3)]
        pairs += [Pair("A man sat.", text, None, str(at)) for at in range(3)]
        # a tiny vocabulary knows none of these
        for result in applied(name, pairs, options=options) if name in WORD_LEVEL else ():
            made = clusters(result.example.premise + " " + result.example.hypothesis)
            assert {each for each in made if len(each) > 1} <= set(clusters(text)), result


@STEADY
@given(LOOSE, LOOSE, st.sampled_from(WORD_LEVEL))
def test_edits_spell_the_new_text(premise: str, hypothesis: str, name: str) -> None:
    result = several(name, Pair(premise, hypothesis))[0]
    for side, after in NLI.texts(result.example).items():
        spelt = "".join(edit.text for edit in result.edits[side] if edit.kind != "removed")
        assert "".join(spelt.split()) == "".join(after.split())


@each("name", NAMES)
def test_the_gold_label_follows_the_rule(name: str) -> None:
    rule = REGISTRY[name].rule
    for label in LABELS:
        pair, reader = replace(PAIR, gold=label), ImportanceReader(shared(), Options())
        for result in apply(name, [pair], NLI, 0, Options(), reader)[0]:
            assert result.gold in (LABELS if rule == COMPUTED else [rule(label), label])
            assert result.gold == rule(label) or not result.changed or rule == COMPUTED
            assert [(s.transform, s.before, s.example) for s in result.steps] == [
                (name, pair, result.example)
            ]
    result = applied(name, [Pair("A man sat.", "He was here.")])[0]
    assert result.gold == rule(None) or rule == COMPUTED
    empty = applied(name, [Pair("", "", "contradiction")])[0]
    assert empty.note == f"{name} needs {applies_of(REGISTRY[name], NLI)}" and not empty.changed
    assert empty.gold == (None if rule is UNDEFINED else "contradiction")
    assert not (leaves_gold(name) and "model" in REGISTRY[name].needs)


# what is a change, and what is exact


def test_sub_words_of_one_character_stay_together() -> None:
    text, places = "ok 👍 no", [(0, 2), (3, 4), (3, 4), (3, 4), (5, 7)]
    scores = [0.5, 0.1, 0.0, 0.9, 0.2]
    tokens = [Scored("t", at, *place, scores[at]) for at, place in enumerate(places)]
    assert [[token.id for token in unit] for unit in units(text, tokens)] == [[0], [1, 2, 3], [4]]
    assert kept_units(units(text, tokens), Tools(random.Random(0), Options(keep=0.3))) == {1}


@each(
    ("name", "hypothesis", "changed"),
    [
        ("sort", "A cat sat.", False),
        ("reverse", "Never say never.", False),
        ("reverse", "No.", False),
        ("shuffle", "Ha ha!", False),
        ("reverse+reverse", "He can't say who.", False),
        ("copysort", "a MAN sat.", False),
        ("negation", "He sat.", True),
        *((name, "no", False) for name in ("drop", "repeat", "replace")),
        ("drop", "\N{CAT} \N{DOG} \N{COW}", False),  # that the model does not know
    ],
)
def test_the_same_words_are_no_change(name: str, hypothesis: str, changed: bool) -> None:
    assert applied(name, [Pair("A man sat.", hypothesis)])[0].changed is changed
    if REGISTRY[name.split("+")[0]].level == "sub-word":
        assert not applied(name, [PAIR], options=Options(keep=1.0))[0].changed


# chains


def test_a_chain_is_its_links_one_after_another() -> None:
    dropped, result = applied("drop", [PAIR])[0].example, applied("drop+sort", [PAIR])[0]
    words = sorted(tokenise(dropped.hypothesis.lower()), key=lambda word: (word in ".!", word))
    assert result.example.hypothesis == " ".join(words)
    assert result.steps[0].example.hypothesis == dropped.hypothesis
    reversed_ = applied("reverse", [PAIR])[0].example  # a later link reads what the earlier made
    assert applied("reverse+drop", [PAIR])[0].example == applied("drop", [reversed_])[0].example
    (passed,) = several("copysort+negation", Pair("", "He sat."))  # over the first link
    made, note = "He sat and false is not true.", "copysort needs a word in the premise"
    steps = [(step.example.hypothesis, step.note) for step in passed.steps]
    assert (steps, passed.note) == ([("He sat.", note), (made, "")], note)
    inexact = words_only("shuffle+negation", "Ha ha!")
    assert not inexact.exact and "bigrams" in inexact.note
    pairs = [Pair("A man sat.", "one two three four five six", None, str(n)) for n in range(8)]
    shuffled = [apply("shuffle", pairs, NLI, seed, Options(), no_reading) for seed in range(8)]
    for several_ in (shuffled[0], [rows[0] for rows in shuffled]):  # by row, and by seed
        assert len({result.example.hypothesis for (result,) in several_}) > 4


@each(
    ("name", "rule", "leaves", "default"),
    [
        ("word_overlap+sort", UNDEFINED, False, None),
        ("negation+spelling", KEEP, True, None),
        ("copysort+reverse", UNDEFINED, False, "entailment"),
        (" drop + copyone ", UNDEFINED, False, "entailment"),
    ],
)
def test_a_chain_has_the_facts_of_its_links(
    name: str, rule: object, leaves: bool, default: str | None
) -> None:
    assert (rule_of(name), leaves_gold(name), default_of(name, NLI)) == (rule, leaves, default)
    assert [link.name for link in chain(name)] == [link.strip() for link in name.split("+")]


@each(
    ("name", "words"),
    [
        *((name, r"^there is no transform '.*'; there are: \w+, ") for name in ("srot", "", "a,b")),
        *((name, "joins nothing: a transform belongs on") for name in ("sort+", "+sort", "a++b")),
    ],
)
def test_a_name_that_is_no_chain_is_refused(name: str, words: str) -> None:
    with pytest.raises(UnknownTransform, match=words):
        chain(name)


def test_what_is_for_english_leaves_another_language_as_it_is() -> None:
    pair = Pair("Juna ei kulje tänään.", "Tänään sataa lunta, koska on talvi.", "neutral", "r4")
    for options, note in (
        (Options(), "negation is for English, and the text is in Finnish"),
        (Options(other_languages="count"), ""),
    ):
        ((result,),) = apply("sort+negation", [pair], NLI, 0, options, no_reading)
        assert (result.not_applicable, result.note) == (bool(note), note)
        assert (result.example == pair and result.gold == "neutral") == bool(note)


# any text at all

WORD = st.sampled_from(
    ["a", "b", "C", "can't", "he's", "well-known", "12", "1,000", "%", ",", "naïve", "cannot"]
)
MARK = st.sampled_from(["", ".", "!", "?"])
SENTENCE = st.builds(
    lambda words, mark: " ".join(words) + mark, st.lists(WORD, min_size=1, max_size=9), MARK
)


@STEADY
@given(SENTENCE, st.integers())
def test_words_in_another_order_are_a_permutation_that_ends_as_before(text: str, seed: int) -> None:
    before = tokenise(text.lower())
    marks = before[-1:] if before[-1] in (".", "!", "?") else []
    made = {
        name: words_only(name, text, seed).example.hypothesis.split(" ")
        for name in ("sort", "reverse", "shuffle")
    }
    for after in made.values():
        assert Counter(after) == Counter(before) and after[len(after) - len(marks) :] == marks
    bare = made["sort"][: len(before) - len(marks)]
    assert all(word <= following for word, following in pairwise(bare))
    again = words_only("reverse", " ".join(made["reverse"]))
    assert again.example.hypothesis.split(" ") == before


MANY = st.lists(st.sampled_from("abcdefghijklmnop"), min_size=7, max_size=16, unique=True)


@STEADY
@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6) | MANY, MARK, st.integers(0, 99))
@example(["a", "a", "b"], "", 0)
@example(["a", "b", "a", "b"], ".", 0)
@example(["a", "a", "b", "b"], "", 1)
@example(["the", "dog", "the", "cat", "the", "man", "the", "boy"], ".", 3)
def test_shuffle_keeps_no_bigram_where_that_can_be(words: list[str], mark: str, seed: int) -> None:
    result, tail = words_only("shuffle", " ".join(words) + mark, seed), [mark] if mark else []
    before = list(pairwise(words + tail))

    def kept(order: Sequence[str]) -> int:
        return sum(bigram in before for bigram in pairwise(order))

    few = len(words) < 7  # of more some order keeps none
    fewest = min(kept([*order, *tail]) for order in permutations(words)) if few else 0
    assert kept(result.example.hypothesis.split(" ")) == fewest
    assert result.exact == (fewest == 0)


@STEADY
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=7), st.floats(0, 1))
@example([0.5, 0.4, 0.3, 0.2, 0.1], 0.6)  # three, though 0.6 * 5 may be a little more
def test_drop_keeps_no_token_less_important_than_one_it_drops(
    scores: list[float], keep: float
) -> None:
    words = ["a", "man", "is", "here", "men", "walk", "the"][: len(scores)]
    reading = FixedReader(hypothesis=scored(words, scores))
    ((result,),) = apply("drop", [Pair("x", "y")], NLI, 0, Options(keep=keep), lambda _: [reading])
    count = ceil(round(keep * len(words), 9))
    if count == 0:  # an empty text is no example
        assert not result.changed
        return
    kept = result.example.hypothesis.split()
    assert len(kept) == count
    worth = dict(zip(words, scores, strict=True))
    assert [word for word in words if word in kept] == kept  # in order
    dropped = [worth[word] for word in words if word not in kept]
    assert not dropped or max(dropped) <= min(worth[word] for word in kept)


# several pairs of one


def test_a_chain_goes_on_with_each_of_several_pairs() -> None:
    names = [result.name for result in several("numerical", NUMBERS)]
    assert names == ["numerical 1/3", "numerical 2/3", "numerical 3/3"]
    results = several("numerical+negation", NUMBERS)
    assert [(result.gold, result.number, len(result.steps)) for result in results] == [
        ("entailment", 1, 2), ("contradiction", 2, 2), ("neutral", 3, 2)
    ]  # fmt: skip
    assert all("and false is not true" in result.example.hypothesis for result in results)
    for name in ("reverse+shuffleprem", "reverse+numerical", "numerical+reverse"):  # destroyed
        for result in several(name, NUMBERS):
            assert result.gold is None is result.steps[-1].example.gold


def test_a_chain_ends_with_no_more_than_64_pairs_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def triple(pair: Pair, tools: Tools) -> tuple[Pair, ...]:
        return tuple(replace(pair, hypothesis=pair.hypothesis + letter) for letter in "abc")

    entry = replace(REGISTRY["sort"], function=triple, fields=NLI.fields)
    monkeypatch.setitem(REGISTRY, "triple", entry)
    results = several("triple+triple+triple+triple+reverse", PAIR)
    assert len({result.example.hypothesis for result in results}) == len(results) == 64
    assert (results[0].exact, results[0].note) == (False, "the first 64 of 81 pairs")

    def draw(pair: Pair, tools: Tools) -> Pair:
        return replace(pair, hypothesis=str(tools.rng.random()))

    monkeypatch.setitem(REGISTRY, "draw", replace(entry, function=draw))
    drawn = several("triple+draw", PAIR)  # each of several has chance of its own
    assert len({result.example.hypothesis for result in drawn}) == 3


def test_a_label_that_is_not_known_is_the_predicted_one(monkeypatch: pytest.MonkeyPatch) -> None:
    labels: list[object] = []

    def ask(pair: Pair, tools: Tools) -> None:
        labels.append(next((label for label in tools.labels if label in LABELS), None))

    entry = replace(REGISTRY["sort"], name="ask", function=ask, fields=NLI.fields)
    monkeypatch.setitem(REGISTRY, "ask", entry)
    pairs = [Pair("A", "b", "neutral"), Pair("A", "b"), Pair("A", "b", "non-entailment")]
    apply("ask", pairs, NLI, 0, Options(), no_reading, ["entailment"] * 2 + ["contradiction"])
    apply("ask", pairs[1:2], NLI, 0, Options(), no_reading)
    assert labels == ["neutral", "entailment", "contradiction", None]


def test_what_is_missing_is_said_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = replace(REGISTRY["sort"], name="far", needs=("wordnet",))
    monkeypatch.setitem(REGISTRY, "far", entry)
    resources = {resource: lambda task: "" for resource in RESOURCES}
    resources |= {"wordnet": lambda task: "Get it so."}
    monkeypatch.setattr("probe.transforms.registry.RESOURCES", resources)
    assert missing(entry) == "Get it so."
    assert "sort" in ready(NLI) and "far" not in ready(NLI)
    with pytest.raises(Unavailable, match=r"^far cannot run here: Get it so\.$"):
        several("sort+far", PAIR)
