"""What holds for every transform, for chains, and for any text at all."""

import random
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise, permutations

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
from probe.transforms.families.importance import kept_count, kept_units, units
from probe.transforms.registry import RESOURCES, Scored, SubWords, Tools, applies_of, missing, ready
from tests.support.cases import each
from tests.support.global_state import leaves_global_chance_alone
from tests.support.models.scored_tokens import FixedReader, scored
from tests.support.models.tiny_models import shared
from tests.support.property_settings import STEADY

NAMES = [name for name, entry in REGISTRY.items() if entry.suits(NLI)]
PAIR = Pair("The old man walks to the green park.", "The man isn't happy!", "neutral", "r1")
OTHER = Pair("She reads a letter.", "She writes some music now.", "entailment", "r2")
ODD = {
    "empty": "",
    "blank": " \t\n ",
    "one token": "no",
    "two thousand tokens": "the man walks . " * 500,
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


def words_only(name: str, text: str, seed: int = 0) -> Result:
    """Apply a word-level transform to a hypothesis."""
    return apply_once(name, Pair("A man sat.", text), seed)


def apply_once(name: str, pair: Pair, seed: int = 0, options: Options = Options()) -> Result:
    """Apply a word-level transform to a pair; return its first result."""
    return apply(name, [pair], NLI, seed, options, no_reading)[0][0]


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
    first, *others = applied(name, [PAIR, OTHER, OTHER])
    assert first == result
    assert [each.example.id for each in (first, *others)] == ["r1", "r2", "r2"]
    assert leaves_global_chance_alone(lambda: applied(name, [PAIR, OTHER]))
    assert all(len(applied(name, [PAIR, OTHER], options=Options(keep=k))) == 2 for k in (0, 0.3, 1))


@each("name", NAMES)
def test_any_text_comes_to_an_end(name: str) -> None:
    for odd, text in ODD.items():
        pairs = [Pair(text, "A man.", None, "1"), Pair("A man.", text, None, "2"), Pair(text, text)]
        for result in applied(name, pairs):
            assert isinstance(result.example.hypothesis, str), odd
            assert result.changed or result.original.hypothesis.split() or not text.split(), odd


@each("name", [n for n in NAMES if REGISTRY[n].level == "word"])
def test_a_long_run_of_marks_takes_no_time(name: str) -> None:
    assert apply_once(name, PAIR).transform == name and "model" not in REGISTRY[name].needs
    for run in (" ", ".", "\t"):
        text = "a." + run * 50_000 + "b"  # minutes, where time grows with the square
        assert apply_once(name, Pair(text, text)).original.premise == text


@each("name", NAMES)
def test_what_cannot_be_done_says_what_is_needed(name: str) -> None:
    result = applied(name, [Pair("", "")])[0]
    assert result.note == f"{name} needs {applies_of(REGISTRY[name], NLI)}"
    assert not result.changed


@each("name", NAMES)
def test_the_gold_label_follows_the_rule(name: str) -> None:
    rule = REGISTRY[name].rule
    for label in LABELS:
        pair, reader = replace(PAIR, gold=label), ImportanceReader(shared(), Options())
        for result in apply(name, [pair], NLI, 0, Options(), reader)[0]:
            if rule == COMPUTED:
                assert result.gold in LABELS
            elif result.changed:
                assert result.gold == rule(label)
            assert [(s.transform, s.before, s.example) for s in result.steps] == [
                (name, pair, result.example)
            ]
    result = applied(name, [Pair("A man sat.", "He was here.")])[0]
    assert result.gold == rule(None) or rule == COMPUTED


def test_every_transform_but_distractors_suits_nli() -> None:
    others = {entry.family for name, entry in REGISTRY.items() if name not in NAMES}
    assert others == {"distractor"}
    sub_word = [entry.needs for entry in REGISTRY.values() if entry.level == "sub-word"]
    assert set(sub_word) == {("model",)}


# flags


CLUSTERS = "ne\u0301e\u0301 re\u0301sume\u0301 किताब पढ़ रहा ที่นี่ 你好世界 👩‍👩‍👧 👍🏽 ok!"


@each("name", NAMES)
def test_no_character_is_split(name: str) -> None:
    pairs = [Pair(CLUSTERS, "A man sat.", None, str(at)) for at in range(5)]
    pairs += [Pair("A man sat.", CLUSTERS, None, str(at)) for at in range(5)]
    if REGISTRY[name].level == "word":  # a tiny vocabulary knows none of these
        options = Options(other_languages="count")
        for result in applied(name, pairs, options=options):
            made = clusters(result.example.premise + " " + result.example.hypothesis)
            assert {each for each in made if len(each) > 1} <= set(clusters(CLUSTERS)), result


def test_sub_words_of_one_character_stay_together() -> None:
    text, places = "ok 👍 no", [(0, 2), (3, 4), (3, 4), (3, 4), (5, 7)]
    scores = [0.5, 0.1, 0.0, 0.9, 0.2]
    tokens = [Scored("t", at, *place, scores[at]) for at, place in enumerate(places)]
    assert [[token.id for token in unit] for unit in units(text, tokens)] == [[0], [1, 2, 3], [4]]
    tools = Tools(random.Random(0), Options(keep=0.3))
    assert kept_units(units(text, tokens), tools) == {1}


@each(
    ("text", "expected"),
    [
        ("我爱你。", "你我爱。"),
        ("iPhone好", "iphone好"),
        ("वह घर है।", "घर वह है ।"),
    ],
)
def test_a_script_without_blanks_is_sorted_by_character(text: str, expected: str) -> None:
    result = words_only("sort", text)
    assert result.example.hypothesis == expected
    assert ("each character counts" in result.note) == ("।" not in text)


@each(
    ("name", "hypothesis"),
    [
        ("sort", "A cat sat."),
        ("reverse", "Never say never."),
        ("reverse", "No."),
        ("shuffle", "Ha ha!"),
        ("reverse+reverse", "He can't say who."),
        ("copysort", "a MAN sat."),
    ],
)
def test_the_same_words_are_no_change(name: str, hypothesis: str) -> None:
    assert not words_only(name, hypothesis).changed


def test_every_token_kept_or_a_single_one_is_no_change() -> None:
    for name in ("drop", "repeat", "replace"):
        assert not applied(name, [PAIR], options=Options(keep=1.0))[0].changed, name
        assert not applied(name, [Pair("A man sat.", "no")])[0].changed, name


def test_a_clause_more_is_a_change() -> None:
    assert words_only("negation", "He sat.").changed


def test_one_inexact_link_makes_the_chain_inexact() -> None:
    result = words_only("shuffle+negation", "Ha ha!")
    assert not result.exact
    assert "bigrams" in result.note


def test_a_result_names_what_differs_from_the_defaults() -> None:
    options = Options(sign="gupta", pin=(".",), by_id=True, draw="paper_code")
    assert Options().variant == "safe"
    assert options.variant == "gupta+by_id+draw=paper_code+pin=paper_code"


# chance


def test_a_stream_of_chance_belongs_to_the_row() -> None:
    text = "one two three four five six seven eight"
    rows = [Pair("A man sat.", text, None, str(n)) for n in range(8)]
    orders = [
        r.example.hypothesis for (r,) in apply("shuffle", rows, NLI, 0, Options(), no_reading)
    ]
    assert len(set(orders)) > 4


def test_another_seed_gives_another_order() -> None:
    text = "one two three four five six seven eight"
    assert len({words_only("shuffle", text, seed).example.hypothesis for seed in range(8)}) > 4


# chains


def test_a_chain_is_its_links_one_after_another() -> None:
    dropped = applied("drop", [PAIR])[0].example
    by_hand = sorted(tokenise(dropped.hypothesis.lower()))
    mark = [word for word in by_hand if word in (".", "!")]
    assert len(mark) <= 1
    words = [word for word in by_hand if word not in mark]
    result = applied("drop+sort", [PAIR])[0]
    assert result.example.hypothesis == " ".join(words + mark)
    assert [step.example.hypothesis for step in result.steps] == [
        dropped.hypothesis,
        result.example.hypothesis,
    ]


def test_a_later_link_reads_the_text_the_earlier_made() -> None:
    reversed_ = applied("reverse", [PAIR])[0].example
    assert applied("reverse+drop", [PAIR])[0].example == applied("drop", [reversed_])[0].example


def test_a_link_that_cannot_be_done_is_passed_over() -> None:
    result = apply_once("copysort+negation", Pair("", "He sat."))
    assert result.example.hypothesis == "He sat and false is not true."
    assert result.note == "copysort needs a word in the premise"
    assert [step.example.hypothesis for step in result.steps] == [
        "He sat.",
        result.example.hypothesis,
    ]
    assert [step.note for step in result.steps] == ["copysort needs a word in the premise", ""]


def test_a_chain_has_a_step_a_link() -> None:
    assert len(words_only("sort+reverse+negation", "He sat here.").steps) == 3


@each("name", ["word_overlap+sort", "sort+word_overlap", "sort+drop"])
def test_one_destroyed_link_leaves_no_gold_label(name: str) -> None:
    assert rule_of(name) is UNDEFINED


def test_links_that_keep_the_label_keep_it_together() -> None:
    assert rule_of("word_overlap+length_mismatch") is KEEP


@each(
    ("name", "expected"),
    [
        ("negation", True),
        ("negation+spelling", True),
        ("reverse", False),
        ("negation+reverse", False),
    ],
)
def test_gold_is_left_where_each_link_leaves_it(name: str, expected: bool) -> None:
    assert leaves_gold(name) is expected


def test_what_a_model_has_to_choose_for_leaves_nothing_to_learn() -> None:
    assert not any(
        leaves_gold(name) for name, transform in REGISTRY.items() if "model" in transform.needs
    )


def test_a_chain_is_compared_with_the_default_of_any_link() -> None:
    assert default_of("copysort+reverse", NLI) == "entailment"
    assert default_of("drop+copyone", NLI) == "entailment"
    assert default_of("sort+reverse", NLI) is None


def test_spaces_around_the_plus_are_allowed() -> None:
    assert [link.name for link in chain(" drop + sort ")] == ["drop", "sort"]


@each("name", ["srot", "", "sort,drop"])
def test_an_unknown_name_is_answered_with_those_there_are(name: str) -> None:
    with pytest.raises(UnknownTransform, match=r"^there is no transform '.*'; there are: \w+, "):
        chain(name)


@each("name", ["sort+", "+sort", "sort++drop"])
def test_a_plus_needs_a_transform_on_either_side(name: str) -> None:
    with pytest.raises(UnknownTransform, match="joins nothing: a transform belongs on either side"):
        chain(name)


@each(
    ("share", "n", "count"),
    [(0.5, 4, 2), (0.5, 5, 3), (0.55, 20, 11), (0.07, 100, 7), (0.0, 9, 0), (1.0, 9, 9)],
)
def test_the_kept_are_the_share_rounded_up(share: float, n: int, count: int) -> None:
    assert kept_count(share, n) == count


# any text at all

LOOSE = st.text(max_size=40)
WORD = st.sampled_from(
    ["a", "b", "C", "can't", "he's", "well-known", "12", "1,000", "%", ",", "naïve", "cannot"]
)
MARK = st.sampled_from(["", ".", "!", "?"])
SENTENCE = st.builds(
    lambda words, mark: " ".join(words) + mark, st.lists(WORD, min_size=1, max_size=9), MARK
)


def without_mark(tokens: list[str]) -> list[str]:
    """Return the tokens without a final pinned mark."""
    return tokens[:-1] if tokens and tokens[-1] in ".!?" else tokens


@STEADY
@given(SENTENCE)
def test_sort_is_a_sorted_permutation(text: str) -> None:
    after = without_mark(words_only("sort", text).example.hypothesis.split(" "))
    assert all(word <= following for word, following in pairwise(after))
    assert Counter(after) == Counter(without_mark(tokenise(text.lower())))


@STEADY
@given(SENTENCE)
def test_reverse_twice_is_the_tokens_again(text: str) -> None:
    once = words_only("reverse", text).example.hypothesis
    assert words_only("reverse", once).example.hypothesis.split(" ") == tokenise(text.lower())


@STEADY
@given(SENTENCE, st.integers())
def test_shuffle_is_a_permutation(text: str, seed: int) -> None:
    after = words_only("shuffle", text, seed).example.hypothesis.split(" ")
    before = tokenise(text.lower())
    assert Counter(after) == Counter(before)
    if before[-1] in (".", "!", "?"):
        assert after[-1] == before[-1]


LETTERS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6)


