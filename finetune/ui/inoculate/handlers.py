"""What the buttons and lists of the Inoculate tab do."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.trials.inoculation import InoculationRun
from finetune.trials.planning import Choices
from finetune.ui.downloads import write_files
from finetune.ui.html.sweep import told
from finetune.ui.inoculate import run_lists
from finetune.ui.inoculate.opening import chosen, listed
from finetune.ui.inoculate.plan_form import choices, forecast, jobs_of
from finetune.ui.inoculate.start import start_sweep
from finetune.ui.inoculate.telling import Telling
from finetune.ui.inoculate.view import (
    Outputs,
    ViewState,
    card,
    gallery_choice,
    show,
    trouble_outputs,
)
from probe.errors import StoreError, UserError
from probe.models.library import AnyModel
from probe.runs.access import require_for_runs
from probe.runs.engine import Engine
from probe.runs.gallery import OWNER
from probe.runs.run import OPEN, STOPPED
from probe.runs.store import Store
from probe.tasks.task import task_named
from probe.ui.events import cell_of
from probe.ui.html.elements import NOTHING, alert
from probe.ui.links import link_to_run
from probe.ui.run_tab.controls import change_own, grants_of
from probe.ui.visitors.visitor_files import check_room, check_start, own_file

Values = list[Any]  # Any: text, or one of gradio's updates


@dataclass(frozen=True)
class Handlers:
    """The run store, the engine, the gallery and the models that are loaded, and what they serve.

    Most take the fields of `ViewState` in their order. They return what is chosen, `Outputs`, or
    both, in the order of the tab's outputs.
    """

    store: Store
    engine: Engine
    gallery: Sequence[InoculationRun]
    loaded: Callable[[str], AnyModel | None] = lambda name: None

    @property
    def telling(self) -> Telling:
        """What would tell where a run tells too little."""
        return Telling(self.store, self.loaded)

    def _show(self, state: ViewState, mark_before: str = "") -> Outputs:
        return show(self.store, self.gallery, state, mark_before, self.telling.offer)

    def forecast(self, owner: str, *fields: Any) -> Markup:
        """Say about how long the plan takes, or what is wrong with it."""
        try:
            self._chosen(owner, fields)
        except UserError as trouble:
            return alert(trouble)
        return forecast(*fields, loaded=self.loaded)

    def _chosen(self, owner: str, fields: Sequence[Any]) -> tuple[Choices, ...]:
        """Return what is chosen, whose models and files are there for this visitor.

        Raises ModelError, FileError, StoreError.
        """
        chosen = choices(*fields)
        for each in chosen:
            require_for_runs(self.store, owner, each["model"])
        for place in vars(chosen[0].files).values():
            if isinstance(place, Path):
                own_file(owner, place)
        return chosen

    def refresh(self, *fields: Any) -> Values:
        """Show what is looked at."""
        return self._show(ViewState(*fields)).outputs

    def start_runs(self, owner: str, task: str, *fields: Any) -> Values:
        """Start the runs that the form asks for and choose them to be looked at."""
        try:
            check_start(self.store, owner)
            jobs = jobs_of(self._chosen(owner, fields))
            plans = [(job.plan, job.data) for job in jobs]
            runs = start_sweep(self.store, self.engine, owner, plans, jobs[0].sources)
        except UserError as trouble:
            return [alert(trouble), *[gr.skip()] * 4]
        return self._begun(owner, task, runs)

    def start_telling(self, event: gr.EventData, *fields: Any) -> Values:
        """Start the run that would tell what the opened one does not, and look at it."""
        state, pressed = ViewState(*fields), cell_of(event)
        try:
            check_start(self.store, state.owner)
            run = next(r for r in state.runs(self.store, self.gallery) if r.id == pressed)
            job = self.telling.job(state.owner, run, state.selection)
            sources = {} if run.owner == OWNER else run.artefacts.get("sources", {})
            runs = start_sweep(self.store, self.engine, state.owner, [job], sources)
        except (UserError, StopIteration) as trouble:
            return [alert(str(trouble) or f"there is no run {pressed!r} here"), *[gr.skip()] * 4]
        return self._begun(state.owner, state.task, runs)

    def _begun(self, owner: str, task: str, runs: Sequence[InoculationRun]) -> Values:
        """Choose runs that began to be looked at."""
        state = ViewState(owner, [run.id for run in runs], (), (), "oracle_lr", "", task)
        public = run_lists.of_task(self.gallery, task_named(task))
        return [NOTHING, *chosen(self.store, state, public)]

    def cancel_runs(self, *fields: Any) -> Values:
        """Cancel those of the runs looked at that are open."""
        return self._for_own_runs(self.engine.cancel, OPEN, fields)

    def reopen_runs(self, *fields: Any) -> Values:
        """Take up those that failed or were cancelled with the cells they lack."""
        return self._for_own_runs(self.engine.reopen, STOPPED, fields)

    def _for_own_runs(
        self, act: Callable[[str], None], states: Collection[str], fields: Sequence[Any]
    ) -> Values:
        """Do something with the own runs in these states, and show what came of it."""
        state = ViewState(*fields)
        try:
            runs = run_lists.chosen_runs(self.store, state.owner, state.ids)
            change_own(act, states, state.owner, runs)
            shown = self._show(state)
            shown.ended = told(state.runs(self.store, self.gallery), state.selection)
        except StoreError as trouble:
            return trouble_outputs(trouble).outputs
        return shown.outputs

    def open_card(self, event: gr.EventData, *fields: Any) -> Values:
        """Show the card of the run whose outcome was pressed."""
        opened = cell_of(event)
        state = replace(ViewState(*fields), opened=opened)
        try:
            return [opened, card(state.runs(self.store, self.gallery), state, self.telling.offer)]
        except StoreError as trouble:
            return [opened, alert(trouble)]

    def tick(self, seen: str, *fields: Any) -> Values:
        """Show what is new, and the list of runs where one changed its state."""
        state = ViewState(*fields)
        shown = self._show(state, seen)
        # gradio's mark to skip where nothing was read
        if shown.seen == seen or not isinstance(shown.seen, str):
            return [*shown.outputs, gr.skip()]
        shown.ended = told(state.runs(self.store, self.gallery), state.selection)
        return [*shown.outputs, gr.Dropdown(listed(self.store, state.owner, state.task))]

    def follow_plan(self, models: Sequence[str], names: Sequence[str], *fields: Any) -> Values:
        """Look at the gallery's runs of the models that a plan names, and open the challenge's.

        Not where own runs are looked at, nor where the gallery has none of the models.
        """
        state = ViewState(*fields)
        public = run_lists.of_task(self.gallery, task_named(state.task))
        there = gallery_choice(public, models, run_lists.challenges_of(public))
        if state.ids or not there:
            return [*[gr.skip()] * 3, *Outputs().outputs]
        planned = run_lists.of_gallery(public, models, names)
        opened = planned[0].id if planned else ""
        state = replace(state, models=there[0], challenges=there[1], opened=opened)
        return [*there, opened, *self._show(state).outputs]

    def share_runs(self, *fields: Any) -> Values:
        """Let others read the own runs that are looked at; return the link, or what is wrong."""
        state = ViewState(*fields)
        try:
            runs = run_lists.chosen_runs(self.store, state.owner, state.ids)
            own = [run.id for run in runs if run.owner == state.owner]
            grants = grants_of(self.store, state.owner, runs)
        except UserError as trouble:
            return [alert(trouble), gr.skip()]
        return [NOTHING, gr.Textbox(link_to_run(own, grants, state.task), visible=True)]

    def make_files(self, *fields: Any) -> gr.Files:
        """Write the files of the runs that are looked at."""
        state = ViewState(*fields)
        runs = [run for run in state.runs(self.store, self.gallery) if run.results]
        check_room(self.store, state.owner)
        return gr.Files(write_files(state.owner, runs, state.selection), visible=True)
