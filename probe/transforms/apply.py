"""How a transform or a chain is applied to pairs, and what is kept of it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from probe.labels import Gold, Rule
from probe.pairs import Pair
from probe.transforms.registry import Inexact, Options, Reader, Tools, Transform, chain, rule_of
from probe.words import Edit, edits, same_words


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