def fewest_bigrams(words: list[str], mark: str) -> int:
    """Try every order and count the bigrams of the original that the best one keeps."""
    tail = [mark] if mark else []
    before = list(pairwise(words + tail))
    orders = [list(pairwise([*order, *tail])) for order in permutations(words)]
    return min(sum(bigram in before for bigram in order) for order in orders)


@STEADY
@given(LETTERS, MARK, st.integers(0, 9))
@example(["a", "a", "b"], "", 0)
@example(["a", "b", "a", "b"], ".", 0)
@example(["a", "a", "b", "b"], "", 1)
@example(["a", "b", "c", "d", "e", "f"], "?", 2)
def test_shuffle_keeps_no_bigram_where_that_can_be(words: list[str], mark: str, seed: int) -> None:
    result = words_only("shuffle", " ".join(words) + mark, seed)
    before = list(pairwise(words + ([mark] if mark else [])))
    after = list(pairwise(result.example.hypothesis.split(" ")))
    fewest = fewest_bigrams(words, mark)
    assert sum(bigram in before for bigram in after) == fewest
    assert result.exact == (fewest == 0)


@each("seed", range(20))
def test_shuffle_finds_an_order_of_many_repeated_words(seed: int) -> None:
    before = "the dog the cat the man the boy"
    result = words_only("shuffle", before, seed)
    bigrams = (set(pairwise(text.split())) for text in (before, result.example.hypothesis))
    assert result.exact
    assert not set.intersection(*bigrams)


