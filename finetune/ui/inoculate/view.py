"""The right side of the Inoculate tab: what is shown of the runs that are looked at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.trials.inoculation import InoculationRun, Selection
from finetune.ui.html.gap import gap_plot
from finetune.ui.html.panels import change_mark, curves
from finetune.ui.html.run import outcome
from finetune.ui.html.sweep import nothing_yet, outcomes_table, progress_of_all, sentence
from finetune.ui.inoculate import run_lists
from probe.errors import StoreError
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.task import task_named
from probe.ui.html.elements import NOTHING, alert
from probe.ui.run_tab.controls import Controls

Offer = Callable[[str, InoculationRun, Selection], Markup]
"""Offers a visitor the run that would tell what another, with the rates of a selection, does not.
"""


def offer_nothing(owner: str, run: InoculationRun, selection: Selection) -> Markup:
    """Offer no run."""
    return NOTHING


@dataclass
class Outputs(Controls):
    """What the page shows, in the order of the tab's outputs; what is not given stays."""

    curves: Any = field(default_factory=gr.skip)  # Any: text, or one of gradio's updates
    progress: Any = field(default_factory=gr.skip)
    table: Any = field(default_factory=gr.skip)
    card: Any = field(default_factory=gr.skip)
    seen: Any = field(default_factory=gr.skip)
    say: Any = field(default_factory=gr.skip)
    under_way: Any = field(default_factory=gr.skip)
    ended: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class ViewState:
    """What somebody looks at: own runs by id, the gallery's by model and challenge, and how.

    All are runs of the task that is named.
    """

    owner: str
    ids: Sequence[str]
    models: Sequence[str]
    challenges: Sequence[str]
    selection: Selection
    opened: str
    task: str = NLI.name

    def runs(self, store: Store, gallery: Sequence[InoculationRun]) -> list[InoculationRun]:
        """Return the runs, own ones first. Raises StoreError."""
        task = task_named(self.task)
        own = run_lists.of_task(run_lists.chosen_runs(store, self.owner, self.ids), task)
        public = run_lists.of_task(gallery, task)
        return [*own, *run_lists.of_gallery(public, self.models, self.challenges)]


def show(
    store: Store,
    gallery: Sequence[InoculationRun],
    state: ViewState,
    mark_before: str = "",
    offer: Offer = offer_nothing,
) -> Outputs:
    """Return what the page shows.

    `mark_before` is the mark of the last answer: what has not changed is not sent again.
    """
    try:
        runs = state.runs(store, gallery)
    except StoreError as trouble:  # the database may be back at the next tick
        return trouble_outputs(trouble)
    mark_now = "|".join([state.selection, state.opened, state.task, change_mark(runs)])
    progress = progress_of_all(runs)
    outputs = Outputs(
        progress=gr.HTML(progress, visible=bool(progress)),
        under_way=gr.Column(visible=bool(progress)),
        seen=mark_now,
    )
    outputs.offer(state.owner, runs)
    if mark_now != mark_before:
        outputs.say, outputs.curves, outputs.table, outputs.card = pictures(runs, state, offer)
    return outputs


def pictures(
    runs: Sequence[InoculationRun], state: ViewState, offer: Offer = offer_nothing
) -> tuple[Markup, Markup, Markup, Markup]:
    """Return the sentence, the curves, the outcomes and the run that is read in words."""
    opened = opened_run(runs, state)
    drawn = curves(runs, state.selection, opened) or nothing_yet(runs, task_named(state.task))
    outcomes = gap_plot(runs, state.selection) + outcomes_table(runs, opened, state.selection)
    return sentence(runs, state.selection), drawn, outcomes, card(runs, state, offer)


def trouble_outputs(trouble: StoreError) -> Outputs:
    """Return what the page shows when the store cannot be used: a sentence, and all else stays."""
    told = gr.HTML(alert(trouble), visible=True)
    return Outputs(progress=told, under_way=gr.Column(visible=True))


def opened_run(runs: Sequence[InoculationRun], state: ViewState) -> str:
    """Return the id of the run whose card is shown: the one pressed, else the first judged."""
    judged = [run.id for run in runs if run.verdict]
    return state.opened if state.opened in judged else next(iter(judged), "")


def card(runs: Sequence[InoculationRun], state: ViewState, offer: Offer = offer_nothing) -> Markup:
    """Show the outcome of the opened run."""
    opened, chosen_by = opened_run(runs, state), state.selection
    cards = (
        outcome(run, chosen_by, offer(state.owner, run, chosen_by))
        for run in runs
        if run.id == opened
    )
    return next(cards, NOTHING)


def linked_state(
    query: str, store: Store, owner: str, gallery: Sequence[InoculationRun], task: str = NLI.name
) -> ViewState | None:
    """Return what a permalink's `run` asks for, as far as this browser may see it."""
    ids = [run_id for run_id in query.split(",") if run_id]
    own_ids = [run.id for run in run_lists.chosen_runs(store, owner, ids)]
    public = [run for run in gallery if run.id in ids]
    if not (own_ids or public):
        return None
    models, challenges = run_lists.models_of(public), run_lists.challenges_of(public)
    return ViewState(owner, own_ids, models, challenges, "oracle_lr", ids[0], task)


def initial_state(
    store: Store, owner: str, gallery: Sequence[InoculationRun], task: str = NLI.name
) -> ViewState:
    """Return what a page begins with: the newest sweep, for a newcomer a model of the gallery."""
    own = run_lists.of_task(run_lists.own_runs(store, owner), task_named(task))
    if ids := run_lists.newest_sweep(own):
        return ViewState(owner, ids, (), (), "oracle_lr", "", task)
    return replace(newcomers_state(gallery, task), owner=owner)


def newcomers_state(gallery: Sequence[InoculationRun], task: str = NLI.name) -> ViewState:
    """Return what a page begins with that knows no visitor: one model on every challenge."""
    public = run_lists.of_task(gallery, task_named(task))
    challenges = run_lists.challenges_of(public)
    return ViewState("", (), run_lists.first_model(public), challenges, "oracle_lr", "", task)


def gallery_choice(
    gallery: Sequence[InoculationRun], models: Sequence[str], challenges: Sequence[str]
) -> tuple[list[str], list[str]] | None:
    """Return the gallery's models and challenges that a plan asks for, None where it has none."""
    public = run_lists.of_gallery(gallery, models, challenges)
    return (run_lists.models_of(public), run_lists.challenges_of(public)) if public else None
