"""Groups of transforms that a person takes together, and those that are chosen at first."""

from collections.abc import Callable, Mapping

from probe.errors import OptionError
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.task import Task
from probe.terms import Term
from probe.transforms.options import DEFAULTS, OPTIONS, Options, read_options
from probe.transforms.registry import FAMILIES, REGISTRY, Transform, ready

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


SEVERAL = "several"
GROUPS: Mapping[str, Term] = {
    SEVERAL: Term("Several kinds of changes", "What changes of more than one kind read."),
    **FAMILIES,
}
"""The groups in which options are shown: those that several families read, then by family."""


def group_of(name: str) -> str:
    """Return the group of an option: the family of the transforms that read it, or several."""
    families = {entry.family for entry in REGISTRY.values() if name in entry.options}
    return families.pop() if len(families) == 1 else SEVERAL


def options_of(task: Task) -> list[str]:
    """Return the names of the options that a task has."""
    read = {name for entry in REGISTRY.values() if entry.suits(task) for name in entry.options}
    one_text = len(task.fields) == 1
    return [
        name
        for name, option in OPTIONS.items()
        if name in read and (one_text or not option.one_text)
    ]


def foreign(options: Options, task: Task) -> list[str]:
    """Return the names of the options that are set and that a task has not."""
    own = options_of(task)
    return [name for name in options.changed if name not in own]


def read_task_options(
    task: Task, values: Mapping[str, object], start: Options = DEFAULTS
) -> Options:
    """Read the options of a task from text or JSON values.

    One that it has not may have its usual value only. Raises OptionError.
    """
    options = read_options(values, start)
    for name in foreign(options, task):
        raise OptionError(f"the option {name} is not for the task {task.name} ({task.title})")
    return options