@STEADY
@given(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=7, max_size=16, unique=True))
def test_shuffle_keeps_no_bigram_of_distinct_words(words: list[str]) -> None:
    result = words_only("shuffle", " ".join(words) + ".")
    assert result.exact
    assert not set(pairwise([*words, "."])) & set(pairwise(result.example.hypothesis.split(" ")))


@STEADY
@given(LOOSE, LOOSE, st.sampled_from([n for n in NAMES if REGISTRY[n].level == "word"]))
def test_edits_spell_the_new_text(premise: str, hypothesis: str, name: str) -> None:
    result = apply_once(name, Pair(premise, hypothesis))
    for side in ("premise", "hypothesis"):
        spelt = "".join(edit.text for edit in result.edits[side] if edit.kind != "removed")
        assert "".join(spelt.split()) == "".join(getattr(result.example, side).split())


@STEADY
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=7), st.floats(0, 1))
def test_drop_keeps_no_token_less_important_than_one_it_drops(
    scores: list[float], keep: float
) -> None:
    words = ["a", "man", "is", "here", "men", "walk", "the"][: len(scores)]
    reading = FixedReader(hypothesis=scored(words, scores))
    result = apply("drop", [Pair("x", "y")], NLI, 0, Options(keep=keep), lambda pairs: [reading])[
        0
    ][0]
    if kept_count(keep, len(words)) == 0:  # an empty text is no example
        assert not result.changed
        return
    kept_words = result.example.hypothesis.split()
    worth = dict(zip(words, scores, strict=True))
    assert [word for word in words if word in kept_words] == kept_words  # in order
    assert len(kept_words) >= keep * len(words) - 1e-9
    dropped = [worth[word] for word in words if word not in kept_words]
    kept = [worth[word] for word in kept_words]
    assert not dropped or not kept or max(dropped) <= min(kept)


