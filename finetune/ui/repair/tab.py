"""The Repair tab: its entry in the frame of the tabs that start runs."""

from collections.abc import Sequence
from pathlib import Path

from finetune.report.repair_files import write_figure, write_points, write_summary
from finetune.ui import endpoints
from finetune.ui.html.repair.results import results
from finetune.ui.repair.fields import Fields, offered
from finetune.ui.repair.form import forecast, requests
from finetune.ui.repair.titles import KINDS, group, place, run_title
from probe.errors import writing
from probe.runs.run import StoredRun
from probe.ui.page import Page
from probe.ui.run_tab.entry import RunTab
from probe.ui.run_tab.layout import build as build_run_tab

HINT = (
    "A model that is sure of nonsense can be taught to say so. Measure how sure it is, mend it, "
    "and see what the mending costs."
)


def build(page: Page) -> None:
    """Put the tab together."""
    build_run_tab(page, entry())
    endpoints.build(page.core.store, page.core.engine, *KINDS)


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
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    paths = [write_points(run, folder), write_figure(run, folder)]
    return [*paths, write_summary(run, folder)] if run.verdict else paths
