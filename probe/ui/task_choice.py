"""Which tasks have a view."""

from probe.tasks.nli import NLI
from probe.tasks.task import Task


def has_labels(task: Task) -> bool:
    """Whether a task's answers are labels: Repair and Generalise know no other."""
    return not task.has_spans


def labelled(task: Task) -> Task:
    """Return a task that is answered with labels: inference in place of any other.

    For the others Repair and Generalise stand hidden.
    """
    return task if has_labels(task) else NLI
