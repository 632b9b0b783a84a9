"""The application of a transform or a chain to examples, and its results."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from probe.stopping import check_stop
from probe.tasks.label_rules import COMPUTED, UNDEFINED, Rule
from probe.tasks.task import Example, Label, Task
from probe.text.difference import Edit, edits
from probe.text.language import ENGLISH, foreign_reason, language_of
from probe.text.words import same_words
from probe.transforms.options import OPTIONS, Options
from probe.transforms.registry import (
    Reader,
    SubWords,
    Tools,
    Transform,
    applies_of,
    chain,
    require_ready,
    rule_of,
)

MAX_EXAMPLES = 64  # that a chain may derive from one
Edits = dict[str, list[Edit]]
"""The edits of each field."""


@dataclass(frozen=True)
class Step:
    """One link of a chain: the example before it and the one after it."""

    transform: str
    task: Task
    before: Any  # Any: of the task's own dataclass
    example: Any
    note: str = ""

    @property
    def edits(self) -> Edits:
        """What the link changed in each field."""
        return _edits(self.task, self.before, self.example)


@dataclass(frozen=True)
class Result:
    """One example that a chain derived from an example: number `number` of `of` derived ones.

    `steps` is the lineage, a step for each link; the last one's example is `example`. Where it is
    `not_applicable` a link is for English and the text is not; `note` says why. `ranked_by` says in
    words which importance ranked its tokens, "" where none did.
    """

    transform: str
    task: Task
    original: Any  # Any: of the task's own dataclass
    example: Any
    rule: Rule
    changed: bool
    exact: bool
    note: str
    seed: int
    variant: str
    steps: tuple[Step, ...]
    number: int = 1
    of: int = 1
    not_applicable: bool = False
    ranked_by: str = ""

    @property
    def name(self) -> str:
        """The transform, and which of its examples this is where there are several."""
        return f"{self.transform} {self.number}/{self.of}" if self.of > 1 else self.transform

    @property
    def gold(self) -> Label | None:
        """The new gold label, None where it is undefined or there was none."""
        gold: Label | None = self.example.gold
        return gold

    @property
    def edits(self) -> Edits:
        """What changed in each field, for highlighting."""
        return _edits(self.task, self.original, self.example)


def _edits(task: Task, before: Example, after: Example) -> Edits:
    new = task.texts(after)
    return {name: edits(text, new[name]) for name, text in task.texts(before).items()}


def rng(seed: int, name: str, example: Example) -> random.Random:
    """Return the random numbers of one transform on one row, independent of all others."""
    return random.Random(f"{seed}|{name}|{example.id}")


def apply(
    name: str,
    examples: Sequence[Example],
    task: Task,
    seed: int,
    options: Options,
    read: Reader,
    predicted: Sequence[Label] = (),
    foreign: Sequence[str] | None = None,
) -> list[tuple[Result, ...]]:
    """Apply a transform or chain to examples; at least one result for each, in their order.

    `read` scores sub-words, many examples at a time. `predicted` are the model's labels, which
    are used where a transform needs a gold label that is not known. `foreign` says of each example
    why transforms for English do not apply to it, "" where they do; without it the language of its
    texts decides. Raises UnknownTransform or Unavailable, and Stopped between two examples.
    """
    require_ready(name, task)
    links = chain(name)
    for_english = next((link.name for link in links if link.language == ENGLISH), "")
    reasons = [""] * len(examples)
    if for_english and options.other_languages == "skip":
        judged = (foreign_reason(language_of(task, example)) for example in examples)
        reasons = list(judged if foreign is None else foreign)
    states = [
        _State(example, row, tuple(filter(None, (example.gold, *predicted[row : row + 1]))))
        for row, (example, reason) in enumerate(zip(examples, reasons, strict=True))
        if not reason
    ]
    destroyed = False
    for position, link in enumerate(links):
        destroyed = destroyed or link.rule == UNDEFINED
        current = [state.example for state in states]
        readings: Sequence[SubWords | str | None] = (
            read(current) if link.level == "sub-word" else [None] * len(current)
        )
        made: list[_State] = []
        for state, reading in zip(states, readings, strict=True):
            chance = rng(seed, f"{name}|{position}{state.branch}", state.example)
            refusal, subwords = (reading, None) if isinstance(reading, str) else ("", reading)
            tools = Tools(chance, options, subwords, state.labels)
            made += _step(state, link, task, tools, destroyed, refusal)
        states = list(_bounded(made, len(examples)))
    rule, ranks = rule_of(name), any(link.level == "sub-word" for link in links)
    ranked_by = OPTIONS["ranks"].values[options.ranks] if ranks else ""
    groups: list[list[_State]] = [[] for _ in examples]
    for state in states:
        groups[state.row].append(state)
    results: list[tuple[Result, ...]] = []
    for original, group, reason in zip(examples, groups, reasons, strict=True):
        if reason:  # it is left as it is
            note = f"{for_english} is for English, and {reason}"
            step = Step(for_english, task, original, original, note)
            group = [_State(original, 0, (), notes=(note,), steps=(step,))]
        results.append(
            tuple(
                Result(
                    name,
                    task,
                    original,
                    replace(state.example, gold=None)
                    if rule == UNDEFINED and not reason
                    else state.example,
                    rule,
                    not _same(task, original, state.example),
                    state.exact,
                    "; ".join(state.notes),
                    seed,
                    options.variant,
                    state.steps,
                    number,
                    len(group),
                    not_applicable=bool(reason),
                    ranked_by="" if reason else ranked_by,
                )
                for number, state in enumerate(group, start=1)
            )
        )
    return results


@dataclass(frozen=True)
class _State:
    """An example between two links. `branch` distinguishes the examples derived from one."""

    example: Any  # Any: of the task's own dataclass
    row: int
    labels: tuple[Label, ...]
    exact: bool = True
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    branch: str = ""


def _step(
    state: _State, link: Transform, task: Task, tools: Tools, destroyed: bool, refusal: str
) -> Iterator[_State]:
    """Yield what a link makes of a state; `refusal` says why its tokens cannot be ranked."""
    check_stop()
    before = state.example
    changed = None if refusal else link.make(before, task, tools)
    if changed is None:
        reason = f"cannot rank the tokens: {refusal}" if refusal else ""
        note = f"{link.name} {reason or f'needs {applies_of(link, task)}'}"
        step = Step(link.name, task, before, before, note)
        yield replace(state, notes=(*state.notes, note), steps=(*state.steps, step))
        return
    for number, new in enumerate(changed.examples):
        gold = new.gold if link.rule == COMPUTED else link.rule(before.gold)
        # a destroyed text has no gold label, nor has any text derived from it
        example = replace(new, gold=None if destroyed else gold)
        yield replace(
            state,
            example=example,
            exact=state.exact and not changed.why,
            notes=(*state.notes, *filter(None, (changed.why or changed.note,))),
            steps=(
                *state.steps,
                Step(link.name, task, before, example, changed.why or changed.note),
            ),
            branch=f"{state.branch}|{number}" if number else state.branch,
        )


def _bounded(states: Sequence[_State], rows: int) -> Iterator[_State]:
    """Yield at most MAX_EXAMPLES states of each row, with a note where there were more."""
    counts = [0] * rows
    for state in states:
        counts[state.row] += 1
    seen = [0] * rows
    for state in states:
        seen[state.row] += 1
        if counts[state.row] <= MAX_EXAMPLES:
            yield state
        elif seen[state.row] <= MAX_EXAMPLES:
            note = f"the first {MAX_EXAMPLES} of {counts[state.row]} pairs"
            yield replace(state, exact=False, notes=(*state.notes, note))


def _same(task: Task, first: Example, second: Example) -> bool:
    texts = task.texts(second)
    return all(same_words(text, texts[name]) for name, text in task.texts(first).items())
