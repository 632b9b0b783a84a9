"""How well a span answers a question: exact match and F1, as SQuAD's official script has them.

What it does not say, for texts without blanks, is as in MLQA's.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

from probe.graphemes import has_unspaced, pieces
from probe.terms import Term

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = frozenset(string.punctuation)
MEASURES = {
    "em": Term("Exact match", "How often the answer is word for word one of the right ones."),
    "f1": Term(
        "F1",
        "How much the words of the answer and of the nearest right one overlap: the harmonic mean "
        "of the shares of their words that both have.",
    ),
}


def normalised(text: str) -> str:
    """Return a text in lower case, without punctuation, articles and superfluous blanks."""
    bare = "".join(character for character in text.lower() if character not in PUNCTUATION)
    return " ".join(ARTICLES.sub(" ", bare).split())


def same_span(first: str, second: str) -> bool:
    """Whether two answers are the same after normalisation."""
    return normalised(first) == normalised(second)


def words_of(text: str) -> list[str]:
    """Return the words of a text after normalisation.

    Of a script without blanks they are its characters without marks, as in MLQA's scores for
    Chinese (Lewis et al. 2020).
    """
    bare = normalised(text)
    if not has_unspaced(bare):
        return bare.split()
    return [piece for piece in pieces(bare) if piece[0].isalnum()]


def f1(answer: str, reference: str) -> float:
    """Return the F1 of two answers' words, between 0 and 1; 0 where they share none."""
    words, wanted = words_of(answer), words_of(reference)
    shared = sum((Counter(words) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(words), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def best(answer: str, references: Sequence[str], measure: Callable[[str, str], float]) -> float:
    """Return the largest value of a measure over the references, 0 for none."""
    return max((float(measure(answer, reference)) for reference in references), default=0.0)
