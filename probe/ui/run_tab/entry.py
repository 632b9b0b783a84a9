"""What a tab of runs supplies: its words, its form, what the form asks for, what runs came to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.runs.run import RunRequest, StoredRun
from probe.tasks.task import Task
from probe.ui.task_choice import labelled

NO_RUN = (
    "No finished run here yet",
    "Choose a model, press Start, and what comes of it stands here.",
)


def no_rank(run: StoredRun) -> int:
    """Return that the gallery's runs are offered in their own order."""
    return 0


@dataclass(frozen=True)
class RunTab:
    """A tab that starts runs of some kinds and shows what they came to.

    `id` stands in links, and begins the ids of its elements. `fields` and `settings` lay out what
    is always seen and what is folded, and return the components. `offered` gives an update for each
    of them, in this order, for a task. `requests` and `forecast` take the model's name and their
    values; they raise UserError with a sentence. Runs of the gallery whose `group` is the same are
    shown together, those of the lowest `rank` are offered first. `files` writes what a person takes
    away of runs into a folder. `judged_anew` shows runs of which one, by its id, is judged by
    another rule, as it was typed; what is stored stays.

    `follow` wires what else is shown anew once the fields of a task are offered.

    `model` is a list of models that stands elsewhere; `place` is the path of its place; `suited`
    gives the task that is offered where another one is chosen; `keeps_models` says whether a run
    may leave a model. `start` is the button's word, `empty` head and sentence of what stands there
    at first.
    """

    id: str
    kinds: tuple[str, ...]
    hint: str
    head: str
    fields: Callable[[], list[Any]]  # Any: components and their updates share no useful type
    settings: Callable[[], list[Any]]
    offered: Callable[[Task], list[Any]]
    requests: Callable[..., Sequence[RunRequest]]
    forecast: Callable[..., Markup]
    group: Callable[[StoredRun], str]
    title: Callable[[StoredRun], str]
    results: Callable[[Sequence[StoredRun]], Markup]
    files: Callable[[Sequence[StoredRun], Path], list[Path]]
    rank: Callable[[StoredRun], int] = no_rank
    judged_anew: Callable[[Sequence[StoredRun], str, str], Markup] | None = None
    follow: Callable[[gr.events.Dependency], None] | None = None
    model: gr.Dropdown | None = None
    place: str = "train"
    suited: Callable[[Task], Task] = labelled
    keeps_models: bool = True
    start: str = "Start"
    empty: tuple[str, str] = NO_RUN
