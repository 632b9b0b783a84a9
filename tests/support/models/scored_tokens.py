"""A transform's work on one example, by a reader with the scores that a test writes down."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task
from probe.transforms import REGISTRY, Options
from probe.transforms.registry import Scored, Tools, missing

TEXT = """
[UNK] a man is here men walk ##s s the cat dog not who what this that we run ##ning
"""
WORDS = TEXT.split()


def scored(tokens: Sequence[str], scores: Sequence[float]) -> tuple[Scored, ...]:
    """Return the sub-words with these scores; their offsets in the text are not used."""
    pairs = zip(tokens, scores, strict=True)
    return tuple(Scored(token, WORDS.index(token), 0, 0, score) for token, score in pairs)


@dataclass(frozen=True)
class FixedReader:
    """A reader with the vocabulary `WORDS`; an id beyond it is decoded as its number."""

    premise: tuple[Scored, ...] = ()
    hypothesis: tuple[Scored, ...] = ()
    words: tuple[str, ...] = ()

    def tokens(self, field: str) -> tuple[Scored, ...]:
        """Return the sub-words of a side."""
        return {"premise": self.premise, "hypothesis": self.hypothesis}[field]

    def decode(self, ids: Sequence[int]) -> str:
        """Join tokens, endings without a space."""
        tokens = [WORDS[id_] if id_ < len(WORDS) else str(id_) for id_ in ids]
        return " ".join(tokens).replace(" ##", "").removeprefix("##")

    def encode(self, text: str) -> list[int]:
        """Return the id of each known word, of other words those of a word and an ending."""
        return [id_ for word in text.split() for id_ in self._word(word)]

    def _word(self, word: str) -> list[int]:
        if word in WORDS:
            return [WORDS.index(word)]
        cuts = [(word[:end], "##" + word[end:]) for end in range(1, len(word))]
        known = [cut for cut in cuts if cut[0] in WORDS and cut[1] in WORDS]
        return [WORDS.index(part) for part in known[0]] if known else [0]

    def loses_letters(self, ids: Sequence[int]) -> bool:
        """Say of no ids that the reader needs their letters."""
        return False

    def vocabulary(self) -> list[int]:
        """Return the ids of the words that may be drawn."""
        return [WORDS.index(word) for word in self.words]


def made(
    name: str,
    example: Any,
    seed: int = 0,
    task: Task = NLI,
    labels: tuple[Label, ...] = (),
    reading: FixedReader | None = None,
    **options: Any,
) -> tuple[tuple[Any, ...], str]:
    """Return what a transform makes of an example, and why that is not exact; skip what lacks."""
    if lacks := missing(REGISTRY[name], task):
        pytest.skip(lacks)
    tools = Tools(random.Random(seed), Options(**options), reading, labels)
    changed = REGISTRY[name].make(example, task, tools)
    return (changed.made, changed.why) if changed else ((), "")
