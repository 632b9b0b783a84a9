"""Admin, behind a password: the app's load, and everybody's runs to cancel or delete."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import gradio as gr
import psutil  # type: ignore[import-untyped]  # has no types
from markupsafe import Markup

from probe.errors import RunError, UserError
from probe.runs.access import discard_run
from probe.runs.experiment import run_title
from probe.runs.run import OPEN, AnyRun, StoredRun
from probe.settings import settings
from probe.ui.events import CHANGING, QUIET
from probe.ui.html.elements import NOTHING, alert, card, each, heads, join, note, table, title
from probe.ui.html.run import state_of
from probe.ui.page import Page
from probe.ui.server.passwords import AdminDoor

COLUMNS = ("run", "owner", "what", "state", "cells", "started")
SHOWN_RUNS = 200


def load_table(load: Mapping[str, str]) -> Markup:
    """Show the load, a line each."""
    lines = [
        Markup('<tr><th scope="row">{}</th><td>{}</td></tr>').format(*it) for it in load.items()
    ]
    return card(title("Load", 2) + table("load", heads(["", "now"]), join(lines)))


def runs_table(runs: Sequence[StoredRun]) -> Markup:
    """Show the newest runs, a line each; an owner is eight characters that tell nobody's token."""
    lines = [Markup("<tr>{}</tr>").format(each(Markup("<td>{}</td>"), _facts(run))) for run in runs]
    more = f"The newest {SHOWN_RUNS} of {len(runs)}. " if len(runs) > SHOWN_RUNS else ""
    about = note(f"{more}Runs with the same owner come from the same browser.")
    if not runs:
        return card(title("Runs of all visitors", 2) + note("No runs."))
    listed = table("runs", heads(COLUMNS), join(lines[:SHOWN_RUNS]))
    return card(title("Runs of all visitors", 2) + about + listed)


def _facts(run: StoredRun) -> list[str]:
    started = time.strftime("%d %b %H:%M", time.localtime(run.created))
    cells = f"{len(run.results)} of {len(run.cells)}"
    return [run.id, short_owner(run.owner), run_title(run), state_of(run), cells, started]


def short_owner(owner: str) -> str:
    """Return the beginning of the hash of an owner's token."""
    return sha256(owner.encode()).hexdigest()[:8]


MB, GB = 10**6, 10**9


def load_of(page: gr.Blocks, runs: Sequence[AnyRun]) -> Mapping[str, str]:
    """Return in words what the app does and takes, by what it is about."""
    queue, sessions = page._queue, page.app.state_holder
    app = psutil.Process()
    processes = app.children(recursive=True)
    going = [run for run in runs if run.state in OPEN]
    cells = [cell for run in going for cell in run.cells]
    home = settings().home
    return {
        "memory of the app": f"{app.memory_info().rss / MB:,.0f} MB",
        "its other processes": f"{len(processes)}, {_memory(processes) / MB:,.0f} MB",
        "memory of the machine": f"{psutil.virtual_memory().available / GB:,.1f} GB free",
        "pages remembered": f"{len(sessions.session_data):,} of {sessions.capacity:,}",
        "events": f"{queue.get_active_worker_count()} being answered, {len(queue)} waiting",
        "runs": f"{len(going)} going, {len(runs)} in all",
        "cells of those going": f"{sum(cell.state == 'done' for cell in cells)} of {len(cells)}",
        "disk": f"{_size(home) / MB:,.0f} MB stored, {_free(home) / GB:,.1f} GB free",
    }


def _memory(processes: Sequence[psutil.Process]) -> int:
    """Return the bytes of processes, of which some may have ended meanwhile."""
    total = 0
    for process in processes:
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


