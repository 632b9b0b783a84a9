"""Phrase-based translation: n-grams, the search, and texts of any length."""

import math
from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import permutations, product
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe import pbsmt
from probe import pbsmt as translate
from probe.pbsmt import (
    EMPTY,
    ESTIMATE,
    MAX_PART_WORDS,
    START,
    UNKNOWN_SCORE,
    DecoderWeights,
    Search,
    SourceText,
    Stack,
    Translation,
    missing,
    parts,
    translation,
    translator,
)
from probe.tasks.nli import LABELS
from probe.tasks.task import Label
from tests.support.cases import each
from tests.support.models.toy_ngrams import ARPA, TOY, log10_of
from tests.support.property_settings import STEADY


@each(
    ("state", "word", "probability", "after"),
    [
        ("", "a", -0.7, "a"),  # a word alone
        ("<s>", "a", -0.4, "<s> a"),  # a pair that is there
        ("<s> a", "b", -0.05, "a b"),  # three words that are there
        ("a b", "a", -0.15 - 0.8, "b a"),  # back off once
        ("a b", "b", -0.15 - 0.2 - 0.9, "b"),  # back off twice
        ("b a", "</s>", -0.3 - 1.0, "</s>"),  # a context without a weight
        ("<s> a", "c", -0.1 - 0.3 - 1.5, ""),  # an unknown word leaves no context
    ],
)
def test_a_probability_is_backed_off_as_by_hand(
    state: str, word: str, probability: float, after: str
) -> None:
    assert TOY.step(state, word) == (pytest.approx(probability), after)


@each(
    ("state", "context"),
    [("<s> a", "<s> a"), ("a b", "a b"), ("b a", "a"), ("</s>", ""), ("", "")],
)
def test_a_context_is_what_of_a_state_still_counts(state: str, context: str) -> None:
    assert TOY.context(state) == context
    for word in ("a", "b", "c", "</s>"):
        assert TOY.step(context, word) == TOY.step(state, word)


@each(
    ("context", "behind"),
    [("", {"<unk>", "<s>", "</s>", "a", "b"}), ("<s>", {"a"}), ("b", {"</s>", "a"}), ("a b", {})],
)
def test_a_context_has_the_words_that_the_model_has_behind_it(
    context: str, behind: set[str]
) -> None:
    assert set(TOY.contexts[context]) == set(behind)


@each("context", ["<s> a", "a b", "a", "b"])
def test_a_word_that_is_not_behind_a_context_has_what_it_has_behind_the_rest(context: str) -> None:
    cost, rest = TOY.back_off(context)
    for word in {"a", "b", "c", "</s>"}.difference(TOY.contexts[context]):
        log10, state = TOY.step(rest, word)
        assert TOY.step(context, word) == (pytest.approx(cost + log10), state)


def test_many_words_behind_a_context_are_a_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate, "FEW", 1)
    model = translate.parse_arpa(ARPA.splitlines(keepends=True))
    assert {context: set(words) for context, words in model.contexts.items()} == {
        context: set(words) for context, words in TOY.contexts.items()
    }
    assert isinstance(model.contexts["b"], frozenset)


def test_the_order_is_that_of_the_longest_grams() -> None:
    assert TOY.order == 3


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


