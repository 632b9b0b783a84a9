"""What a transform is, the registry of all of them, and how a chain is applied to pairs."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from probe.labels import Gold, Label, Rule, compose
from probe.pairs import Pair
from probe.words import Edit, edits, same_words

Side = Literal["premise", "hypothesis", "both"]
Level = Literal["word", "sub-word"]
Sign = Literal["support", "gupta", "abs"]
Draw = Literal["vocabulary", "paper_code"]

SIGNS: Mapping[Sign, str] = {
    "support": "tokens that speak for the label score high (Feng et al. 2018)",
    "gupta": "tokens that raise the loss score high (Gupta et al. 2021, as published)",
    "abs": "tokens that matter either way score high",
}


@dataclass(frozen=True)
class Options:
    """Choices that several transforms share. `keep` is Gupta's r, the share of tokens kept."""

    keep: float = 0.5
    sign: Sign = "support"
    pin: tuple[str, ...] = (".", "!", "?")
    by_id: bool = False
    draw: Draw = "vocabulary"

    @property
    def variant(self) -> str:
        """Name what differs from the defaults, as SEMANTICS names the published variants."""
        named = {
            "gupta": self.sign == "gupta",
            "abs": self.sign == "abs",
            "pin=paper_code": self.pin == (".",),
            "by_id": self.by_id,
            "draw=paper_code": self.draw == "paper_code",
        }
        return "+".join(name for name, on in named.items() if on) or "safe"


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
    """What a transform may use. `subwords` is there for sub-word transforms only."""

    rng: random.Random
    options: Options
    subwords: SubWords | None = None

    @property
    def reading(self) -> SubWords:
        """The model's reading of the pair. Raises ValueError where there is no model."""
        if self.subwords is None:
            raise ValueError("this transform reads the pair through a model; choose one")
        return self.subwords


@dataclass(frozen=True)
class Inexact:
    """The best pair that could be made where the rule cannot be met, and why."""

    pair: Pair
    why: str


Function = Callable[[Pair, Tools], "Pair | Inexact | None"]


@dataclass(frozen=True)
class Transform:
    """A transform and its facts.

    `default` is the label its result is compared with instead of the original prediction;
    `applies` says in words what a pair must have.
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

    @property
    def needs(self) -> tuple[str, ...]:
        """What must be there for it to run."""
        return ("model",) if self.level == "sub-word" else ()


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
) -> Callable[[Function], Function]:
    """Register the decorated function under `name` with its facts."""

    def register(function: Function) -> Function:
        REGISTRY[name] = Transform(
            name, summary, function, family, rule, side, level, source, applies, default
        )
        return function

    return register


class UnknownTransform(ValueError):
    """A name that is not registered; the message is for the person."""


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


def default_of(name: str) -> Label | None:
    """Return the label a chain's result is compared with, None for the original prediction."""
    return next((link.default for link in chain(name) if link.default), None)


@dataclass(frozen=True)
class Result:
    """What a chain made of a pair. `steps` are the pairs after each link, the last one `pair`."""

    transform: str
    original: Pair
    pair: Pair
    rule: Rule
    changed: bool
    exact: bool
    note: str
    seed: int
    variant: str
    steps: tuple[Pair, ...]

    @property
    def gold(self) -> Gold | None:
        """The new gold label, None where it is undefined or there was none."""
        return self.pair.gold

    @property
    def edits(self) -> dict[Literal["premise", "hypothesis"], list[Edit]]:
        """What changed on each side, for highlighting."""
        return {
            "premise": edits(self.original.premise, self.pair.premise),
            "hypothesis": edits(self.original.hypothesis, self.pair.hypothesis),
        }


def rng(seed: int, name: str, pair: Pair) -> random.Random:
    """Return the chance of one transform on one row; no other row or transform moves it."""
    return random.Random(f"{seed}|{name}|{pair.id}")


def apply(
    name: str, pairs: Sequence[Pair], seed: int, options: Options, read: Reader
) -> list[Result]:
    """Apply a transform or chain to pairs. `read` scores sub-words, many pairs at a time.

    Raises UnknownTransform.
    """
    states = [_State(pair) for pair in pairs]
    for position, link in enumerate(chain(name)):
        here = [state.pair for state in states]
        readings = read(here) if link.level == "sub-word" else [None] * len(here)
        states = [
            _step(state, link, Tools(rng(seed, f"{name}|{position}", state.pair), options, reading))
            for state, reading in zip(states, readings, strict=True)
        ]
    rule = rule_of(name)
    return [
        Result(
            name,
            pair,
            replace(
                state.pair, gold=state.pair.gold if rule.name == "computed" else rule(pair.gold)
            ),
            rule,
            not (
                same_words(pair.premise, state.pair.premise)
                and same_words(pair.hypothesis, state.pair.hypothesis)
            ),
            state.exact,
            "; ".join(state.notes),
            seed,
            options.variant,
            state.steps,
        )
        for pair, state in zip(pairs, states, strict=True)
    ]


@dataclass(frozen=True)
class _State:
    pair: Pair
    exact: bool = True
    notes: tuple[str, ...] = ()
    steps: tuple[Pair, ...] = ()


def _step(state: _State, link: Transform, tools: Tools) -> _State:
    made = link.function(state.pair, tools)
    if made is None:
        note = f"{link.name} needs {link.applies}"
        return replace(state, notes=(*state.notes, note), steps=(*state.steps, state.pair))
    if isinstance(made, Inexact):
        pair, exact, notes = made.pair, False, (*state.notes, made.why)
    else:
        pair, exact, notes = made, state.exact, state.notes
    # a destroyed text has no gold label for the next link to be read against
    pair = pair if link.rule.name == "computed" else replace(pair, gold=link.rule(state.pair.gold))
    return _State(pair, exact, notes, (*state.steps, pair))


def kept_count(share: float, n: int) -> int:
    """Return ceil(share * n) without the error of floating point (0.7 * 10 is seven)."""
    return math.ceil(round(share * n, 9))
