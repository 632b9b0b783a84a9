"""How a transform or a chain is applied to pairs, and what is kept of it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from probe.tasks.label_rules import COMPUTED, UNDEFINED, Rule
from probe.tasks.nli import LABELS, Pair
from probe.tasks.task import Label
from probe.text.tokens import Edit, edits, same_words
from probe.transforms.availability import require_ready
from probe.transforms.options import Options
from probe.transforms.registry import Inexact, Reader, Tools, Transform, chain, rule_of

MOST = 64  # pairs that a chain may make of one
Edits = dict[Literal["premise", "hypothesis"], list[Edit]]


@dataclass(frozen=True)
class Step:
    """One link of a chain: what it was given and what it made of it."""

    transform: str
    before: Pair
    pair: Pair
    note: str = ""

    @property
    def edits(self) -> Edits:
        """What the link changed on each side."""
        return _edits(self.before, self.pair)


@dataclass(frozen=True)
class Result:
    """One pair that a chain made of a pair: the `number`-th `of` those it made, from one.

    `steps` is the lineage, a step for each link; the last one's pair is `pair`.
    """

    transform: str
    original: Pair
    pair: Pair
    rule: Rule
    changed: bool
    exact: bool
    note: str
    seed: int
    variant: str
    steps: tuple[Step, ...]
    number: int = 1
    of: int = 1

    @property
    def name(self) -> str:
        """The transform, and which of its pairs this is where there are several."""
        return f"{self.transform} {self.number}/{self.of}" if self.of > 1 else self.transform

    @property
    def gold(self) -> Label | None:
        """The new gold label, None where it is undefined or there was none."""
        return self.pair.gold

    @property
    def edits(self) -> Edits:
        """What changed on each side, for highlighting."""
        return _edits(self.original, self.pair)


def _edits(before: Pair, after: Pair) -> Edits:
    return {
        "premise": edits(before.premise, after.premise),
        "hypothesis": edits(before.hypothesis, after.hypothesis),
    }


def rng(seed: int, name: str, pair: Pair) -> random.Random:
    """Return the chance of one transform on one row; no other row or transform moves it."""
    return random.Random(f"{seed}|{name}|{pair.id}")


def apply(
    name: str,
    pairs: Sequence[Pair],
    seed: int,
    options: Options,
    read: Reader,
    predicted: Sequence[Label] = (),
) -> list[tuple[Result, ...]]:
    """Apply a transform or chain to pairs; at least one result for each pair, in their order.

    `read` scores sub-words, many pairs at a time. `predicted` are the model's labels of the pairs,
    which stand in where a transform asks for a gold label that is not known. Raises
    UnknownTransform or Unavailable.
    """
    require_ready(name)
    states = [
        _State(pair, row, _certain(pair.gold, predicted[row] if predicted else None))
        for row, pair in enumerate(pairs)
    ]
    destroyed = False
    for position, link in enumerate(chain(name)):
        destroyed = destroyed or link.rule == UNDEFINED
        here = [state.pair for state in states]
        readings = read(here) if link.level == "sub-word" else [None] * len(here)
        states = [
            new
            for state, reading in zip(states, readings, strict=True)
            for new in _step(
                state,
                link,
                Tools(
                    rng(seed, f"{name}|{position}{state.branch}", state.pair),
                    options,
                    reading,
                    state.label,
                ),
                destroyed,
            )
        ]
        states = list(_bounded(states, len(pairs)))
    return _results(name, pairs, states, seed, options)


def _certain(*labels: Label | None) -> Label | None:
    return next((label for label in labels if label in LABELS), None)


@dataclass(frozen=True)
class _State:
    """A pair on its way. `branch` tells apart the pairs that links made of one."""

    pair: Pair
    row: int
    label: Label | None
    exact: bool = True
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    branch: str = ""


def _step(state: _State, link: Transform, tools: Tools, destroyed: bool) -> Iterator[_State]:
    made = link.function(state.pair, tools)
    if not made:
        note = f"{link.name} needs {link.applies}"
        step = Step(link.name, state.pair, state.pair, note)
        yield replace(state, notes=(*state.notes, note), steps=(*state.steps, step))
        return
    several, exact, note = _unpack(made)
    for number, new in enumerate(several):
        gold = new.gold if link.rule == COMPUTED else link.rule(state.pair.gold)
        # a destroyed text has no gold label, nor has what is made of it
        pair = replace(new, gold=None if destroyed else gold)
        yield replace(
            state,
            pair=pair,
            exact=state.exact and exact,
            notes=(*state.notes, note) if note else state.notes,
            steps=(*state.steps, Step(link.name, state.pair, pair, note)),
            branch=f"{state.branch}|{number}" if number else state.branch,
        )


def _unpack(made: Pair | Inexact | tuple[Pair, ...]) -> tuple[tuple[Pair, ...], bool, str]:
    if isinstance(made, Inexact):
        return (made.pair,), False, made.why
    return (made if isinstance(made, tuple) else (made,)), True, ""


def _bounded(states: Sequence[_State], rows: int) -> Iterator[_State]:
    """Let each row go on with at most `MOST` pairs, and say so where it had more."""
    counts = [0] * rows
    for state in states:
        counts[state.row] += 1
    seen = [0] * rows
    for state in states:
        seen[state.row] += 1
        if counts[state.row] <= MOST:
            yield state
        elif seen[state.row] <= MOST:
            note = f"the first {MOST} of {counts[state.row]} pairs"
            yield replace(state, exact=False, notes=(*state.notes, note))


def _results(
    name: str, pairs: Sequence[Pair], states: Sequence[_State], seed: int, options: Options
) -> list[tuple[Result, ...]]:
    rule = rule_of(name)
    groups: list[list[_State]] = [[] for _ in pairs]
    for state in states:
        groups[state.row].append(state)
    return [
        tuple(
            Result(
                name,
                pair,
                replace(state.pair, gold=None) if rule == UNDEFINED else state.pair,
                rule,
                not _same(pair, state.pair),
                state.exact,
                "; ".join(state.notes),
                seed,
                options.variant,
                state.steps,
                number,
                len(group),
            )
            for number, state in enumerate(group, start=1)
        )
        for pair, group in zip(pairs, groups, strict=True)
    ]


def _same(first: Pair, second: Pair) -> bool:
    return same_words(first.premise, second.premise) and same_words(
        first.hypothesis, second.hypothesis
    )
