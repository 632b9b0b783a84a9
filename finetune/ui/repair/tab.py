"""The Repair tab: its entry in the frame of the tabs that start runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from finetune.experiments.calibration import experiment as calibration
from finetune.experiments.mitigation import experiment as mitigation
from finetune.experiments.transfer import experiment as transfer
from finetune.experiments.transfer.plan import plan_from as transfer_plan
from finetune.report.drawing import svg_file
from finetune.report.invalid_found import invalid_frame, invalid_svg
from finetune.report.reliability import points_frame, reliability_svg
from finetune.report.repair_summary import repair_summary, summary_text
from finetune.report.transfer import transfer_frame, transfer_svg
from finetune.ui.html.repair.results import results
from finetune.ui.repair import api
from finetune.ui.repair.fields import Fields, offered
from finetune.ui.repair.form import forecast, requests
from finetune.ui.repair.titles import KINDS, group, place, run_title
from finetune.ui.run_tab.entry import RunTab
from finetune.ui.run_tab.layout import build as build_run_tab
from probe.errors import writing
from probe.runs.run import StoredRun
from probe.ui.page import Page

HINT = (
    "A model that is sure of nonsense can be taught to say so. Measure how sure it is, mend it, "
    "and see what the mending costs."
)


@dataclass(frozen=True)
class Files:
    """How the points of a kind's runs are written, and how its figure is called and drawn."""

    frame: Callable[[StoredRun], pd.DataFrame]
    figure: str
    draw: Callable[[StoredRun], Markup]


FILES: Mapping[str, Files] = {
    calibration.KIND: Files(
        lambda run: points_frame(calibration.points_of(run)),
        "reliability.svg",
        lambda run: reliability_svg(calibration.points_of(run)),
    ),
    mitigation.KIND: Files(
        lambda run: invalid_frame(mitigation.points_of(run)),
        "invalid.svg",
        lambda run: invalid_svg(mitigation.points_of(run)),
    ),
    transfer.KIND: Files(
        lambda run: transfer_frame(transfer.points_of(run)),
        "transfer.svg",
        lambda run: transfer_svg(transfer_plan(run.plan), transfer.points_of(run)),
    ),
}


def build(page: Page) -> None:
    """Put the tab together."""
    build_run_tab(page, entry())
    api.build(page.core.store, page.core.engine)


def entry() -> RunTab:
    """Return the tab's entry."""
    fields = Fields()
    return RunTab(
        id="repair",
        kinds=KINDS,
        hint=HINT,
        head="New repair",
        fields=fields.build,
        settings=fields.build_settings,
        offered=offered,
        requests=requests,
        forecast=forecast,
        group=group,
        title=run_title,
        results=results,
        files=write_files,
        rank=place,
    )


def write_files(runs: Sequence[StoredRun], folder: Path) -> list[Path]:
    """Write points and figure of each run, and its summary once it is judged.

    Several have a folder each. Raises FileError.
    """
    return [
        path
        for run in runs
        for path in _files_of(run, folder if len(runs) == 1 else folder / run.id)
    ]


def _files_of(run: StoredRun, folder: Path) -> list[Path]:
    kind = FILES[run.kind]
    points, figure, summary = (
        folder / name for name in ("points.csv", kind.figure, "summary.json")
    )
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        kind.frame(run).to_csv(points, index=False, lineterminator="\n")
        figure.write_text(svg_file(kind.draw(run)) + "\n", encoding="utf-8")
        if not run.verdict:
            return [points, figure]
        summary.write_text(summary_text(repair_summary(run)), encoding="utf-8")
    return [points, figure, summary]
