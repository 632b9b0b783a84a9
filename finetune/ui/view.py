"""The right side of the Inoculate tab: what is shown of the runs that are looked at."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.ui import run_lists
from finetune.ui.html.run import outcome
from finetune.ui.html.sweep import NOTHING_CHOSEN, compared, curves, going, mark, troubles
from probe.errors import StoreError
from probe.runs.run import OPEN
from probe.runs.store import Store
from probe.ui.html.elements import NOTHING, alert


@dataclass
class Outputs:
    """What the page shows, in the order of the tab's outputs; what is not given stays."""

    curves: Any = field(default_factory=gr.skip)  # Any: text, or one of gradio's updates
    going: Any = field(default_factory=gr.skip)
    table: Any = field(default_factory=gr.skip)
    card: Any = field(default_factory=gr.skip)
    seen: Any = field(default_factory=gr.skip)
    timer: Any = field(default_factory=gr.skip)
    halt: Any = field(default_factory=gr.skip)
    again: Any = field(default_factory=gr.skip)
    take: Any = field(default_factory=gr.skip)

    @property
    def outputs(self) -> list[Any]:
        """The values in their order."""
        return list(vars(self).values())


@dataclass(frozen=True)
class ViewState:
    """What somebody looks at: own runs by id, the gallery's by model and challenge, and how."""

    owner: str
    ids: Sequence[str]
    models: Sequence[str]
    challenges: Sequence[str]
    selection: Selection
    opened: str

    def runs(self, store: Store, gallery: Sequence[InoculationRun]) -> list[InoculationRun]:
        """Return the runs, own ones first. Raises StoreError."""
        return [
            *run_lists.own(store, self.owner, self.ids),
            *run_lists.of_gallery(gallery, self.models, self.challenges),
        ]


def show(
    store: Store, gallery: Sequence[InoculationRun], looking: ViewState, seen: str = ""
) -> list[Any]:
    """Return what the page shows, in the order of `Outputs`.

    `seen` is the mark of the last answer: what has not changed is not sent again.
    """
    try:
        runs = looking.runs(store, gallery)
    except StoreError as trouble:  # the database may be back at the next tick
        return in_trouble(trouble)
    now = "|".join([looking.selection, looking.opened, mark(runs)])
    told = (going(runs) or troubles(runs)) if runs else NOTHING_CHOSEN
    shown = _buttons(runs, Outputs(going=gr.HTML(told, visible=bool(told)), seen=now))
    if now != seen:
        shown.curves = curves(runs, looking.selection)
        shown.table = compared(runs, _opened(runs, looking), looking.selection)
        shown.card = card(runs, looking)
    return shown.outputs


def in_trouble(trouble: StoreError) -> list[Any]:
    """Return what the page shows when the store cannot be used: a sentence, and all else stays."""
    return Outputs(going=gr.HTML(alert(trouble), visible=True)).outputs


def _buttons(runs: Sequence[InoculationRun], shown: Outputs) -> Outputs:
    open_runs = [run for run in runs if run.state in OPEN]
    ended = any(run.state in ("failed", "cancelled") for run in runs)
    several = "these runs" if len(open_runs) > 1 else "this run"
    shown.timer = gr.Timer(active=bool(open_runs))
    shown.halt = gr.Button(
        f"Cancel {several}", visible=any(not run.cancelling for run in open_runs)
    )
    shown.again = gr.Button(visible=ended and not open_runs)
    shown.take = gr.Button(visible=any(run.results for run in runs))
    return shown


def _opened(runs: Sequence[InoculationRun], looking: ViewState) -> str:
    """Return the id of the run whose card is shown: the one pressed, else the first judged."""
    evaluation = [run.id for run in runs if run.verdict]
    return looking.opened if looking.opened in evaluation else next(iter(evaluation), "")


def card(runs: Sequence[InoculationRun], looking: ViewState) -> Markup:
    """Show the outcome of the opened run."""
    opened = _opened(runs, looking)
    return next((outcome(run, looking.selection) for run in runs if run.id == opened), NOTHING)


def asked_for(
    query: str, store: Store, owner: str, gallery: Sequence[InoculationRun]
) -> ViewState | None:
    """Return what a permalink's `run` asks for, as far as this browser may see it."""
    ids = [one for one in query.split(",") if one]
    mine = [run.id for run in run_lists.own(store, owner, ids)]
    public = [run for run in gallery if run.id in ids]
    if not (mine or public):
        return None
    return ViewState(
        owner,
        mine,
        run_lists.models_of(public),
        run_lists.challenges_of(public),
        "oracle_lr",
        ids[0],
    )


def first_look(store: Store, owner: str, gallery: Sequence[InoculationRun]) -> ViewState:
    """Return what a page begins with: the newest sweep, for a newcomer the whole gallery."""
    ids = run_lists.newest_sweep(run_lists.all_own(store, owner))
    if ids:
        return ViewState(owner, ids, (), (), "oracle_lr", "")
    every = (run_lists.models_of(gallery), run_lists.challenges_of(gallery))
    return ViewState(owner, (), *every, "oracle_lr", "")


def of_plan(
    gallery: Sequence[InoculationRun], models: Sequence[str], challenges: Sequence[str]
) -> tuple[list[str], list[str]] | None:
    """Return the gallery's models and challenges that a plan asks for, None where it has none."""
    public = run_lists.of_gallery(gallery, models, challenges)
    return (run_lists.models_of(public), run_lists.challenges_of(public)) if public else None
