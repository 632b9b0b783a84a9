"""Challenges to choose from, and a few examples of one."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from finetune.trials.challenges import catalogue, challenged, make_sets, template_challenges
from finetune.trials.datasets import SourceData, bundled
from probe.errors import ExperimentError
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.text.difference import edits
from probe.transforms.registry import rule_of
from probe.ui.html.edits import diff, short_diff
from probe.ui.html.elements import NOTHING, alert, join, note, twin
from probe.ui.html.prediction import label_name

SAMPLES = 5
SAMPLED = 100  # examples among which the samples are sought: some challenges leave most out
BETWEEN = Markup(' <span class="soft">/</span> ')
"""What stands between the texts of an example."""
FAMILIES = ("distractor", "stress", "heuristic", "templates")
"""The families of challenges in the order in which they are offered; others follow."""
FIRST_CHALLENGE, FIRST_OF_SPANS = "word_overlap", "addsent"
COUNTS = ("no", "one", "two", "three", "four", "five")


def challenge_choices(task: Task = NLI) -> list[tuple[str, str]]:
    """Return (title and name, name) of each challenge of a task, those of a family together."""
    choices = catalogue(task)
    order = list(dict.fromkeys([*FAMILIES, *(choice.family for choice in choices)]))
    ordered = sorted(choices, key=lambda choice: order.index(choice.family))
    return [(f"{choice.title} · {choice.name}", choice.name) for choice in ordered]


def first_challenge(task: Task) -> str:
    """Return the challenge that the form begins with."""
    names = [name for _, name in challenge_choices(task)]
    first = FIRST_OF_SPANS if task.has_spans else FIRST_CHALLENGE
    return first if first in names else names[0]


def samples(challenge: str | Sequence[str], task: Task = NLI) -> Markup:
    """Show a few examples of the first challenge, their edits marked where it changes texts."""
    name = challenge if isinstance(challenge, str) else next(iter(challenge), "")
    if not name:
        return note("Choose at least one challenge.")
    try:
        return _samples(name, task)
    except ExperimentError as trouble:
        return alert(trouble)


@lru_cache(maxsize=64)
def _samples(name: str, task: Task) -> Markup:
    """Show the first example, and the others folded away."""
    first, *others = [
        Markup("<li>{} {}</li>").format(text, _gold(each, task))
        for text, each in _shown(name, task)
    ]
    about = next((entry.summary for entry in catalogue(task) if entry.name == name), "")
    listed = Markup('<ul class="samples">{}</ul>')
    count = note(f"{len(others) + 1} {task.unit}s of {name}.")
    more = twin(f"{COUNTS[len(others)]} more", listed.format(join(others)) + count)
    return (note(about) if about else NOTHING) + listed.format(first) + more


def _gold(example: Any, task: Task) -> Markup:
    """Return the gold label on one line, or the first of the right answers."""
    if task.has_spans:
        return label_name(example.references[0])
    return Markup("<span class=nowrap>{}</span>").format(label_name(example.gold or ""))


def _shown(name: str, task: Task) -> list[tuple[Markup, Any]]:
    """Return examples of a challenge with their texts as they are shown."""
    if name in template_challenges(task):
        of_templates = make_sets(name, SourceData((), (), (), task)).challenge_train
        return [(_plain(each, task), each) for each in _spread(of_templates, SAMPLES)]
    before = {each.id: each for each in _spread(bundled(task).pool, SAMPLED)}
    examples = _spread(challenged(name, list(before.values()), task=task), SAMPLES)
    new_text = rule_of(name) is COMPUTED  # the new text has none of the old one's words
    return [
        (_plain(new, task) if new_text else _changed(_origin(before, new), new, task), new)
        for new in examples
    ]


def _origin(before: Mapping[str, Any], new: Any) -> Any:
    """Return what a new example was made of; of several made from one the ids are numbered."""
    return before.get(new.id) or before[new.id.rpartition("-")[0]]


def _spread(examples: Sequence[Any], n: int) -> Sequence[Any]:
    return examples[:: max(1, len(examples) // n)][:n]


def _plain(example: Any, task: Task) -> Markup:
    return join((Markup("{}").format(text) for text in task.texts(example).values()), BETWEEN)


def _changed(old: Any, new: Any, task: Task) -> Markup:
    texts, mark = task.texts(new), short_diff if task.has_spans else diff
    return join(
        (mark(edits(text, texts[field])) for field, text in task.texts(old).items()), BETWEEN
    )
