"""What a model can be inoculated against, and the sets made for it.

A challenge is a transform that leaves a gold label, a set of templates, or anybody's own file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain as concatenated
from typing import Any, Literal

from finetune.experiments.inoculation.counter_tests import COUNTER_TESTS
from finetune.experiments.inoculation.datasets import (
    Sets,
    SourceData,
    bundled,
)
from probe.errors import ExperimentError, UnknownTransform
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import NLI
from probe.tasks.task import Task, offered_tasks
from probe.templates import Request, count, generate, kinds, split_by_template
from probe.templates.grammar import Grammar, grammar
from probe.transforms import REGISTRY, Options, apply
from probe.transforms.availability import ready
from probe.transforms.registry import Transform, chain, leaves_gold, rule_of
from probe.transforms.wording import applies_of, chain_title, source_of, summary_of

Kind = Literal["transform", "template", "file"]
KIND_TITLES: Mapping[Kind, str] = {
    "transform": "Ordinary examples, changed",
    "template": "Examples from templates",
    "file": "Your own file",
}
CONTROLS = {"word_overlap": "control_tautology", "negation": "control_tautology"}
"""The sister that shows whether a model learnt to ignore a tautology, or only this one."""
MAX_PAIRS = 1000
"""Pairs from templates to train on, and as many to test on; Liu et al. train on so many."""


@dataclass(frozen=True)
class Challenge:
    """A challenge: its title, what it is, and where its gold labels come from.

    `source` says where a transform is from; what templates are after, their summary says.
    """

    name: str
    title: str
    kind: Kind
    family: str
    summary: str
    labels: str
    source: str = ""


def catalogue(task: Task = NLI) -> tuple[Challenge, ...]:
    """Return the challenges that can be made here, transforms first, in the registry's order."""
    changed = (_changed(REGISTRY[name], task) for name in ready(task) if leaves_gold(name))
    from_templates = (
        _from_template(name, grammar(kind)) for name, kind in template_challenges(task).items()
    )
    return (*changed, *from_templates)


def _changed(entry: Transform, task: Task) -> Challenge:
    return Challenge(
        entry.name,
        entry.title,
        "transform",
        entry.family,
        summary_of(entry, task),
        entry.rule.words,
        source_of(entry, task),
    )


def _from_template(name: str, kind: Grammar) -> Challenge:
    labels = "the template gives the gold label"
    return Challenge(name, kind.title, "template", "templates", kind.summary, labels)


def title_of(challenge: str, task: Task = NLI) -> str:
    """Return a challenge's title; a chain joins its links', a person's own has its name only."""
    titles = {entry.name: entry.title for entry in catalogue(task)}
    if challenge in titles:
        return titles[challenge]
    return chain_title(challenge) if _transforms(challenge, task) else challenge


def template_challenges(task: Task = NLI) -> dict[str, str]:
    """Return a task's kinds of templates by the names of their challenges."""
    return {f"templates_{kind}": kind for kind in kinds(task)}


def challenge_name(text: str, task: Task = NLI) -> str:
    """Return a challenge's name for what a person calls it: a kind of templates has two names."""
    name = f"templates_{text}"
    return name if text not in REGISTRY and name in template_challenges(task) else text


def challenges(task: Task = NLI) -> tuple[str, ...]:
    """Return the names of the challenges that can be made here."""
    return tuple(challenge.name for challenge in catalogue(task))


def challenged(
    challenge: str, pairs: Sequence[Any], seed: int = 0, task: Task = NLI
) -> tuple[Any, ...]:  # Any: the task's own dataclass
    """Transform examples into a challenge set.

    Those that it leaves as they were, or without a gold label, are left out; of several made from
    one the ids are numbered. Raises ExperimentError for a name that is no such transform, nor a
    chain of them.
    """
    if not _transforms(challenge, task):
        raise _no_challenge(challenge, task)
    results = apply(challenge, pairs, task, seed, Options(), lambda unread: [])
    examples = [
        _numbered(result.example, result.number)
        for result in concatenated.from_iterable(results)
        if result.changed and result.gold
    ]
    # made of one side only, the same pair comes from every row with that side
    return tuple(_distinct(examples, task) if rule_of(challenge) is COMPUTED else examples)


def _no_challenge(name: str, task: Task) -> ExperimentError:
    other = next((each for each in offered_tasks() if name in challenges(each)), None)
    problem = (
        f"{name} is a challenge of {other.title.lower()}, not of {task.title.lower()}"
        if other
        else f"there is no challenge {name!r}"
    )
    return ExperimentError(f"{problem}; there are: {', '.join(challenges(task))}")


def _distinct(examples: Sequence[Any], task: Task) -> list[Any]:
    by_texts: dict[tuple[str, ...], Any] = {}
    for example in examples:
        by_texts.setdefault(tuple(task.texts(example).values()), example)
    return list(by_texts.values())


def _transforms(name: str, task: Task) -> bool:
    try:
        available = set(ready(task))
        return leaves_gold(name) and all(link.name in available for link in chain(name))
    except UnknownTransform:
        return False


def _numbered(example: Any, number: int) -> Any:
    return replace(example, id=f"{example.id}-{number}") if number > 1 else example


def make_sets(challenge: str, source_data: SourceData, seed: int = 0) -> Sets:
    """Return the sets of a challenge by name. Raises ExperimentError."""
    task = source_data.task
    if kind := template_challenges(task).get(challenge):
        train_pairs, test_pairs = _from_templates(kind, seed)
    else:
        parts = (source_data.pool, source_data.test)
        train_pairs, test_pairs = (challenged(challenge, pairs, seed, task) for pairs in parts)
    if not (train_pairs and test_pairs):
        needs = "; ".join(applies_of(link, task) for link in chain(challenge))
        raise ExperimentError(f"no {task.unit} suits the challenge {challenge}: it needs {needs}")
    control = CONTROLS.get(challenge)
    sister = challenged(control, source_data.test, seed, task) if control else ()
    counter_tests = counter_tests_of(challenge, source_data, seed)
    return Sets(
        source_data.dev, source_data.test, train_pairs, test_pairs, sister, counter_tests, task
    )


def counter_tests_of(
    challenge: str, source_data: SourceData, seed: int
) -> dict[str, tuple[Any, ...]]:
    """Return the counter-tests of a challenge by name, made from the original test set."""
    names = COUNTER_TESTS.get(challenge, ())
    return {name: challenged(name, source_data.test, seed, source_data.task) for name in names}


def bundled_sets(challenge: str, task: Task = NLI, seed: int = 0) -> Sets:
    """Return the sets of a challenge made from a task's bundled examples.

    Raises ExperimentError, and ExampleError where the task has none.
    """
    return make_sets(challenge, bundled(task), seed)


def _from_templates(kind: str, seed: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return pairs to train and to test on; no template makes both (Rozen et al. 2019, 4)."""
    train_request, test_request = (
        Request(kind, templates=part) for part in split_by_template(kind, seed=seed)
    )
    return _generated(train_request, seed), _generated(test_request, seed)


def _generated(request: Request, seed: int) -> tuple[Any, ...]:
    available = count(request)
    return tuple(
        generate(request, MAX_PAIRS if available is None else min(MAX_PAIRS, available), seed)
    )
