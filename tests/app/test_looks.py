"""Every tab as it opens: accessible in light and dark; nothing overlaps or overflows."""

import pytest
from playwright.sync_api import Page, expect

from app import TABS
from tests.support.browser import SLOW, WIDE, controls_keep_apart, fits, is_accessible, open_tab

pytestmark = pytest.mark.browser
SHOWS = {
    "learn": ".lesson-card",
    "probe": "#rows .result",
    "batch": "#upload",
    "compare": "#compare",
    "inoculate": "#curve .panel",
    "repair": "#repair-results .card",
    "generalise": "#generalise-results .heat",
    "catalogue": "#term-agreement",
    "data": "#my-data .card",
}
"""What a tab shows once it is there."""
WIDTHS = (WIDE["width"], 768, 375)
TITLES = {entry.id: entry.title for entry in TABS}


@pytest.fixture(params=SHOWS)
def tab(request: pytest.FixtureRequest, page: Page) -> Page:
    """The page with a tab opened and filled."""
    page.emulate_media(reduced_motion="reduce")  # a colour that fades is neither of the two
    open_tab(page, TITLES[request.param])
    expect(page.locator(SHOWS[request.param]).first).to_be_visible(timeout=4 * SLOW)
    return page


def test_every_tab_is_looked_at() -> None:
    assert set(SHOWS) == set(TITLES)


def test_a_tab_is_accessible_in_light_and_dark(tab: Page) -> None:
    for dark in (False, True):
        tab.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
        is_accessible(tab, [["main"]])
    tab.evaluate("document.body.classList.remove('dark')")


def test_no_two_controls_of_a_tab_overlap_and_none_makes_it_scroll_sideways(tab: Page) -> None:
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 800})
        fits(tab)
        controls_keep_apart(tab)
    tab.set_viewport_size(WIDE)
