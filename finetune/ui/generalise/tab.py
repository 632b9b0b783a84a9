"""The Generalise tab: its entry in the frame of the tabs that start runs."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from markupsafe import Markup

from finetune.report.files import write_files
from finetune.trials.generalisation import (
    KIND,
    generalisation_run,
    judged_anew,
    loss_in,
    same_phenomenon,
)
from finetune.ui import endpoints
from finetune.ui.generalise.fields import Fields, build_settings, offered
from finetune.ui.generalise.form import forecast, requests
from finetune.ui.generalise.titles import place, run_title, subject
from finetune.ui.html.generalisation import results
from probe.errors import UserError
from probe.runs.gallery import gallery_runs
from probe.runs.run import StoredRun
from probe.ui.html.elements import alert, join
from probe.ui.page import Page
from probe.ui.run_tab.entry import RunTab
from probe.ui.run_tab.layout import build as build_run_tab

HINT = (
    "Train on one kind of example, test on another. A model that learnt the skill does both; one "
    "that learnt the set does only what it saw."
)
EMPTY = (
    "No finished run here yet",
    "Choose a model and a skill, or give a table of your own, and press Start. What comes of it "
    "stands here.",
)


def build(page: Page) -> None:
    """Put the tab together."""
    build_run_tab(page, entry_of(page))
    endpoints.build(page.core.store, page.core.engine, KIND)


def entry_of(page: Page) -> RunTab:
    """Return the tab's entry; inoculations of the gallery stand beside its runs."""
    fields = Fields(page)
    return RunTab(
        id="generalise",
        kinds=(KIND,),
        hint=HINT,
        head="New run",
        fields=fields.build,
        settings=build_settings,
        offered=offered,
        requests=requests,
        forecast=forecast,
        group=subject,
        title=run_title,
        results=partial(show_runs, page.core.gallery),
        files=write_files,
        follow=fields.follow,
        rank=place,
        judged_anew=partial(show_judged_anew, page.core.gallery),
        empty=EMPTY,
    )


def show_runs(gallery: Path, runs: Sequence[StoredRun]) -> Markup:
    """Show what runs came to, one under the other."""
    return join(
        results(run, same_phenomenon(run.plan, gallery_runs(gallery)))
        for run in map(generalisation_run, runs)
    )


def show_judged_anew(gallery: Path, runs: Sequence[StoredRun], run_id: str, points: str) -> Markup:
    """Show runs as `show_runs` does, one judged by another loss; say what is wrong with a loss."""
    public, shown = gallery_runs(gallery), list[Markup]()
    for run in map(generalisation_run, runs):
        beside = same_phenomenon(run.plan, public)
        if run.id != run_id or not run.verdict:
            shown.append(results(run, beside))
            continue
        try:
            shown.append(results(run, beside, judged_anew(run, loss_in(points))))
        except UserError as trouble:
            shown.append(alert(trouble) + results(run, beside))
    return join(shown)
