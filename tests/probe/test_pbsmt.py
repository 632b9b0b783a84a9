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

from probe.pbsmt import (
    EMPTY,
    MAX_PART_WORDS,
    START,
    UNKNOWN_SCORE,
    DecoderWeights,
    Search,
    Stack,
    missing,
    parse_table,
    parts,
    translation,
    translator,
)
from probe.tasks.nli import LABELS
from tests.support.cases import each
from tests.support.models.toy_ngrams import TOY, log10_of
from tests.support.property_settings import STEADY

WORDS = ("a", "b", "c", "</s>")


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
    [("<s> a", "<s> a"), ("a b", "a b"), ("b a", "a"), ("b", "b"), ("</s>", ""), ("", "")],
)
def test_a_context_is_what_of_a_state_still_counts(state: str, context: str) -> None:
    assert TOY.context(state) == context
    cost, rest = TOY.back_off(context)
    for word in WORDS:
        assert TOY.step(context, word) == TOY.step(state, word)
        if context and word not in TOY.contexts[context]:
            log10, after = TOY.step(rest, word)
            assert TOY.step(context, word) == (pytest.approx(cost + log10), after)


LINES = [
    "a\t-0.5\ta\t-0.9\tb b\n",
    "b\t-0.4\tb\t-0.7\ta\n",
    "a b\t-0.3\tb a\t-1.1\ta\n",
    "c\t-0.6\tc\n",
    "b c\t-1.0\tc b\n",
]
FREE = DecoderWeights(language_model=0.5, distortion=0.3, distortion_limit=6)
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=9)


def search(words: Sequence[str], weights: DecoderWeights = FREE, beam_size: int = 10_000) -> Search:
    """Return the search for a text's translation by the lines."""
    return Search(words, parse_table(LINES), TOY, weights, beam_size)


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
    made, score = search(words, weights).run()
    assert score == pytest.approx(exhaustive(words, weights))
    assert "d" not in words or made.count("d") == words.count("d")  # what is unknown is copied


@STEADY
@given(TEXTS, st.integers(1, 12), st.sampled_from([FREE, DecoderWeights(1.5, 0.1, 2, -0.5)]))
def test_leaving_out_what_no_stack_would_extend_changes_nothing(
    words: list[str], beam_size: int, weights: DecoderWeights
) -> None:
    unpruned, stacks = search(words, weights), [Stack(math.inf) for _ in range(len(words) + 1)]
    stacks[0].partials[0, 0, START] = EMPTY
    for stack in stacks[:-1]:  # which keep everything until their best are extended
        for partial in nlargest(beam_size, stack.partials.values(), key=itemgetter(0)):
            unpruned._extend(partial, stacks)
    made = search(words, weights, beam_size).run()
    assert made == unpruned._best(stacks[-1])
    assert made[1] <= search(words, weights).run()[1] + 1e-9  # a narrow one finds nothing better


@each("words", [["a"] * 500, (["a"] * 50 + ["."]) * 9, ["."] * 200, []])
def test_the_parts_of_a_text_are_the_text(words: list[str]) -> None:
    cut = list(parts(words))
    assert [word for part in cut for word in part] == words
    assert all(0 < len(part) <= MAX_PART_WORDS for part in cut)
    sentence = ["a"] * 24 + ["."]
    assert [len(part) for part in parts(sentence * 3)] == [50, 25]


def test_a_translation_is_remembered_for_its_label_words_and_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words, weights = ("rare", "words", "of", "this", "test"), DecoderWeights(0.8, 0.1, 6)
    made = translation("neutral", words, weights)
    assert list(made) == translator("neutral").translate(words, weights)

    def again(self: Search) -> None:
        raise AssertionError("it was searched for again")

    monkeypatch.setattr(Search, "run", again)
    assert translation("neutral", words, weights) == made
    for label, others in (("neutral", DecoderWeights(0.5, 0.1, 6)), ("entailment", weights)):
        with pytest.raises(AssertionError, match="again"):
            translation(label, words, others)


def test_missing_tables_are_named(tmp_path: Path) -> None:
    assert missing(LABELS) == ""
    for name in ("neutral.phrases", "neutral.arpa", "contradiction.phrases", "contradiction.arpa"):
        (tmp_path / f"{name}.gz").touch()
    assert missing(LABELS, tmp_path).startswith(
        f"{tmp_path} lacks entailment.phrases.gz, entailment.arpa.gz; they come with a clone"
    )


@each("label", LABELS)
def test_the_tables_that_come_with_the_app_are_whole(label: str) -> None:
    model, table = translator(label).language_model, translator(label).table
    words = [ngram for ngram in model.probabilities if " " not in ngram and ngram != START]
    for state in ("", "<s>", "the"):  # three decimals of each logarithm are kept
        total = sum(10 ** model.step(state, word)[0] for word in words)
        assert total == pytest.approx(1, abs=0.005)
    for source in [*table.lines][::10]:
        scores = [score for words, score in table.phrases(source) if words and all(words)]
        assert scores and len(scores) == len(table.phrases(source))
        assert scores == sorted(scores, reverse=True)
