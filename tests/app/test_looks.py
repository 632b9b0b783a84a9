"""The views of the screenshots: accessible in each theme, headings in order, nothing overlaps."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from app import TABS
from benchmarks.page.screenshots import THEMES, VIEWS, WIDTHS, View, show, turn
from tests.conftest import App
from tests.support.pages.browser import (
    SLOW,
    WIDE,
    controls_keep_apart,
    fits,
    headings_are_in_order,
    is_accessible,
    open_tab,
)

pytestmark = pytest.mark.browser
TITLES = {entry.id: entry.title for entry in TABS}
QUICK = [view for view in VIEWS if not view.long]
OPENING = [view for view in QUICK if view.name in TITLES]
FAILED = [view for view in QUICK if view.name.endswith("-failed")]
OTHERS = [view for view in QUICK if view not in (*OPENING, *FAILED)]


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


@pytest.fixture
def fresh(page: Page) -> Iterator[Page]:
    """A page of the same window that has opened nothing yet."""
    fresh = page.context.new_page()
    fresh.set_default_timeout(SLOW)
    yield fresh
    fresh.close()


@pytest.mark.parametrize("view", OPENING, ids=lambda view: view.name)
def test_a_tab_looks_well_as_it_opens(page: Page, view: View) -> None:
    open_tab(page, TITLES[view.name])
    view.steps(page)
    looks_well(page)


@pytest.mark.parametrize("view", FAILED, ids=lambda view: view.name)
def test_a_tab_where_something_failed_looks_well(fresh: Page, app: App, view: View) -> None:
    show(fresh, app.url, view)
    looks_well(fresh)


@pytest.mark.slow  # each loads the page anew
@pytest.mark.parametrize("view", OTHERS, ids=lambda view: view.name)
def test_a_state_of_a_tab_looks_well(fresh: Page, app: App, view: View) -> None:
    show(fresh, app.url, view)
    looks_well(fresh)