@STEADY
@given(st.sampled_from(LABELS))
def test_a_destroyed_pair_has_no_gold_label(label: str) -> None:
    pair = Pair("A man sat.", "He was here.", label)
    assert apply_once("sort", pair).gold is None
    assert apply_once("sort", replace(pair, hypothesis="")).gold is None  # though nothing changed


@each("name", ["drop", "repeat"])
def test_a_text_of_signs_that_the_model_does_not_know_is_not_emptied(name: str) -> None:
    (result,) = applied(name, [Pair("A man sat.", "\N{CAT} \N{DOG} \N{COW}")])
    assert not result.changed
    assert result.example.hypothesis == "\N{CAT} \N{DOG} \N{COW}"


# several pairs of one

NUMBERS = Pair("Tim has 350 old stamps.", "Tim is glad.", "neutral", "r3")


def several(name: str, pair: Pair) -> tuple[Result, ...]:
    """Apply a word-level transform; all pairs that come of one."""
    return apply(name, [pair], NLI, 0, Options(), no_reading)[0]


def test_several_pairs_are_numbered() -> None:
    results = several("numerical", NUMBERS)
    assert [(result.number, result.of, result.name) for result in results] == [
        (1, 3, "numerical 1/3"),
        (2, 3, "numerical 2/3"),
        (3, 3, "numerical 3/3"),
    ]


