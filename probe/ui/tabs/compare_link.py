"""What a link to the Compare tab opens: models, what they are compared on, and what is not here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from probe.models.windows import LONG, Long
from probe.tasks.task import Task
from probe.ui.links import not_here, shortened
from probe.ui.panels.sources import BUNDLED, FILE, ONE, SOURCES
from probe.ui.tabs.compare_run import MAX_MODELS

FILE_NOTICE = "The link was made on a file, and links hold no files: choose your own below."


@dataclass(frozen=True)
class View:
    """What the tab opens with; `asked` says that the link wants the comparison made at once."""

    models: tuple[str, ...]
    source: str
    texts: Mapping[str, str]
    notices: tuple[str, ...] = ()
    asked: bool = False
    long: Long = "cut"


def first_two(names: Sequence[str]) -> tuple[str, ...]:
    """Return the bundled model and the next one there is."""
    return tuple(sorted(names, key=lambda name: name != "minilm")[:2])


def read_link(task: Task, known: Sequence[str], query: Mapping[str, str]) -> View:
    """Read a link's models and what they are compared on, the usual where it says nothing of them.

    What is not here is said.
    """
    if query.get("view") != "compare":
        return View(first_two(known), BUNDLED, {})
    named = list(dict.fromkeys(name for name in query.get("models", "").split(",") if name))
    here = tuple(name for name in named if name in known)[:MAX_MODELS]
    notices = [
        f"The link names the model {shortened(name)!r}: there is no model called that here for "
        f"{task.choice.lower()}."
        for name in named
        if name not in known
    ]
    source = query.get("on", BUNDLED)
    if source not in SOURCES:
        notices.append(f"The link compares on {shortened(source)!r}, which is not known here.")
        source = BUNDLED
    if source == FILE:
        notices.append(FILE_NOTICE)
    texts = {field: query[field] for field in task.fields if field in query}
    ready = "on" in query and len(here) > 1 and len(here) == len(named) and source != FILE
    asked = ready and (source != ONE or len(texts) == len(task.fields))
    long = query.get("long", "cut")
    if long not in LONG:
        notices.append(not_here("long", long, "the end of long texts is cut"))
        long = "cut"
    chosen = here or first_two(known)
    return View(chosen, source, texts, tuple(notices), asked, cast(Long, long))