@pytest.fixture(scope="module")
def by_kenlm(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Return KenLM's own reading of the toy model."""
    kenlm = pytest.importorskip("kenlm", reason="kenlm is for training only")
    path = tmp_path_factory.mktemp("lm") / "toy.arpa"
    path.write_text(ARPA)
    return kenlm.Model(str(path))


@STEADY
@given(words=WORDS)
def test_kenlm_gives_sentences_the_same_probability(by_kenlm: object, words: list[str]) -> None:
    whole = by_kenlm.score(" ".join(words))  # type: ignore[attr-defined]  # kenlm has no types
    assert log10_of(words, TOY) == pytest.approx(whole, abs=1e-4)


LINES = [
    "a\t-0.5\ta\t-0.9\tb b\n",
    "b\t-0.4\tb\t-0.7\ta\n",
    "a b\t-0.3\tb a\t-1.1\ta\n",
    "c\t-0.6\tc\n",
    "b c\t-1.0\tc b\n",
]
SMALL = translate.parse_table(LINES)
FREE = DecoderWeights(language_model=0.5, distortion=0.3, distortion_limit=6)


def segmentations(words: Sequence[str], start: int = 0) -> Iterator[list[tuple[int, int]]]:
    """Yield every segmentation of words into spans of one or two."""
    if start == len(words):
        yield []
    for end in range(start + 1, min(start + 2, len(words)) + 1):
        for rest in segmentations(words, end):
            yield [(start, end), *rest]


def within_limit(order: Sequence[tuple[int, int]], limit: int) -> bool:
    """Whether every jump is short enough, and every gap left behind is near enough."""
    last_end, uncovered = 0, {word for start, end in order for word in range(start, end)}
    for start, end in order:
        gap = min(uncovered)
        if abs(start - last_end) > limit or (start > gap and end - gap > limit):
            return False
        last_end, uncovered = end, uncovered - set(range(start, end))
    return True


def options(words: Sequence[str], start: int, end: int) -> list[tuple[float, list[str]]]:
    """Return scores and translations of a span, read from the lines themselves."""
    source = " ".join(words[start:end])
    for line in LINES:
        first, *cells = line.strip().split("\t")
        if first == source:
            return [(float(s), t.split()) for s, t in zip(cells[::2], cells[1::2], strict=True)]
    return [(UNKNOWN_SCORE, [source])] if end == start + 1 else []


def exhaustive(words: Sequence[str], weights: DecoderWeights) -> float:
    """Return the best score there is, by trying everything."""
    best = -math.inf
    for cut in segmentations(words):
        for order in permutations(cut):
            if not within_limit(order, weights.distortion_limit):
                continue
            starts = [0, *(end for _, end in order[:-1])]
            jumps = sum(abs(s - last) for (s, _), last in zip(order, starts, strict=True))
            for choice in product(*(options(words, *span) for span in order)):
                text = [word for _, part in choice for word in part]
                total = sum(score for score, _ in choice) - weights.distortion * jumps
                total += weights.word * len(text) + weights.phrase * len(order)
                total += weights.language_model * math.log(10) * log10_of(text, TOY)
                best = max(best, total)
    return best


@STEADY
@given(
    st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=5),
    st.builds(
        DecoderWeights,
        st.sampled_from([0.0, 0.5, 1.5]),
        st.sampled_from([0.0, 0.3]),
        st.integers(0, 4),
        st.sampled_from([1.0, -0.5]),
        st.sampled_from([0.2, -1.0]),
    ),
)
def test_a_wide_search_finds_what_trying_everything_finds(
    words: list[str], weights: DecoderWeights
) -> None:
    translation = Search(SourceText(words, SMALL, TOY, weights), beam_size=10_000).run()
    assert translation.score == pytest.approx(exhaustive(words, weights))


def unpruned(search: Search) -> Translation:
    """Search with stacks that keep everything until their best are extended."""
    stacks = [Stack(math.inf) for _ in range(len(search.source.words) + 1)]
    stacks[0].partials[0, 0, START] = EMPTY
    for stack in stacks[:-1]:
        for partial in nlargest(
            search.beam_size, stack.partials.values(), key=itemgetter(ESTIMATE)
        ):
            search._extend(partial, stacks)
    return search._best(stacks[-1].partials.values())


@STEADY
@given(
    st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=9),
    st.integers(1, 12),
    st.sampled_from([FREE, DecoderWeights(1.5, 0.1, 2, -0.5)]),
)
def test_leaving_out_what_no_stack_would_extend_changes_nothing(
    words: list[str], beam_size: int, weights: DecoderWeights
) -> None:
    pruned = Search(SourceText(words, SMALL, TOY, weights), beam_size).run()
    whole = unpruned(Search(SourceText(words, SMALL, TOY, weights), beam_size))
    assert pruned == whole


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-5, 5))), st.integers(1, 4))
def test_the_floor_of_a_stack_is_reached_by_as_many_as_are_extended(
    added: list[tuple[int, float]], beam_size: int
) -> None:
    stack, estimates = Stack(beam_size), dict[int, float]()
    for key, estimate in added:
        before = estimates.get(key)
        if before is None or before < estimate:
            stack.count(estimate, before)
            estimates[key] = estimate
        reached = sum(estimate >= stack.floor for estimate in estimates.values())
        assert stack.floor == -math.inf or reached >= beam_size


