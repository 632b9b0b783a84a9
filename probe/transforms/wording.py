"""The transforms in words: their titles, and their sentences with what a task calls its texts.

A sentence of the registry names the texts by their roles, {target}, {source} and {origin}.
"""

from probe.tasks.task import ORIGIN, SOURCE, TARGET, Task, task_named
from probe.transforms.registry import Transform, chain


def summary_of(transform: Transform, task: Task) -> str:
    """Return what a transform does to an example of a task that it suits."""
    return transform.summary.format(**_texts(task))


def applies_of(transform: Transform, task: Task) -> str:
    """Return what an example of a task must have for a transform to apply."""
    return transform.applies.format(**_texts(task))


def source_of(transform: Transform, task: Task) -> str:
    """Return where a transform is from, and that it is our extension for a task where it is."""
    home = task_named(transform.home) if transform.home else task
    extends = home.example is not task.example
    return f"our extension of {transform.source}" if extends else transform.source


def chain_title(name: str) -> str:
    """Return the title of a transform or chain: "Drop the unimportant half, then sort the words".

    Raises UnknownTransform.
    """
    first, *others = (link.title for link in chain(name))
    return ", then ".join([first, *(title[:1].lower() + title[1:] for title in others)])


def choice(name: str) -> str:
    """Return a transform or chain as one chooses it: "Sort the words · sort"."""
    return f"{chain_title(name)} · {name}"


def _texts(task: Task) -> dict[str, str]:
    """Return what to call the text of each role that a task has."""
    target = f"the {task.title_of(task.target).lower()}"
    if task.source is None:
        return {TARGET: target, ORIGIN: "its first half"}
    source = f"the {task.title_of(task.source).lower()}"
    return {TARGET: target, SOURCE: source, ORIGIN: source}
