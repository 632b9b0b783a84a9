"""The options of a task: those that its transforms read."""

from collections.abc import Mapping

from probe.errors import OptionError
from probe.tasks.task import Task
from probe.terms import Term
from probe.transforms.options import DEFAULTS, OPTIONS, Options, read_options
from probe.transforms.registry import FAMILIES, REGISTRY

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
