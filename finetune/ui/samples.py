"""Challenges to choose from, and a few examples of one."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from finetune.experiments.inoculation.challenges import (
    catalogue,
    challenged,
    make_sets,
    template_challenges,
)
from finetune.experiments.inoculation.datasets import SourceData, bundled
from probe.errors import ExperimentError
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.text.difference import edits
from probe.transforms.registry import rule_of
from probe.ui.html.edits import diff
from probe.ui.html.elements import alert, join, note
from probe.ui.html.prediction import label_name

SAMPLES = 5
SAMPLED = 100  # examples among which the samples are sought: some challenges leave most out
BETWEEN = Markup(" ▸ ")
"""What stands between the texts of an example."""
FAMILIES = {"stress": "stress test", "heuristic": "heuristic", "template": "template"}


def challenge_choices(task: Task = NLI) -> list[tuple[str, str]]:
    """Return (words, name) of each challenge of a task, those of a family together."""
    choices = [
        ("template" if choice.kind == "template" else choice.family, choice.name)
        for choice in catalogue(task)
    ]
    order = list(dict.fromkeys([*FAMILIES, *(family for family, _ in choices)]))
    choices.sort(key=lambda choice: order.index(choice[0]))
    return [(f"{FAMILIES.get(family, family)} · {name}", name) for family, name in choices]


def samples(challenge: str | Sequence[str], task: Task = NLI) -> Markup:
    """Show a few examples of the first challenge, their edits marked where it changes texts."""
    name = challenge if isinstance(challenge, str) else next(iter(challenge), "")
    if not name:
        return note("Choose at least one challenge.")
    try:
        shown = _shown(name, task)
    except ExperimentError as trouble:
        return alert(trouble)
    lines = join(
        Markup("<li>{} {}</li>").format(text, label_name(pair.gold or "")) for text, pair in shown
    )
    about = next((f" {entry.summary}" for entry in catalogue(task) if entry.name == name), "")
    return Markup('{}<ul class="samples">{}</ul>').format(
        note(f"{len(shown)} {task.unit}s of {name}.{about}"), lines
    )


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
    return BETWEEN.join(task.texts(example).values())


def _changed(old: Any, new: Any, task: Task) -> Markup:
    texts = task.texts(new)
    return join(
        (diff(edits(text, texts[field])) for field, text in task.texts(old).items()), BETWEEN
    )
