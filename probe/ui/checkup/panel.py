"""Check-up: its form, what it came to, an older report beside it, and HANS alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.checkup.experiment import KIND
from probe.checkup.measuring import Asked
from probe.checkup.page import write_report
from probe.checkup.report import against, read_report, report_of
from probe.errors import CheckupError, UserError
from probe.runs.access import chosen_runs
from probe.runs.experiment import run_title
from probe.runs.run import StoredRun
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.ui.checkup import api
from probe.ui.checkup.form import MAX_N, forecast, requests
from probe.ui.events import LAST, QUIET
from probe.ui.html.checkup import changed, results
from probe.ui.html.elements import NOTHING, alert
from probe.ui.measure import hans
from probe.ui.measure.choice import Choice
from probe.ui.page import Page
from probe.ui.run_tab.entry import RunTab
from probe.ui.run_tab.layout import build as build_run_tab
from probe.ui.run_tab.looked_at import ids_of
from probe.ui.visitors.visitor_files import own_file

HINT = (
    "Everything that the papers would ask of one model, in one report: each change of the texts, "
    "how sure it is, kinds of texts, for inference HANS, beside the other models, and what to try "
    "next."
)
EMPTY = (
    "No check-up here yet",
    "Choose a model and press Check up. Its report stands here, part by part.",
)


@dataclass(frozen=True)
class Fields:
    """The fields of a check-up: what is chosen above, and how many examples are changed."""

    choice: Choice

    def above(self) -> list[Any]:  # Any: components share no useful type
        """Return what stands above and is laid out already."""
        return self.choice.chosen[1:]

    def build_settings(self) -> list[Any]:
        """Lay out what is asked beside it."""
        return [
            gr.Number(
                Asked.n,
                label="Examples changed in each way",
                precision=0,
                minimum=1,
                maximum=MAX_N,
                elem_id="checkup-n",
            )
        ]

    def offered(self, task: Task) -> list[Any]:
        """Return that all fields stay: what stands above is offered there."""
        return [gr.skip()] * len(self.choice.chosen)


def entry(fields: Fields) -> RunTab:
    """Return the entry of the check-up in the frame of what starts runs."""
    return RunTab(
        id="checkup",
        kinds=(KIND,),
        hint=HINT,
        head="Everything, in one report",
        model=fields.choice.models,
        fields=fields.above,
        settings=fields.build_settings,
        offered=fields.offered,
        requests=requests,
        forecast=forecast,
        group=run_title,
        title=run_title,
        results=results,
        files=write_files,
        place="measure",
        suited=lambda task: task,
        keeps_models=False,
        start="Check up",
        empty=EMPTY,
    )


def build(page: Page) -> None:
    """Put the view together."""
    choice: Choice = page.shared
    shown = build_run_tab(page, entry(Fields(choice)))
    with gr.Row(elem_classes="tools"):
        older = gr.UploadButton(
            "Compare with an older report.json",
            file_types=[".json"],
            type="filepath",
            size="sm",
            scale=0,
            elem_id="checkup-older",
        )
    changes = gr.HTML(elem_id="checkup-changes", padding=False)

    def show_changes(owner: str, choice: str | None, path: str | None) -> Markup:
        return since(page.core.store, owner, choice or "", path)

    asked = [page.owner, shown.runs, older]
    gr.on([older.upload, shown.runs.change], show_changes, asked, changes, **LAST, **QUIET)
    api.build(page.core.store, page.core.engine)
    with gr.Column() as inference_only:
        hans.build(page, choice.models)
    page.on_open(lambda task: gr.Column(visible=task == NLI.name), page.task, inference_only)


def since(store: Store, owner: str, choice: str, path: str | None) -> Markup:
    """Say what changed since an older report, or why that cannot be said; nothing without one."""
    if not path:
        return NOTHING
    try:
        older = read_report(own_file(owner, path))
        runs = [run for run in chosen_runs(store, owner, ids_of(choice)) if run.kind == KIND]
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
