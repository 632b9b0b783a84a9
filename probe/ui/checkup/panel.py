"""The check-up in Compare: its form, what it came to, and an older report beside it."""

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
from probe.tasks.task import Task
from probe.ui.checkup import api
from probe.ui.checkup.form import MAX_N, forecast, requests
from probe.ui.events import LAST, QUIET
from probe.ui.html.checkup import changed, results
from probe.ui.html.elements import NOTHING, alert
from probe.ui.page import Page
from probe.ui.panels.labelled_file import LabelledFile
from probe.ui.panels.options import long_texts
from probe.ui.run_tab.entry import RunTab
from probe.ui.run_tab.layout import build as build_run_tab
from probe.ui.run_tab.looked_at import ids_of
from probe.ui.visitors.visitor_files import own_file

HINT = (
    "Everything that the papers would ask of one model, in one report: each change of the texts, "
    "how sure it is, kinds of texts, for inference HANS, beside the other models, and what to try "
    "next. It takes what is chosen above: the app's examples, or your labelled file."
)
EMPTY = (
    "No check-up here yet",
    "Choose a model and press Check this model up. Its report stands here, part by part.",
)


@dataclass(frozen=True)
class Fields:
    """The fields of a check-up: what models are compared on above, and how many examples."""

    source: gr.Radio
    file: LabelledFile

    def above(self) -> list[Any]:  # Any: components share no useful type
        """Return what stands above and is laid out already."""
        return [self.source, *self.file.asked]

    def build_settings(self) -> list[Any]:
        """Lay out what is rarely changed, folded."""
        with gr.Accordion("Settings: examples, seed, long texts", open=False, elem_classes="fold"):
            n = gr.Number(
                Asked.n,
                label="Examples changed in each way",
                precision=0,
                minimum=1,
                maximum=MAX_N,
                elem_id="checkup-n",
            )
            seed = gr.Number(Asked.seed, label="Seed", precision=0, minimum=0)
            long = long_texts()
        return [n, seed, long]

    def offered(self, task: Task) -> list[Any]:
        """Return that all fields stay: what stands above is offered there."""
        return [gr.skip()] * (len(self.above()) + 3)


def entry(fields: Fields) -> RunTab:
    """Return the entry of the check-up in the frame of what starts runs."""
    return RunTab(
        id="checkup",
        kinds=(KIND,),
        hint=HINT,
        head="Check one model up",
        fields=fields.above,
        settings=fields.build_settings,
        offered=fields.offered,
        requests=requests,
        forecast=forecast,
        group=run_title,
        title=run_title,
        results=results,
        files=write_files,
        tab="compare",
        suited=lambda task: task,
        keeps_models=False,
        start="Check this model up",
        empty=EMPTY,
    )


def build(page: Page, source: gr.Radio, file: LabelledFile) -> None:
    """Lay out the part; `source` and `file` say on what models are compared above."""
    shown = build_run_tab(page, entry(Fields(source, file)))
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