def test_a_chain_goes_on_with_each_of_several_pairs() -> None:
    results = several("numerical+negation", NUMBERS)
    assert [result.gold for result in results] == ["entailment", "contradiction", "neutral"]
    assert all("and false is not true" in result.example.hypothesis for result in results)
    assert all(len(result.steps) == 2 for result in results)


def test_a_chain_ends_with_no_more_than_64_pairs_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def triple(pair: Pair, tools: Tools) -> tuple[Pair, ...]:
        return tuple(replace(pair, hypothesis=pair.hypothesis + letter) for letter in "abc")

    monkeypatch.setitem(
        REGISTRY, "triple", replace(REGISTRY["sort"], function=triple, fields=NLI.fields)
    )
    results = several("triple+triple+triple+triple+reverse", PAIR)
    assert len(results) == 64
    assert len({result.example.hypothesis for result in results}) == 64
    assert not results[0].exact
    assert results[0].note == "the first 64 of 81 pairs"


def test_what_is_made_of_a_destroyed_text_has_no_gold_label() -> None:
    for name in ("reverse+shuffleprem", "reverse+numerical", "numerical+reverse"):
        for result in several(name, NUMBERS):
            assert result.gold is None
            assert result.steps[-1].example.gold is None


def test_a_transform_that_cannot_be_done_keeps_the_gold_label() -> None:
    result = apply_once("neghyp", Pair("A man sat.", "", "contradiction"))
    assert (result.changed, result.gold) == (False, "contradiction")


def test_a_label_that_is_not_known_is_the_predicted_one() -> None:
    labels: list[object] = []

    def ask(pair: Pair, tools: Tools) -> Pair:
        labels.append(next((label for label in tools.labels if label in LABELS), None))
        return pair

    with pytest.MonkeyPatch.context() as patch:
        entry = replace(REGISTRY["sort"], name="ask", function=ask, fields=NLI.fields)
        patch.setitem(REGISTRY, "ask", entry)
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
