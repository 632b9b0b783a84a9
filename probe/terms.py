"""What a person reads of a thing that is registered: its title and one sentence on what it is."""

from dataclasses import dataclass
from typing import Protocol


class Titled(Protocol):
    """Whatever has a title and a sentence."""

    @property
    def title(self) -> str:
        """A few words that a newcomer understands."""

    @property
    def summary(self) -> str:
        """One sentence that says what it is."""


@dataclass(frozen=True)
class Term:
    """A title and one sentence that says what it means."""

    title: str
    summary: str


@dataclass(frozen=True)
class Word(Term):
    """A term with an example of it."""

    example: str


def capitalised(words: str) -> str:
    """Return words as they begin a label or a sentence."""
    return words[:1].upper() + words[1:]


def sentence(words: str) -> str:
    """Return words as a sentence: a capital in front and a full stop behind."""
    return f"{capitalised(words).rstrip('.')}."
