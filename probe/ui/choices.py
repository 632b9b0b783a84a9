"""What several views let a person choose from."""

from collections.abc import Iterable

from probe.models.bundled import title_of
from probe.tasks.task import Task

BRING = ("Bring a model …", "bring a model")
"""The last of every list of models: assets/page.js goes to Mine, where one is brought."""


def model_choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return models as one chooses them: by title, with the code name where it is another."""
    titles = ((title_of(name), name) for name in names)
    return [
        *((name if title == name else f"{title} · {name}", name) for title, name in titles),
        BRING,
    ]


def short_model_choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return models as one chooses them where there is little room: by title alone."""
    return [*((title_of(name), name) for name in names), BRING]


def has_labels(task: Task) -> bool:
    """Whether a task's answers are labels."""
    return not task.has_spans
