"""The stack decoder against an exhaustive search; distortion."""

import math
from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import permutations, product
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe import pbsmt as translate
from probe.pbsmt import (
    EMPTY,
    ESTIMATE,
    START,
    UNKNOWN_SCORE,
    DecoderWeights,
    Search,
    SourceText,
    Stack,
    Translation,
)
from tests.support.models.toy_ngrams import TOY, log10_of
from tests.support.property_settings import STEADY

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
