"""Check-up: its form, what it came to, an older report beside it, and HANS alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import gradio as gr
from markupsafe import Markup

from probe.checkup.experiment import KIND
from probe.checkup.measuring import Asked
from probe.checkup.page import write_report
from probe.checkup.report import against, read_report, report_of
from probe.errors import CheckupError, UserError
from probe.runs.access import chosen_runs, require_for_runs
from probe.runs.experiment import run_title
from probe.runs.run import StoredRun
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.task import task_named
from probe.ui.checkup import api
from probe.ui.checkup.form import MAX_N, forecast, requests
from probe.ui.events import QUIET
from probe.ui.html.checkup import changed, results
from probe.ui.html.elements import NOTHING, alert, hint
from probe.ui.measure import hans
from probe.ui.measure.choice import Choice
from probe.ui.page import Page
from probe.ui.run_tab.shown import RunView, looking_at
from probe.ui.run_tab.tab import MEASURING, RunArea, Updates, Values
from probe.ui.visitors.visitor_files import own_file

HINT = (
    "Everything that the papers would ask of one model, in one report: each change of the texts, "
    "how sure it is, kinds of texts, for inference HANS, beside the other models, and what to try "
    "next."
)
HEAD = Markup('<h2 class="title">Everything, in one report</h2>')
EMPTY = (
    "No check-up here yet",
    "Choose a model and press Check up. Its report stands here, part by part.",
)


def view_of() -> RunView:
    """Return how check-ups are listed and shown."""
    return RunView(
        name="checkup", title="Check-up", kinds=(KIND,), named=run_title,
        badge=lambda run: ("plain", "finished"),
        results=lambda runs, looked: results(runs), empty=EMPTY,
        files=lambda runs, folder, looked: write_files(runs, folder),
    )  # fmt: skip


def build(page: Page) -> None:
    """Put the view together."""
    choice: Choice = page.shared
    gr.HTML(hint(HINT), padding=False)
    with gr.Row(elem_id="checkup", elem_classes="runs-tab"):
        with gr.Column(elem_id="checkup-new", elem_classes=["card", "new-run"], min_width=240):
            gr.HTML(HEAD, padding=False)
            n = gr.Number(
                Asked.n, label="Examples changed in each way", precision=0, minimum=1,
                maximum=MAX_N, elem_id="checkup-n",
            )  # fmt: skip
            estimate = gr.HTML(MEASURING, elem_id="checkup-estimate", padding=False)
            start = gr.Button(
                "Check up", variant="primary", elem_id="checkup-start", interactive=False
            )
        with gr.Column(elem_id="checkup-shown", min_width=240):
            area = RunArea(page, [view_of()], "checkup", "measure")
            with gr.Row(elem_classes="tools"):
                older = gr.UploadButton(
                    "Compare with an older report.json", file_types=[".json"], type="filepath",
                    size="sm", scale=0, elem_id="checkup-older",
                )  # fmt: skip
            changes = gr.HTML(elem_id="checkup-changes", padding=False)
    _wire(page, choice, area, Parts(n, estimate, start, older, changes))
    api.build(page.core.store, page.core.engine)
    with gr.Column() as inference_only:
        hans.build(page, choice.models)
    page.on_open(lambda task: gr.Column(visible=task == NLI.name), page.task, inference_only)


class Parts(NamedTuple):
    """The components of the view beside the list and the results."""

    n: gr.Number
    estimate: gr.HTML
    start: gr.Button
    older: gr.UploadButton
    changes: gr.HTML


def _wire(page: Page, choice: Choice, area: RunArea, parts: Parts) -> None:
    fields = [*choice.chosen, parts.n]

    def check(owner: str, models: Sequence[str], path: str | None) -> None:
        """Refuse models and a file that are not there for this visitor. Raises UserError."""
        for name in models or ():
            require_for_runs(page.core.store, owner, name)
        if path:
            own_file(owner, path)

    def opened(values: Values, request: gr.Request) -> Updates:
        task, query = task_named(values[page.task]), dict(request.query_params)
        if query.get("view") != "checkup":
            query = {}
        models = (query.get("models") or "").split(",")
        looked, problem = area.linked(values[page.owner], task, query, "checkup", models)
        return {**area.draw(looked), area.problem: problem}

    def measured(values: Values) -> Markup:
        try:
            check(values[page.owner], values[choice.models], values[choice.file.upload])
            return forecast(*(values[part] for part in fields))
        except UserError as trouble:
            return alert(trouble)

    def begin(values: Values) -> Updates:
        try:
            check(values[page.owner], values[choice.models], values[choice.file.upload])
            asked = requests(*(values[part] for part in fields))
            begun = area.runs.start(values[page.owner], asked, keeps_models=False)
        except UserError as trouble:
            return {area.problem: alert(trouble)}
        looked = looking_at(area.looked(values), *(run.id for run in begun))
        return {area.problem: NOTHING} | area.draw(looked)

    def show_changes(values: Values) -> Markup:
        looked = area.looked(values)
        return since(page.core.store, looked.owner, looked.runs, values[parts.older])

    asked = {*fields, *area.asked}
    drawn = page.on_open(opened, area.asked, area.shown, **area.turn)
    mark = page.mark_of(*choice.changed, parts.n.change, after=[drawn])
    mark.change(measured, {page.owner, *fields}, parts.estimate, **QUIET)
    parts.start.click(begin, asked, area.shown, **area.turn)
    choice.allow(parts.start)
    told = page.mark_of(parts.older.upload, area.list.select)
    told.change(show_changes, {*area.asked, parts.older}, parts.changes, **QUIET)


def since(store: Store, owner: str, ids: Sequence[str], path: str | None) -> Markup:
    """Say what changed since an older report, or why that cannot be said; nothing without one."""
    if not path:
        return NOTHING
    try:
        older = read_report(own_file(owner, path))
        runs = [run for run in chosen_runs(store, owner, ids) if run.kind == KIND]
        if not runs:
            raise CheckupError("choose a check-up above first: the older report is set beside it")
        return changed(older, against(older, report_of(runs[0])))
    except UserError as trouble:
        return alert(trouble)


def write_files(runs: Sequence[StoredRun], folder: Path) -> list[Path]:
    """Write the report of each check-up, as page and as JSON. Raises FileError."""
    return [
        path
        for run in runs
        for path in write_report(report_of(run), folder if len(runs) == 1 else folder / run.id)
    ]
