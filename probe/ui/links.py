"""Permalinks: addresses on this page that open a tab with something in it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import urlencode

from probe.models.windows import Long
from probe.tasks.nli import NLI
from probe.tasks.task import Example, Task

MAX_QUOTED = 80
"""Characters of a link's value that a notice quotes."""


def shortened(text: str) -> str:
    """Return a link's value as a notice quotes it."""
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]} …"


def not_here(what: str, named: str, instead: str) -> str:
    """Return the sentence for something that a link names and the app has not."""
    return f"The link names the {what} {shortened(named)!r}, which is not here; {instead}."


def link_to_view(parameters: Mapping[str, str]) -> str:
    """Return a permalink that opens the Probe tab with all that its fields hold."""
    return _query(**parameters)


def link_to_example(task: Task, example: Example, model: str) -> str:
    """Return a permalink that opens an example in the Probe tab, with its gold label."""
    known = task.has_spans or example.gold in task.labels
    gold = (example.gold or "") if known else ""
    given = {"gold": gold} if gold else {}
    return _query(task=task.name, **task.texts(example), **given, model=model)


def link_to_model(model: str, task: Task = NLI) -> str:
    """Return a permalink that opens the Probe tab with a model."""
    return _query(task=task.name, model=model)


def link_to_compare(
    models: Sequence[str],
    task: Task = NLI,
    on: str = "",
    texts: Mapping[str, str] = MappingProxyType({}),
    grants: Sequence[str] = (),
    long: Long = "cut",
) -> str:
    """Return a permalink that opens the Compare tab with these models.

    Where it says on what, it compares them at once; with grants it lets others use the models.
    """
    more = ({"on": on} if on else {}) | dict(texts)
    more |= {"long": long} if long != "cut" else {}
    given = {"grant": ",".join(grants)} if grants else {}
    return _query(tab="compare", task=task.name, models=",".join(models), **more, **given)


def link_to_inoculation(challenge: str, model: str, task: Task = NLI) -> str:
    """Return a permalink that opens the Inoculate tab with a model and a challenge chosen."""
    return _query(tab="inoculate", task=task.name, model=model, challenge=challenge)


def link_to_repair(model: str, task: Task = NLI) -> str:
    """Return a permalink that opens the Repair tab with a model chosen."""
    return _query(tab="repair", task=task.name, model=model)


def link_to_run(
    ids: Sequence[str], grants: Sequence[str] = (), task: str = NLI.name, tab: str = "inoculate"
) -> str:
    """Return a permalink that opens a tab with a task's runs, if they may be seen.

    With grants it lets whoever opens it see them.
    """
    given = {"grant": ",".join(grants)} if grants else {}
    return _query(tab=tab, task=task, run=",".join(ids), **given)


def link_to_lesson(lesson: str, step: int = 1, task: str = "", model: str = "") -> str:
    """Return a permalink that opens the Learn tab at a step of a lesson; the first is 1."""
    named = {"task": task, "model": model}
    chosen = {name: value for name, value in named.items() if value}
    return _query(tab="learn", lesson=lesson, step=str(step), **chosen)


def _query(**parameters: str) -> str:
    return "?" + urlencode(parameters)
