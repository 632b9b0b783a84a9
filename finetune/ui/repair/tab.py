"""The Repair tab: its entry in the frame of the tabs that start runs."""

from finetune.report.files import write_files
from finetune.ui import endpoints
from finetune.ui.html.repair.results import results
from finetune.ui.repair.fields import Fields, offered
from finetune.ui.repair.form import forecast, requests
from finetune.ui.repair.titles import KINDS, group, place, run_title
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