@STEADY
@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=9))
def test_a_narrow_search_finds_nothing_better(words: list[str]) -> None:
    wide = Search(SourceText(words, SMALL, TOY, FREE), beam_size=10_000).run()
    assert Search(SourceText(words, SMALL, TOY, FREE), beam_size=1).run().score <= wide.score + 1e-9


def reordered(words: Sequence[str], weights: DecoderWeights) -> list[str]:
    """Translate with a table that knows no word: only the order can change."""
    return (
        Search(SourceText(words, translate.parse_table([]), TOY, weights), beam_size=100)
        .run()
        .words
    )


def test_unknown_words_are_copied_in_their_order() -> None:
    assert reordered(["zu", "yo", "xi"], FREE) == ["zu", "yo", "xi"]


def test_with_a_limit_of_nothing_the_order_stays() -> None:
    assert reordered(["b", "a"], DecoderWeights(9.0, 0.0, 0)) == ["b", "a"]


def test_a_language_model_that_weighs_enough_changes_the_order() -> None:
    # log10: <s> a b </s> is -.4 -.05 -.2; <s> b a </s> is -.5 -.9 -.8 -.3 -1.0
    assert reordered(["b", "a"], DecoderWeights(9.0, 0.0, 2)) == ["a", "b"]


@STEADY
@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=8, unique=True), st.integers(0, 4)
)
def test_no_word_is_taken_from_farther_than_the_limit(words: list[str], limit: int) -> None:
    source = SourceText(words, translate.parse_table([]), TOY, DecoderWeights(5.0, 0.0, limit))
    search = Search(source, beam_size=50)
    positions = [words.index(word) for word in search.run().words]
    assert sorted(positions) == list(range(len(words)))
    last = 0
    for position in positions:
        assert abs(position - last) <= limit
        last = position + 1


# texts of any length


@each("words", [["a"] * 3, ["a"] * 500, (["a"] * 50 + ["."]) * 9, ["."] * 200])
def test_the_parts_of_a_text_are_the_text(words: list[str]) -> None:
    cut = list(parts(words))
    assert [word for part in cut for word in part] == words
    assert all(0 < len(part) <= MAX_PART_WORDS for part in cut)


def test_a_long_text_is_cut_after_the_last_sentence_end_of_a_part() -> None:
    sentence = ["a"] * 24 + ["."]
    assert [len(part) for part in parts(sentence * 3)] == [50, 25]


def test_a_text_without_words_has_no_parts() -> None:
    assert list(parts([])) == []


def test_a_translation_is_remembered_for_its_label_words_and_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words, weights = ("rare", "words", "of", "this", "test"), DecoderWeights(0.8, 0.1, 6)
    made = translation("neutral", words, weights)
    assert list(made) == translator("neutral").translate(words, weights)

    def search(self: Search) -> None:
        raise AssertionError("it was searched for again")

    monkeypatch.setattr(Search, "run", search)
    assert translation("neutral", words, weights) == made
    for label, others in (("neutral", DecoderWeights(0.5, 0.1, 6)), ("entailment", weights)):
        with pytest.raises(AssertionError, match="again"):
            translation(label, words, others)


# the tables that come with the app


def test_the_tables_of_every_label_are_there() -> None:
    assert pbsmt.missing(LABELS) == ""


def test_missing_tables_are_named(tmp_path: Path) -> None:
    for label in ("neutral", "contradiction"):
        (tmp_path / f"{label}.phrases.gz").touch()
        (tmp_path / f"{label}.arpa.gz").touch()
    assert missing(LABELS, tmp_path).startswith(
        f"{tmp_path} lacks entailment.phrases.gz, entailment.arpa.gz; they come with a clone"
    )


@each("label", LABELS)
@each("state", ["", "<s>", "the"])
def test_the_probabilities_of_all_words_add_up_to_one(label: Label, state: str) -> None:
    model = translator(label).language_model
    words = [
        ngram for ngram in model.probabilities if " " not in ngram and ngram != translate.START
    ]
    total = sum(10 ** model.step(state, word)[0] for word in words)
    assert total == pytest.approx(1, abs=0.005)  # three decimals of each logarithm are kept


@each("label", LABELS)
def test_every_line_of_a_table_is_read(label: Label) -> None:
    table = translator(label).table
    for source in table.lines:
        phrases = table.phrases(source)
        assert phrases
        scores = [phrase.score for phrase in phrases]
        assert scores == sorted(scores, reverse=True)
        assert all(phrase.words and all(phrase.words) for phrase in phrases)
