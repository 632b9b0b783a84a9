"""Phrase pairs of an aligned sentence pair."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from probe.pbsmt.train import Link, PhrasePair, extract, phrase_spans
from tests.support.property_settings import STEADY

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)


def consistent(links: set[Link], start: int, end: int, begin: int, stop: int) -> bool:
    """Whether two spans are a phrase pair, by the definition."""
    inside = [start <= i < end and begin <= j < stop for i, j in links]
    touched = [start <= i < end or begin <= j < stop for i, j in links]
    return any(inside) and inside == touched


@STEADY
@given(LINKS, st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))
def test_phrase_pairs_are_those_of_the_definition(
    links: set[Link], source_length: int, target_length: int, max_words: int
) -> None:
    links = {(i, j) for i, j in links if i < source_length and j < target_length}
    spans = product(
        range(source_length),
        range(source_length + 1),
        range(target_length),
        range(target_length + 1),
    )
    expected = [
        (start, end, begin, stop)
        for start, end, begin, stop in spans
        if 0 < end - start <= max_words and 0 < stop - begin <= max_words
        if consistent(links, start, end, begin, stop)
    ]
    assert sorted(phrase_spans(source_length, target_length, links, max_words)) == expected


def test_a_phrase_pair_knows_its_links_from_its_own_starts() -> None:
    pairs = set(extract(["the", "old", "man"], ["a", "man"], {(0, 0), (2, 1)}, 2))
    assert pairs == {
        PhrasePair(("the",), ("a",), ((0, 0),)),
        PhrasePair(("the", "old"), ("a",), ((0, 0),)),
        PhrasePair(("man",), ("man",), ((0, 0),)),
        PhrasePair(("old", "man"), ("man",), ((1, 0),)),
    }
