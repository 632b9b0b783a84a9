"""What the buttons and lists of a tab of runs do."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import StoreError, UserError
from probe.models.bundled import title_of
from probe.runs.access import ModelAccess, check_kept_models, require_for_runs, start_runs
from probe.runs.engine import Engine
from probe.runs.run import OPEN, STOPPED
from probe.runs.store import Store
from probe.tasks.task import Task, task_named
from probe.ui.choices import model_choices
from probe.ui.html.elements import NOTHING, alert
from probe.ui.links import link_to_run, not_here
from probe.ui.run_tab.controls import change_own, grants_of
from probe.ui.run_tab.entry import RunTab
from probe.ui.run_tab.looked_at import Offered, ids_of, is_of_gallery
from probe.ui.run_tab.view import Outputs, show, told
from probe.ui.visitors.visitor_files import check_room, check_start, fresh_folder, own_file

Values = list[Any]  # Any: text, or one of gradio's updates
Chosen = str | list[str]
"""The model that is chosen, or several."""


@dataclass(frozen=True)
class Handlers:
    """A tab's entry, the run store, the engine, the models, and what is done with them.

    `files` are the places among a form's values, after the model, that hold uploaded files. What
    is looked at is a choice of `Offered`.
    """

    entry: RunTab
    store: Store
    engine: Engine
    models: ModelAccess
    offered: Offered
    files: Sequence[int]

    def choose_task(self, name: str, owner: str, request: gr.Request) -> Values:
        """Offer what there is for a task; and what a link names."""
        task = self.entry.suited(task_named(name))
        return self.begin(task, owner, request.query_params)

    def begin(self, task: Task, owner: str, query: Mapping[str, str]) -> Values:
        """Return list of runs, problem, start, model, and an update for each field of the form."""
        mine = self.entry.id in (query.get("aim"), query.get("view"))
        linked = query.get("run", "") if mine else ""
        models = self.models.names(owner, task)
        named = query.get("model", "") if mine else ""
        model = named if named in models else models[0]
        listed, problem = gr.skip(), NOTHING
        if named not in ("", model):
            problem = alert(not_here("model", named, f"{title_of(model)} is chosen instead"))
        try:
            there = [run.id for run in self.offered.runs(owner, linked)]
            if linked and not there:
                problem = alert(f"there is no run {linked!r} here that this browser may see")
            choice = ",".join(there) or self.offered.first(owner, task, model)
            listed = self._listed(owner, task, choice)
        except StoreError as trouble:
            problem = alert(trouble)
        offered = gr.Dropdown(model_choices(models), value=model)
        chosen_model = gr.skip() if self.entry.model else offered
        start = gr.Button(interactive=True)
        return [listed, problem, start, chosen_model, *self.entry.offered(task)]

    def _listed(self, owner: str, task: Task, choice: str) -> Any:
        """Return the list of runs with what is chosen of it."""
        choices = self.offered.choices(owner, task)
        if choice and choice not in {value for _, value in choices}:
            titles = map(self.entry.title, self.offered.runs(owner, choice))
            choices = [(", ".join(titles), choice), *choices]
        return gr.Dropdown(choices, value=choice, visible=bool(choices))

    def offer_models(self, owner: str, task: str) -> Any:
        """Offer the visitor's own models, and those that came meanwhile."""
        return gr.Dropdown(model_choices(self.models.names(owner, task_named(task))))

    def look(self, owner: str, choice: str | None) -> Values:
        """Show what is looked at."""
        return self._look(owner, choice or "").outputs

    def _look(self, owner: str, choice: str, seen: str = "") -> Outputs:
        try:
            return show(self.entry, owner, self.offered.runs(owner, choice), seen)
        except StoreError as trouble:  # the database may be back at the next tick
            return _trouble(trouble)

    def judge_anew(self, event: gr.EventData, owner: str, choice: str | None) -> Any:
        """Show what is looked at, one run of it judged by the rule that was typed."""
        run_id, typed = (str(getattr(event, name, "")) for name in ("run", "value"))
        try:
            runs = self.offered.runs(owner, choice or "")
        except StoreError as trouble:
            return alert(trouble)
        return self.entry.judged_anew(runs, run_id, typed) if self.entry.judged_anew else gr.skip()

    def follow_model(self, model: Chosen, choice: str | None, owner: str, task: str) -> Values:
        """Look at the gallery's runs of the model that is chosen, unless own ones are looked at."""
        first = next(iter(_models(model)), "")
        there = self.offered.of_model(first, task_named(task))
        if not there or not is_of_gallery(choice or ""):
            return [gr.skip(), *Outputs().outputs]
        return [there, *self.look(owner, there)]

    def tick(self, seen: str, owner: str, choice: str | None, task: str) -> Values:
        """Show what is new, and list the runs anew where one changed its state."""
        choice = choice or ""
        shown = self._look(owner, choice, seen)
        if shown.seen == seen or not isinstance(shown.seen, str):
            return [*shown.outputs, gr.skip()]
        shown.ended = told(self.entry, self.offered.runs(owner, choice))
        return [*shown.outputs, self._listed(owner, task_named(task), choice)]

    def forecast(self, owner: str, model: Chosen, *values: Any) -> Markup:
        """Say about how long what the form asks for takes, or what is wrong with it."""
        try:
            self._check(owner, model, values)
            return self.entry.forecast(model, *values)
        except UserError as trouble:
            return alert(trouble)

    def start(self, owner: str, task: str, model: Chosen, *values: Any) -> Values:
        """Start the runs that the form asks for and choose them to be looked at."""
        try:
            check_start(self.store, owner)
            self._check(owner, model, values)
            requests = self.entry.requests(model, *values)
            if self.entry.keeps_models:
                check_kept_models(self.store, owner, len(requests))
            runs = start_runs(self.store, self.engine, owner, requests)
            choice = ",".join(run.id for run in runs)
            return [NOTHING, self._listed(owner, task_named(task), choice)]
        except UserError as trouble:
            return [alert(trouble), gr.skip()]

    def _check(self, owner: str, model: Chosen, values: Sequence[Any]) -> None:
        """Refuse a model or a file that is not there for this visitor. Raises UserError."""
        for name in _models(model):
            require_for_runs(self.store, owner, name)
        for place in self.files:
            if values[place]:
                own_file(owner, values[place])

    def stop(self, owner: str, choice: str | None) -> Values:
        """Cancel those of the runs looked at that are open."""
        return self._for_own_runs(self.engine.cancel, OPEN, owner, choice or "")

    def take_up(self, owner: str, choice: str | None) -> Values:
        """Take up those that failed or were cancelled with the cells they lack."""
        return self._for_own_runs(self.engine.reopen, STOPPED, owner, choice or "")

    def _for_own_runs(
        self, act: Callable[[str], None], states: Collection[str], owner: str, choice: str
    ) -> Values:
        """Do something with the own runs in these states, and show what came of it."""
        try:
            change_own(act, states, owner, self.offered.runs(owner, choice))
            runs = self.offered.runs(owner, choice)
        except StoreError as trouble:
            return _trouble(trouble).outputs
        shown = show(self.entry, owner, runs)
        shown.ended = told(self.entry, runs)
        return shown.outputs

    def share(self, owner: str, choice: str | None, task: str) -> Values:
        """Let others read the own runs that are looked at; return the link, or what is wrong."""
        try:
            grants = grants_of(self.store, owner, self.offered.runs(owner, choice or ""))
        except UserError as trouble:
            return [alert(trouble), gr.skip()]
        link = link_to_run(ids_of(choice or ""), grants, task, self.entry.id, self.entry.place)
        return [NOTHING, gr.Textbox(link, visible=True)]

    def make_files(self, owner: str, choice: str | None) -> gr.Files:
        """Write the files of the runs that are looked at."""
        check_room(self.store, owner)
        runs = [run for run in self.offered.runs(owner, choice or "") if run.results]
        return gr.Files(list(map(str, self.entry.files(runs, fresh_folder(owner)))), visible=True)


def _models(chosen: Chosen) -> list[str]:
    return [chosen] if isinstance(chosen, str) else chosen


def _trouble(trouble: StoreError) -> Outputs:
    """Return what the page shows when the store cannot be used: a sentence, and all else stays."""
    return Outputs(progress=alert(trouble), under_way=gr.Column(visible=True))
