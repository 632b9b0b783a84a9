"""What the Inoculate tab begins with: for a task, and for what a link names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from finetune.report.inoculation import challenge_title, model_name, model_title
from finetune.trials.inoculation import InoculationRun
from finetune.ui.html.sweep import list_title
from finetune.ui.inoculate import run_lists
from finetune.ui.inoculate.plan_fields import DEFAULT_SIZES, sizes_for
from finetune.ui.inoculate.samples import challenge_choices, first_challenge
from finetune.ui.inoculate.view import ViewState, gallery_choice, initial_state, linked_state
from finetune.ui.links import plan_in
from probe.errors import StoreError
from probe.runs.access import ModelAccess
from probe.runs.store import Store
from probe.tasks.task import Task, task_named
from probe.ui.choices import model_choices
from probe.ui.html.elements import NOTHING, alert

Values = list[Any]  # Any: text, or one of gradio's updates


@dataclass(frozen=True)
class Opening:
    """Finds what to begin with. Both of its handlers answer with the same outputs."""

    store: Store
    models: ModelAccess
    gallery: Sequence[InoculationRun]

    def choose_task(
        self, name: str, owner: str, sizes: Sequence[str], request: gr.Request
    ) -> Values:
        """Offer what there is for a task; and what a link names."""
        task = task_named(name)
        query = request.query_params
        here = query.get("aim", "inoculate") == "inoculate"
        return self.begin(task, owner, query if here else {}, sizes)

    def begin(
        self,
        task: Task,
        owner: str,
        query: Mapping[str, str],
        sizes: Sequence[str] = DEFAULT_SIZES,
    ) -> Values:
        """Return what is looked at, what is wrong with the link, and the plan."""
        run_ids, plan = query.get("run", ""), plan_in(query)
        public = run_lists.of_task(self.gallery, task)
        looked_at, problem = [gr.skip()] * 4, NOTHING
        try:
            state = self._linked(run_ids, plan, owner, public, task)
            if run_ids and not state:
                problem = alert(f"there is no run {run_ids!r} here that this browser may see")
            state = state or initial_state(self.store, owner, public, task.name)
            looked_at = chosen(self.store, state, public)
        except StoreError as trouble:
            problem = alert(trouble)
        models, challenges = plan or self._usual_plan(owner, task)
        offered = sizes_for(task, sizes)
        return [
            *looked_at,
            problem,
            gr.Dropdown(model_choices(self.models.names(owner, task)), value=models),
            gr.Dropdown(challenge_choices(task), value=challenges),
            gr.Dropdown(value=offered) if list(offered) != list(sizes) else gr.skip(),
            gr.Radio(value="full" if task.has_spans else "fast", visible=not task.has_spans),
            gr.Button(interactive=True),
        ]

    def _linked(
        self,
        run_ids: str,
        plan: tuple[list[str], list[str]] | None,
        owner: str,
        public: Sequence[InoculationRun],
        task: Task,
    ) -> ViewState | None:
        if run_ids:
            return linked_state(run_ids, self.store, owner, public, task.name)
        if plan and (names := gallery_choice(public, *plan)):
            return ViewState(owner, (), *names, "oracle_lr", "", task.name)
        return None

    def _usual_plan(self, owner: str, task: Task) -> tuple[list[str], list[str]]:
        return self.models.names(owner, task)[:1], [first_challenge(task)]


def chosen(store: Store, state: ViewState, public: Sequence[InoculationRun]) -> Values:
    """Return what is looked at for the lists of runs, models and challenges, and the opened run."""
    own = listed(store, state.owner, state.task)
    challenges = {run.plan.challenge: challenge_title(run) for run in public}
    return [
        gr.Dropdown(own, value=list(state.ids), visible=bool(own)),
        gr.CheckboxGroup(
            gallery_models(public),
            value=list(state.models),
            visible=bool(public),
            elem_classes=[],
        ),
        gr.CheckboxGroup(
            [(title, name) for name, title in challenges.items()],
            value=list(state.challenges),
            visible=bool(public),
            elem_classes=[],
        ),
        state.opened,
    ]


def listed(store: Store, owner: str, task: str) -> list[tuple[str, str]]:
    """Return title and id of each run of a task that a visitor may read."""
    return [
        (f"{list_title(run)}{'' if run.owner == owner else ' (shown to you)'}", run.id)
        for run in run_lists.of_task(run_lists.listed_runs(store, owner), task_named(task))
    ]


def gallery_models(public: Sequence[InoculationRun]) -> list[tuple[str, str]]:
    """Return title and name of each model of the gallery."""
    titles = {model_name(run): model_title(run) for run in public}
    first = run_lists.first_model(public)
    ordered = [*first, *(name for name in titles if name not in first)]
    return [(titles[name], name) for name in ordered]
