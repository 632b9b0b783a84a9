"""Groups of transforms that a person takes together, and those that are chosen at first."""

from collections.abc import Callable, Mapping

from probe.tasks.label_rules import UNDEFINED
from probe.tasks.task import Task
from probe.transforms.availability import ready
from probe.transforms.registry import REGISTRY, Transform

FIRST = ("addsent", "addsent_first", "sort", "shuffle", "drop", "negation")
"""The transforms that are chosen when the page is opened, where they suit the task."""
PRESETS: Mapping[str, Callable[[Transform], bool]] = {
    "A first look": lambda entry: entry.name in FIRST,
    "Distractors": lambda entry: entry.family == "distractor",
    "Word salad": lambda entry: entry.rule is UNDEFINED and not entry.labels,
    "Heuristics": lambda entry: entry.family == "heuristic",
    "Stress tests": lambda entry: entry.family == "stress",
    "Everything": lambda entry: True,
    "None": lambda entry: False,
}
"""The titles, and what each takes; word salad is Gupta et al.'s, with one translation of three."""


def presets(task: Task) -> dict[str, tuple[str, ...]]:
    """Return the names of each preset for a task, those ready here; one that is empty is left out.

    "None" is empty by its name, and always there.
    """
    able = ready(task)
    chosen = {
        title: tuple(name for name in able if takes(REGISTRY[name]))
        for title, takes in PRESETS.items()
    }
    return {title: names for title, names in chosen.items() if names or title == "None"}


def first_choice(task: Task) -> tuple[str, ...]:
    """Return the transforms that are chosen at first for a task."""
    return tuple(name for name in FIRST if name in ready(task))