def _size(folder: Path) -> int:
    """Return the bytes of the files in a folder, of which some may have gone meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except OSError:
            continue
    return total


def _free(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(folder).free


ABOUT = (
    "For who runs this app: the runs of all visitors and what the machine has to do. The view "
    "closes after an hour, or when you leave the page."
)


Shown = dict[str, Any]  # Any: markup, values and gradio's updates
"""What parts of the view show, by their names."""


@dataclass(frozen=True)
class Handlers:
    """What the view's buttons do. Each asks first whether the door is open for this page."""

    page: Page
    door: AdminDoor = field(default_factory=AdminDoor)

    async def open(self, password: str | None) -> Shown:
        """Open the view for the right password, which is then gone from the page."""
        try:
            token = await self.door.open(password or "")
        except UserError as trouble:
            return {"token": "", "password": "", **_closed(alert(trouble))}
        return {"token": token, "password": "", **self.refresh(token)}

    def shut(self, token: str) -> Shown:
        """Close the view."""
        self.door.shut(token)
        return {"token": "", "password": "", **_closed(NOTHING)}

    def refresh(self, token: str) -> Shown:
        """Show load and runs as they are now."""
        return self._shown(token, lambda: NOTHING)

    def cancel(self, token: str, run_id: str | None) -> Shown:
        """Cancel a run."""

        def act() -> Markup:
            self.page.core.engine.cancel(self._run(run_id).id)
            return note(f"Run {run_id} is being cancelled.")

        return self._shown(token, act)

    def delete(self, token: str, run_id: str | None) -> Shown:
        """Delete a run with its model."""

        def act() -> Markup:
            core = self.page.core
            discard_run(core.store, core.engine, self._run(run_id))
            return note(f"Run {run_id} is deleted.")

        return self._shown(token, act)

    def _run(self, run_id: str | None) -> StoredRun:
        if not run_id:
            raise RunError("choose a run first")
        return self.page.core.store.get(run_id)

    def _shown(self, token: str, act: Callable[[], Markup]) -> Shown:
        """Act and show what is then; a closed door shows nothing."""
        try:
            self.door.require_open(token)
        except UserError as trouble:
            return _closed(alert(trouble))
        try:
            told = act()
        except UserError as trouble:
            told = alert(trouble)
        runs = self.page.core.store.runs()
        choices = [(f"{run.id} of {short_owner(run.owner)}", run.id) for run in runs]
        return {
            "told": told,
            "view": gr.Column(visible=True),
            "load": load_table(load_of(self.page.blocks, runs)),
            "runs": runs_table(runs),
            "run": gr.Dropdown(choices, value=None),
        }


def _closed(told: Markup) -> Shown:
    nothing = {"load": NOTHING, "runs": NOTHING, "run": gr.Dropdown([])}
    return {"told": told, "view": gr.Column(visible=False), **nothing}


def build(page: Page) -> None:
    """Put the view together. The token stays in the app, and goes as the page is left."""
    handlers, parts = Handlers(page), dict[str, Any]()  # Any: components share no useful type
    gr.HTML(note(ABOUT), padding=False)
    with gr.Row(elem_classes="card tools"):
        parts["password"] = gr.Textbox(label="Password", type="password", elem_id="admin-password")
        enter = gr.Button("Open", scale=0, min_width=120, elem_id="admin-open")
    token = parts["token"] = gr.State("")
    parts["told"] = gr.HTML(elem_id="admin-told", padding=False)
    small: dict[str, Any] = {"scale": 0, "size": "sm", "min_width": 90}
    with gr.Column(visible=False) as parts["view"]:
        with gr.Row(elem_classes="tools"):
            again = gr.Button("Refresh", elem_id="admin-refresh", **small)
            leave = gr.Button("Close", elem_id="admin-close", **small)
        parts["load"] = gr.HTML(elem_id="admin-load", padding=False)
        with gr.Row(elem_classes="card tools"):
            run = parts["run"] = gr.Dropdown(
                [], value=None, label="Run", elem_id="admin-run", **CHANGING
            )
            cancel = gr.Button("Cancel this run", elem_id="admin-cancel", **small)
            delete = gr.Button("Delete this run", elem_id="admin-delete", **small)
        parts["runs"] = gr.HTML(elem_id="admin-runs", padding=False)
    behind: dict[str, Any] = {"outputs": list(parts.values()), "concurrency_id": "admin", **QUIET}

    def named(shown: Shown) -> dict[Any, Any]:
        return {parts[name]: value for name, value in shown.items()}

    async def opened(password: str | None) -> dict[Any, Any]:
        return named(await handlers.open(password))

    gr.on([enter.click, parts["password"].submit], opened, parts["password"], **behind)
    for button, press, given in (
        (leave, handlers.shut, [token]),
        (again, handlers.refresh, [token]),
        (cancel, handlers.cancel, [token, run]),
        (delete, handlers.delete, [token, run]),
    ):
        button.click(lambda *them, press=press: named(press(*them)), given, **behind)
