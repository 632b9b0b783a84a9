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
    links, rule = chain(name), rule_of(name)
    for_english = next((link.name for link in links if link.language == ENGLISH), "")
    reasons: Sequence[str] = [""] * len(examples)
    if for_english and options.other_languages == "skip":
        reasons = foreign or [foreign_reason(language_of(task, each)) for each in examples]
    groups = [
        [_State(each, tuple(filter(None, (each.gold, *predicted[row : row + 1]))))][bool(reason) :]
        for row, (each, reason) in enumerate(zip(examples, reasons, strict=True))
    ]
    for position, link in enumerate(links):
        destroyed = any(each.rule == UNDEFINED for each in links[: position + 1])
        current = [state.example for group in groups for state in group]
        readings = iter(read(current) if link.level == "sub-word" else [None] * len(current))
        for row, group in enumerate(groups):
            derived = list[_State]()
            for state in group:
                chance = rng(seed, f"{name}|{position}{state.branch}", state.example)
                tools = Tools(chance, options, next(readings), state.labels)
                derived += _step(state, link, task, tools, destroyed)
            groups[row] = _limited(derived)
    ranks = any(link.level == "sub-word" for link in links)
    results: list[tuple[Result, ...]] = []
    for original, group, reason in zip(examples, groups, reasons, strict=True):
        if reason:  # it is left as it is
            note = f"{for_english} is for English, and {reason}"
            group = [_State(original, ()).after(for_english, task, original, note)]
        of = [
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
                bool(reason),
                OPTIONS["ranks"].values[options.ranks] if ranks and not reason else "",
            )
            for number, state in enumerate(group, start=1)
        ]
        results.append(tuple(of))
    return results


@dataclass(frozen=True)
class _State:
    """An example between two links. `branch` distinguishes the examples derived from one."""

    example: Any  # Any: of the task's own dataclass
    labels: tuple[Label, ...]
    exact: bool = True
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    branch: str = ""

    def after(self, name: str, task: Task, example: Any, note: str, **facts: Any) -> "_State":
        """Return the state after a link, with its step and its note."""
        steps = (*self.steps, Step(name, task, self.example, example, note))
        notes = (*self.notes, note) if note else self.notes
        return replace(self, example=example, steps=steps, notes=notes, **facts)


def _step(
    state: _State, link: Transform, task: Task, tools: Tools, destroyed: bool
) -> Iterator[_State]:
    """Yield what a link makes of a state; a text in place of sub-words says why there are none."""
    check_stop()
    before = state.example
    if isinstance(tools.subwords, str):
        note = f"{link.name} cannot rank the tokens: {tools.subwords}"
        yield state.after(link.name, task, before, note)
    elif (changed := link.make(before, task, tools)) is None:
        note = f"{link.name} needs {applies_of(link, task)}"
        yield state.after(link.name, task, before, note)
    else:
        for number, new in enumerate(changed.made):
            gold = new.gold if link.rule == COMPUTED else link.rule(before.gold)
            # a destroyed text has no gold label, nor has any text derived from it
            yield state.after(
                link.name,
                task,
                replace(new, gold=None if destroyed else gold),
                changed.why or changed.note,
                exact=state.exact and not changed.why,
                branch=f"{state.branch}|{number}" if number else state.branch,
            )


def _limited(states: list[_State]) -> list[_State]:
    """Return the first MAX_EXAMPLES that came of an example, with a note where there were more."""
    if len(states) <= MAX_EXAMPLES:
        return states
    note = f"the first {MAX_EXAMPLES} of {len(states)} pairs"
    return [replace(each, exact=False, notes=(*each.notes, note)) for each in states[:MAX_EXAMPLES]]


def _same(task: Task, first: Example, second: Example) -> bool:
    texts = task.texts(second)
    return all(same_words(text, texts[name]) for name, text in task.texts(first).items())
