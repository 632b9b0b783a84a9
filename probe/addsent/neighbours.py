"""Which of some words stands nearest to a word, by the word vectors of assets/vectors."""

from collections.abc import Collection
from functools import cache

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from probe.first_import import first_import
from probe.settings import ASSETS

VECTORS = ASSETS / "vectors"
NEIGHBOURS = 100
"""How many words are looked at."""


@cache
def _vectors() -> tuple[dict[str, int], NDArray[np.float16]]:
    words = (VECTORS / "words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return (
        {word: row for row, word in enumerate(words)},
        load_file(VECTORS / "words.safetensors")["vectors"],  # (words, size)
    )


def vocabulary() -> Collection[str]:
    """Return the words that have vectors."""
    return _vectors()[0].keys()


def nearest(word: str, others: Collection[str]) -> list[str]:
    """Return the others that have vectors by their Euclidean distance, the nearest first.

    At most `NEIGHBOURS` of them; none where the word itself has no vector, and never the word.
    """
    rows, vectors = _vectors()
    if word not in rows:
        return []
    known = sorted(other for other in others if other in rows and other != word)
    if not known:
        return []
    there = vectors[[rows[other] for other in known]].astype(np.float32)
    distances = np.linalg.norm(there - vectors[rows[word]].astype(np.float32), axis=1)
    return [known[at] for at in np.argsort(distances, kind="stable")[:NEIGHBOURS]]


def shares_stem(first: str, second: str) -> bool:
    """Whether the Lancaster stem of one of two words begins that of the other."""
    one, other = _stem(first.lower()), _stem(second.lower())
    return one.startswith(other) or other.startswith(one)


@cache
def _stem(word: str) -> str:
    with first_import:
        from nltk.stem.lancaster import LancasterStemmer
    return str(LancasterStemmer().stem(word))
