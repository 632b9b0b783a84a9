"""A reading with given scores: sub-words and their importance as a test writes them down."""

from collections.abc import Sequence
from dataclasses import dataclass

from probe.transforms.registry import Scored

TEXT = """
[UNK] a man is here men walk ##s s the cat dog not who what this that we run ##ning
"""
WORDS = TEXT.split()


def scored(tokens: Sequence[str], scores: Sequence[float]) -> tuple[Scored, ...]:
    """Return the sub-words with these scores; where they stand in the text does not matter."""
    pairs = zip(tokens, scores, strict=True)
    return tuple(Scored(token, WORDS.index(token), 0, 0, score) for token, score in pairs)


@dataclass(frozen=True)
class Given:
    """Reads with a vocabulary of `WORDS`; an id beyond it reads as its number."""

    premise: tuple[Scored, ...] = ()
    hypothesis: tuple[Scored, ...] = ()
    words: tuple[str, ...] = ()

    def tokens(self, field: str) -> tuple[Scored, ...]:
        """Return the sub-words of a side."""
        return {"premise": self.premise, "hypothesis": self.hypothesis}[field]

    def decode(self, ids: Sequence[int]) -> str:
        """Join, endings without a space."""
        tokens = [WORDS[id_] if id_ < len(WORDS) else str(id_) for id_ in ids]
        return " ".join(tokens).replace(" ##", "").removeprefix("##")

    def encode(self, text: str) -> list[int]:
        """Read each word whole where it is known, else as a word and an ending."""
        return [id_ for word in text.split() for id_ in self._word(word)]

    def _word(self, word: str) -> list[int]:
        if word in WORDS:
            return [WORDS.index(word)]
        cuts = [(word[:at], "##" + word[at:]) for at in range(1, len(word))]
        known = [cut for cut in cuts if cut[0] in WORDS and cut[1] in WORDS]
        return [WORDS.index(part) for part in known[0]] if known else [0]

    def vocabulary(self) -> list[int]:
        """Return the ids of the words that may be drawn."""
        return [WORDS.index(word) for word in self.words]
