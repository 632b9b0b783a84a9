"""Near duplicates between two sets of texts: MinHash with bands, then the exact Jaccard index.

A text counts as the set of its pairs of words beside each other (shingles), of each field apart.
Signatures (Broder 1997) that share a band are compared (Leskovec, Rajaraman and Ullman 2020,
chapter 3): no text is compared with all others.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HASHES = 64
RECALL = 0.99
"""How probably a pair that is as alike as is asked for shares a band."""
MOST_CANDIDATES = 8
"""Texts with the same band that are compared with one; so that a set of texts from one template
costs no more than another."""


class Ragged(NamedTuple):
    """Values row by row: those of row i are values[starts[i] : starts[i + 1]]."""

    values: NDArray[np.int32]
    starts: NDArray[np.int64]

    def rows(self) -> NDArray[np.int64]:
        """Return the row of each value."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


class Pairing(NamedTuple):
    """A text of the first set, one of the second, and their Jaccard index."""

    first: int
    second: int
    similarity: float


class _Shingles(NamedTuple):
    values: NDArray[np.uint64]
    starts: NDArray[np.int64]

    def of(self, row: int) -> NDArray[np.uint64]:
        return self.values[self.starts[row] : self.starts[row + 1]]


def near_duplicates(
    first: Sequence[Ragged], second: Sequence[Ragged], similarity: float, seed: int = 0
) -> list[Pairing]:
    """Return for each text of the second set the text of the first that is most like it, if any is.

    The sets are words as numbers, field by field. A pair as alike as `similarity` is found with a
    probability of `RECALL` or more, unless its bands have many other texts.
    """
    known, asked = _shingles(first), _shingles(second)
    rows = _rows_by_band(similarity)
    rng = np.random.default_rng(seed)
    factors = rng.integers(1, 2**63, HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    terms = rng.integers(0, 2**63, HASHES, dtype=np.uint64)
    candidates = [set[int]() for _ in range(len(asked.starts) - 1)]
    for band in range(0, HASHES - rows + 1, rows):
        several = slice(band, band + rows)
        keys, others = (_band(each, factors[several], terms[several]) for each in (known, asked))
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        low, high = (np.searchsorted(ordered, others, side) for side in ("left", "right"))
        for at in np.flatnonzero(low < high).tolist():
            candidates[at].update(
                order[low[at] : min(high[at], low[at] + MOST_CANDIDATES)].tolist()
            )
    found = []
    for at, several_of in enumerate(candidates):
        text = asked.of(at)
        alike = [(_jaccard(text, known.of(other)), -other) for other in several_of]
        best, other = max(alike, default=(0.0, 0))
        if best >= similarity:
            found.append(Pairing(-other, at, best))
    return found


def _rows_by_band(similarity: float) -> int:
    """Return the most rows of a band with which pairs that are as alike are found."""
    sizes = [
        rows
        for rows in (1, 2, 4, 8, 16)
        if 1 - (1 - similarity**rows) ** (HASHES // rows) >= RECALL
    ]
    return max(sizes, default=1)


def _shingles(fields: Sequence[Ragged]) -> _Shingles:
    """Return the different pairs of words of each text, with its two ends, field by field."""
    rows, keys = list[NDArray[np.int64]](), list[NDArray[np.uint64]]()
    for place, field in enumerate(fields):
        row, word = field.rows(), field.values.astype(np.uint64) + np.uint64(1)
        begins = np.ones(len(row), dtype=bool)
        begins[1:] = row[1:] != row[:-1]
        before = np.where(begins, 0, np.roll(word, 1)).astype(np.uint64)
        last = np.flatnonzero(np.roll(begins, -1))
        tag = np.uint64(place) << np.uint64(62)
        rows += [row, row[last]]
        keys += [before << np.uint64(31) | word | tag, word[last] << np.uint64(31) | tag]
    row, key = np.concatenate(rows), np.concatenate(keys)
    order = np.lexsort((key, row))
    row, key = row[order], key[order]
    new = np.ones(len(row), dtype=bool)
    new[1:] = (row[1:] != row[:-1]) | (key[1:] != key[:-1])
    counts = np.bincount(row[new], minlength=len(fields[0].starts) - 1)
    return _Shingles(key[new], np.concatenate([[0], np.cumsum(counts)]))


def _band(
    shingles: _Shingles, factors: NDArray[np.uint64], terms: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return a number for each text, equal where the smallest of each hash are: (texts,).

    Multiply-shift hashing (Dietzfelbinger et al. 1997): the upper half of a product of 64 bits.
    """
    joined = np.zeros(len(shingles.starts) - 1, dtype=np.uint64)
    for factor, term in zip(factors, terms, strict=True):
        hashes = (shingles.values * factor + term) >> np.uint64(32)
        least = np.minimum.reduceat(hashes, shingles.starts[:-1])
        joined = (joined ^ least) * np.uint64(0x9E3779B97F4A7C15)
    return joined


def _jaccard(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> float:
    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (len(first) + len(second) - common)
