"""The views of the screenshots: accessible in each theme, headings in order, nothing overlaps."""

import pytest
from playwright.sync_api import Page

from benchmarks.page.screenshots import THEMES, VIEWS, WIDTHS, View, show, turn
from tests.conftest import App
from tests.support.pages.browser import (
    WIDE,
    controls_keep_apart,
    fits,
    headings_are_in_order,
    is_accessible,
)

pytestmark = pytest.mark.browser
QUICK = [view for view in VIEWS if not view.long]
FIRST = [
    view for view in QUICK if "-" not in view.name or view.name.endswith(("-failed", "look-up"))
]
OTHERS = [view for view in QUICK if view not in FIRST]


def looks_well(page: Page) -> None:
    """Check what is shown: its headings, in each theme its faults, at each width its places."""
    page.emulate_media(reduced_motion="reduce")  # a colour that fades is neither of the two
    headings_are_in_order(page)
    for theme in reversed(THEMES):  # the light one is left on
        turn(page, theme)
        is_accessible(page, [["main"]])
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        fits(page)
        controls_keep_apart(page)
    page.set_viewport_size(WIDE)


@pytest.mark.parametrize("view", FIRST, ids=lambda view: view.name)
def test_a_view_looks_well_as_it_opens_and_where_something_failed(
    newcomer: Page, app: App, view: View
) -> None:
    show(newcomer, app.url, view)
    looks_well(newcomer)


@pytest.mark.slow
@pytest.mark.parametrize("view", OTHERS, ids=lambda view: view.name)
def test_a_state_of_a_view_looks_well(newcomer: Page, app: App, view: View) -> None:
    show(newcomer, app.url, view)
    looks_well(newcomer)
