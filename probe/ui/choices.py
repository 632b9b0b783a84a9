"""What several views let a person choose from."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from probe.models.bundled import title_of
from probe.tasks.task import Task

BRING = ("Bring a model …", "bring a model")
"""The last of every list of models: assets/page.js goes to Mine, where one is brought."""


def model_choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return models as one chooses them: by title, with the code name where it is another."""
    titles = short_model_choices(names)[:-1]
    return [
        *(
            (f"{title} · {name}" if title == title_of(name) != name else title, name)
            for title, name in titles
        ),
        BRING,
    ]


def short_model_choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return models as one chooses them where there is little room: by title alone.

    A folder is called by its last part, unless another is called so too.
    """
    short = {}
    for name in names:
        address, mark, asked = name.partition("?")
        last = f"{Path(address).name}{mark}{asked}"
        short[name] = last if Path(address).is_absolute() else title_of(name)
    several = Counter(short.values())
    return [
        *((name if several[title] > 1 else title, name) for name, title in short.items()),
        BRING,
    ]


def has_labels(task: Task) -> bool:
    """Whether a task's answers are labels."""
    return not task.has_spans
