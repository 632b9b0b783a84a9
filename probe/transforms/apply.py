"""The application of a transform or a chain to examples, and its results."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from probe.stopping import check_stop
from probe.tasks.label_rules import COMPUTED, UNDEFINED, Rule
from probe.tasks.task import Example, Label, Task
from probe.text.difference import Edit, edits
from probe.text.language import ENGLISH, foreign_reason, language_of
from probe.text.words import same_words
from probe.transforms.options import OPTIONS, Options, with_sign
from probe.transforms.registry import (
    Reader,
    Tools,
    Transform,
    applies_of,
    chain,
    ranks,
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
    words which importance ranked its tokens, "" where none did; `branch` distinguishes the examples
    derived from one.
    """

    transform: str
    task: Task
    original: Any  # Any: of the task's own dataclass
    example: Any
    rule: Rule
    changed: bool = False
    exact: bool = True
    note: str = ""
    seed: int = 0
    variant: str = "safe"
    steps: tuple[Step, ...] = ()
    number: int = 1
    of: int = 1
    not_applicable: bool = False
    ranked_by: str = ""
    branch: str = ""

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

    def after(self, name: str, example: Any, note: str, **facts: Any) -> "Result":
        """Return the result after a link, with its step and its note."""
        steps = (*self.steps, Step(name, self.task, self.example, example, note))
        return self.noted(note, example=example, steps=steps, **facts)

    def noted(self, note: str, **facts: Any) -> "Result":
        """Return the result with a further note."""
        return replace(self, note="; ".join(filter(None, (self.note, note))), **facts)


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
    by = OPTIONS["ranks"].values[options.ranks]
    ranked_by = with_sign(by, options.sign) if ranks(name) else ""
    start = partial(Result, name, task, rule=rule, seed=seed, variant=options.variant)
    groups = [
        [start(each, each, ranked_by="" if why else ranked_by)]
        for each, why in zip(examples, reasons, strict=True)
    ]
    for group, example, reason in zip(groups, examples, reasons, strict=True):
        if reason:  # it is left as it is
            note = f"{for_english} is for English, and {reason}"
            group[:] = [group[0].after(for_english, example, note, not_applicable=True)]
    for position, link in enumerate(links):
        destroyed = any(each.rule == UNDEFINED for each in links[: position + 1])
        changing = [row for row, reason in enumerate(reasons) if not reason]
        current = [result.example for row in changing for result in groups[row]]
        readings = iter(read(current) if link.level == "sub-word" else [None] * len(current))
        for row in changing:
            labels = tuple(filter(None, (examples[row].gold, *predicted[row : row + 1])))
            derived = list[Result]()
            for result in groups[row]:
                chance = rng(seed, f"{name}|{position}{result.branch}", result.example)
                tools = Tools(chance, options, next(readings), labels)
                derived += _linked(result, link, tools, destroyed)
            if len(derived) > MAX_EXAMPLES:
                note = f"the first {MAX_EXAMPLES} of {len(derived)} pairs"
                derived = [each.noted(note, exact=False) for each in derived[:MAX_EXAMPLES]]
            groups[row] = derived
    for group in groups:
        for at, each in enumerate(group):
            example = each.example
            if rule == UNDEFINED and not each.not_applicable:
                example = replace(example, gold=None)
            changed = not _same(task, each.original, example)
            group[at] = replace(
                each, example=example, changed=changed, number=at + 1, of=len(group)
            )
    return [tuple(group) for group in groups]


def _linked(result: Result, link: Transform, tools: Tools, destroyed: bool) -> Iterator[Result]:
    """Yield what a link makes of a result; a text in place of sub-words says why there are none."""
    check_stop()
    before, task = result.example, result.task
    if isinstance(tools.subwords, str):
        note = f"{link.name} cannot rank the tokens: {tools.subwords}"
        yield result.after(link.name, before, note)
    elif (changed := link.make(before, task, tools)) is None:
        yield result.after(link.name, before, f"{link.name} needs {applies_of(link, task)}")
    else:
        for number, new in enumerate(changed.made):
            gold = new.gold if link.rule == COMPUTED else link.rule(before.gold)
            yield result.after(
                link.name,
                # a destroyed text has no gold label, nor has any text derived from it
                replace(new, gold=None if destroyed else gold),
                changed.why or changed.note,
                exact=result.exact and not changed.why,
                branch=f"{result.branch}|{number}" if number else result.branch,
            )


def _same(task: Task, first: Example, second: Example) -> bool:
    texts = task.texts(second)
    return all(same_words(text, texts[name]) for name, text in task.texts(first).items())
