"""What a transform is, what it may use, and the registry of all of them."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from probe.errors import TransformError, UnknownTransform
from probe.tasks.label_rules import UNDEFINED, Rule, compose
from probe.tasks.nli import Pair
from probe.tasks.task import Label
from probe.transforms.options import Options

Side = Literal["premise", "hypothesis", "both"]
Level = Literal["word", "sub-word"]
Need = Literal["model", "wordnet", "tagger", "phrases"]


@dataclass(frozen=True)
class Scored:
    """A sub-word of one side, its vocabulary id, where it stands in the text, and its score."""

    token: str
    id: int
    start: int
    end: int
    score: float


class SubWords(Protocol):
    """How a model reads a pair: scored sub-words of each side, and ids turned into text."""

    @property
    def premise(self) -> Sequence[Scored]:
        """The premise's sub-words in order, special tokens left out."""

    @property
    def hypothesis(self) -> Sequence[Scored]:
        """The hypothesis's sub-words in order, special tokens left out."""

    def decode(self, ids: Sequence[int]) -> str:
        """Turn sub-word ids into text."""

    def encode(self, text: str) -> list[int]:
        """Turn text into sub-word ids, without special tokens."""

    def vocabulary(self) -> Sequence[int]:
        """Return the ids of real sub-words: no special, no unused ones."""


Reader = Callable[[Sequence[Pair]], Sequence[SubWords]]


@dataclass(frozen=True)
class Tools:
    """What a transform may use. `subwords` is there for sub-word transforms only.

    `label` is the gold label of the pair as it was given, or else the label predicted for it;
    None where neither is known.
    """

    rng: random.Random
    options: Options
    subwords: SubWords | None = None
    label: Label | None = None

    @property
    def reading(self) -> SubWords:
        """The model's reading of the pair. Raises ValueError where there is no model."""
        if self.subwords is None:
            raise TransformError("this transform reads the pair through a model; choose one")
        return self.subwords


@dataclass(frozen=True)
class Inexact:
    """The best pair that could be made where the rule cannot be met, and why."""

    pair: Pair
    why: str


Made = Pair | Inexact | tuple[Pair, ...] | None
"""One new pair, the nearest to it, several, or None where the transform does not apply."""
Function = Callable[[Pair, Tools], Made]


@dataclass(frozen=True)
class Transform:
    """A transform and its facts.

    `default` is the label its result is compared with instead of the original prediction;
    `applies` says in words what a pair must have; `needs` names what must be there for it to run.
    """

    name: str
    summary: str
    function: Function
    family: str
    rule: Rule
    side: Side
    level: Level
    source: str
    applies: str
    default: Label | None = None
    needs: tuple[Need, ...] = ()


FAMILIES = {
    "lexical": "Word order (Gupta et al.)",
    "gradient": "Token importance (Gupta et al.)",
    "statistical": "Translation (Gupta et al.)",
    "heuristic": "Heuristics (fritz)",
    "stress": "Stress tests (Naik et al.)",
}
"""The families' titles, in the order in which they are shown."""
REGISTRY: dict[str, Transform] = {}


def transform(
    name: str,
    summary: str,
    *,
    family: str,
    rule: Rule,
    side: Side,
    source: str,
    applies: str,
    level: Level = "word",
    default: Label | None = None,
    needs: tuple[Need, ...] = (),
) -> Callable[[Function], Function]:
    """Register the decorated function under `name` with its facts."""
    needed: tuple[Need, ...] = ("model", *needs) if level == "sub-word" else needs

    def register(function: Function) -> Function:
        REGISTRY[name] = Transform(
            name, summary, function, family, rule, side, level, source, applies, default, needed
        )
        return function

    return register


def chain(name: str) -> tuple[Transform, ...]:
    """Read `drop+sort` as the transforms to apply, left to right.

    Raises UnknownTransform.
    """
    links = [link.strip() for link in name.split("+")]
    unknown = [link for link in links if link not in REGISTRY]
    if unknown:
        known = ", ".join(REGISTRY)
        raise UnknownTransform(f"there is no transform {unknown[0]!r}; there are: {known}")
    return tuple(REGISTRY[link] for link in links)


def rule_of(name: str) -> Rule:
    """Return what a transform or chain does to the gold label."""
    return compose([link.rule for link in chain(name)])


def leaves_gold(name: str) -> bool:
    """Whether a chain leaves a gold label and needs no model: then a model can be inoculated."""
    return all(link.rule is not UNDEFINED and "model" not in link.needs for link in chain(name))


def default_of(name: str) -> Label | None:
    """Return the label a chain's result is compared with, None for the original prediction."""
    return next((link.default for link in chain(name) if link.default), None)
