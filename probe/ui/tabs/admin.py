"""The Admin tab, behind a password: the app's load, and everybody's runs to cancel or delete."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from probe.errors import RunError, UserError
from probe.runs.access import discard_run
from probe.ui.events import CHANGING, QUIET
from probe.ui.html.admin import load_table, runs_table, short_owner
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.page import Page
from probe.ui.server.load import load_of
from probe.ui.server.passwords import AdminDoor

ABOUT = (
    "For who runs this app: the runs of all visitors and what the machine has to do. The view "
    "closes after an hour, or when you leave the page."
)


@dataclass(frozen=True)
class Handlers:
    """What the tab's buttons do. Each asks first whether the door is open for this page.

    They return what `Shown` has, in its order.
    """

    page: Page
    door: AdminDoor = field(default_factory=AdminDoor)

    async def open(self, password: str | None) -> list[Any]:
        """Open the view for the right password, which is then gone from the page."""
        try:
            token = await self.door.open(password or "")
        except UserError as trouble:
            return ["", "", alert(trouble), gr.Column(visible=False), *[gr.skip()] * 3]
        return [token, "", *self.refresh(token)]

    def shut(self, token: str) -> list[Any]:
        """Close the view."""
        self.door.shut(token)
        return ["", "", NOTHING, gr.Column(visible=False), NOTHING, NOTHING, gr.Dropdown([])]

    def refresh(self, token: str) -> list[Any]:
        """Show load and runs as they are now."""
        return self._do(token, lambda: NOTHING)

    def cancel(self, token: str, run_id: str | None) -> list[Any]:
        """Cancel a run."""
        return self._do(token, lambda: self._cancel(run_id or ""))

    def delete(self, token: str, run_id: str | None) -> list[Any]:
        """Delete a run with its model."""
        return self._do(token, lambda: self._delete(run_id or ""))

    def _cancel(self, run_id: str) -> Any:
        core = self.page.core
        core.engine.cancel(self._run(run_id).id)
        return note(f"Run {run_id} is being cancelled.")

    def _delete(self, run_id: str) -> Any:
        core = self.page.core
        discard_run(core.store, core.engine, self._run(run_id))
        return note(f"Run {run_id} is deleted.")

    def _run(self, run_id: str) -> Any:
        if not run_id:
            raise RunError("choose a run first")
        return self.page.core.store.get(run_id)

    def _do(self, token: str, act: Callable[[], Any]) -> list[Any]:
        """Act and show what is then; a closed door shows nothing."""
        try:
            self.door.require_open(token)
        except UserError as trouble:
            return [alert(trouble), gr.Column(visible=False), NOTHING, NOTHING, gr.skip()]
        try:
            told = act()
        except UserError as trouble:
            told = alert(trouble)
        runs = self.page.core.store.runs()
        choices = [(f"{run.id} of {short_owner(run.owner)}", run.id) for run in runs]
        return [
            told,
            gr.Column(visible=True),
            load_table(load_of(self.page.blocks, runs)),
            runs_table(runs),
            gr.Dropdown(choices, value=None),
        ]


def build(page: Page) -> None:
    """Put the tab together."""
    handlers = Handlers(page)
    gr.HTML(note(ABOUT), padding=False)
    with gr.Row(elem_classes="card tools"):
        password = gr.Textbox(label="Password", type="password", elem_id="admin-password")
        enter = gr.Button("Open", scale=0, min_width=120, elem_id="admin-open")
    token, told = (
        gr.Textbox("", label="token", visible=False),
        gr.HTML(elem_id="admin-told", padding=False),
    )
    with gr.Column(visible=False) as view:
        with gr.Row(elem_classes="tools"):
            again = gr.Button("Refresh", scale=0, size="sm", min_width=90, elem_id="admin-refresh")
            leave = gr.Button("Close", scale=0, size="sm", min_width=90, elem_id="admin-close")
        load = gr.HTML(elem_id="admin-load", padding=False)
        with gr.Row(elem_classes="card tools"):
            run = gr.Dropdown([], value=None, label="Run", elem_id="admin-run", **CHANGING)
            cancel = gr.Button("Cancel this run", scale=0, size="sm", elem_id="admin-cancel")
            delete = gr.Button("Delete this run", scale=0, size="sm", elem_id="admin-delete")
        runs = gr.HTML(elem_id="admin-runs", padding=False)
    shown = [told, view, load, runs, run]
    behind: dict[str, Any] = {"concurrency_id": "admin", **QUIET}
    entered = [token, password, *shown]
    gr.on([enter.click, password.submit], handlers.open, password, entered, **behind)
    leave.click(handlers.shut, token, entered, **behind)
    again.click(handlers.refresh, token, shown, **behind)
    cancel.click(handlers.cancel, [token, run], shown, **behind)
    delete.click(handlers.delete, [token, run], shown, **behind)
