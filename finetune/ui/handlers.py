"""What the buttons and lists of the Inoculate tab do."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from finetune.experiments.inoculation.run import InoculationRun
from finetune.ui import run_lists
from finetune.ui.downloads import write_files
from finetune.ui.html.sweep import words_of
from finetune.ui.links import plan_in
from finetune.ui.plan_form import forecast, form_of, jobs_of, sources_of
from finetune.ui.samples import samples
from finetune.ui.start import start_sweep
from finetune.ui.view import Outputs, ViewState, asked_for, first_look, in_trouble, of_plan, show
from probe.errors import StoreError, UserError
from probe.runs.engine import Engine
from probe.runs.owners import new_owner
from probe.runs.run import OPEN
from probe.runs.store import Store
from probe.ui.html.elements import NOTHING, alert

Values = list[Any]  # Any: text, or one of gradio's updates


@dataclass(frozen=True)
class Handlers:
    """The run store, the engine and the gallery, and what is done with them.

    Each takes `looked`, the fields of `ViewState` in their order, and returns what is chosen,
    `Outputs`, or both, in the order of the tab's outputs.
    """

    store: Store
    engine: Engine
    gallery: Sequence[InoculationRun]

    def open_page(self, owner: str | None, request: gr.Request) -> Values:
        """Find the browser's runs again; choose what a link names, or the newest.

        At the end the models and challenges that a link names, and whether it names any.
        """
        owner, query = owner or new_owner(), request.query_params
        asked, plan = query.get("run", ""), plan_in(query)
        found = asked_for(asked, self.store, owner, self.gallery) if asked else None
        trouble = alert(f"there is no run {asked!r} here that this browser may see")
        if plan and (public := of_plan(self.gallery, *plan)):
            found = found or ViewState(owner, (), *public, "oracle_lr", "")
        looking = found or first_look(self.store, owner, self.gallery)
        fields = [*plan, True] if plan else [gr.skip(), gr.skip(), False]
        return [owner, *self._chosen(looking), trouble if asked and not found else NOTHING, *fields]

    def of_link(self, named: bool, *fields: Any) -> Values:
        """Show samples and the estimate of the plan that a link named."""
        return [samples(fields[1]), forecast(*fields)] if named else [gr.skip(), gr.skip()]

    def _chosen(self, looking: ViewState) -> Values:
        mine = self._listed(looking.owner)
        return [
            gr.Dropdown(mine, value=list(looking.ids), visible=bool(mine)),
            gr.CheckboxGroup(value=list(looking.models)),
            gr.CheckboxGroup(value=list(looking.challenges)),
            looking.opened,
        ]

    def _listed(self, owner: str) -> list[tuple[str, str]]:
        return [(words_of(run), run.id) for run in run_lists.all_own(self.store, owner)]

    def look(self, *looked: Any) -> Values:
        """Show what is looked at."""
        return show(self.store, self.gallery, ViewState(*looked))

    def enter(self, *looked: Any) -> Values:
        """Note that the tab is open, and show what is looked at."""
        return [True, *self.look(*looked)]

    def look_if(self, is_open: bool, *looked: Any) -> Values:
        """Show what is looked at, if the tab is open: drawing for nobody takes time."""
        return self.look(*looked) if is_open else Outputs().outputs

    def begin(self, owner: str, *fields: Any) -> Values:
        """Start the runs that the form asks for and choose them to be looked at."""
        try:
            form = form_of(*fields)
            made = start_sweep(self.store, self.engine, owner, jobs_of(form), sources_of(form))
        except UserError as trouble:
            return [alert(trouble), *[gr.skip()] * 4]
        looking = ViewState(owner, [run.id for run in made], (), (), "oracle_lr", "")
        return [NOTHING, *self._chosen(looking)]

    def halt(self, *looked: Any) -> Values:
        """Cancel those of the runs looked at that are open."""
        return self._do(self.engine.cancel, OPEN, looked)

    def take_up(self, *looked: Any) -> Values:
        """Take up those that failed or were cancelled with the cells they lack."""
        return self._do(self.engine.reopen, ("failed", "cancelled"), looked)

    def _do(
        self, act: Callable[[str], None], states: Collection[str], looked: Sequence[Any]
    ) -> Values:
        """Do something with the own runs in these states, and show what came of it."""
        looking = ViewState(*looked)
        try:
            for run in run_lists.own(self.store, looking.owner, looking.ids):
                if run.state in states:
                    act(run.id)
        except StoreError as trouble:
            return in_trouble(trouble)
        return self.look(*looked)

    def press(self, event: gr.EventData, *looked: Any) -> Values:
        """Show the card of the run whose outcome was pressed."""
        opened = str(getattr(event, "cell", ""))
        looking = replace(ViewState(*looked), opened=opened)
        return [opened, *show(self.store, self.gallery, looking)]

    def tick(self, seen: str, *looked: Any) -> Values:
        """Show what is new, and the list of runs where one changed its state."""
        looking = ViewState(*looked)
        shown = show(self.store, self.gallery, looking, seen)
        now = shown[list(vars(Outputs())).index("seen")]
        fresh = isinstance(now, str) and now != seen  # gradio's mark to skip where nothing was read
        return [*shown, gr.Dropdown(self._listed(looking.owner)) if fresh else gr.skip()]

    def follow(self, models: Sequence[str], names: Sequence[str], *looked: Any) -> Values:
        """Look at the gallery's runs that a plan asks for, unless own runs are looked at."""
        looking, found = ViewState(*looked), of_plan(self.gallery, models, names)
        if looking.ids or not found:
            return [gr.skip(), gr.skip(), *Outputs().outputs]
        looking = replace(looking, models=found[0], challenges=found[1])
        return [*found, *show(self.store, self.gallery, looking)]

    def take(self, *looked: Any) -> gr.Files:
        """Write the files of the runs that are looked at."""
        looking = ViewState(*looked)
        runs = [run for run in looking.runs(self.store, self.gallery) if run.results]
        return gr.Files(write_files(runs, looking.selection), visible=True)
