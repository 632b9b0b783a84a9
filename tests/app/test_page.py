"""The page around the tabs in a real browser, wide and narrow."""

import pytest
from playwright.sync_api import Page, expect

from app import TABS
from tests.support.browser import SETTLED, fits_a_phone, open_tab

pytestmark = pytest.mark.browser


def test_the_page_keeps_its_place_from_tab_to_tab(page: Page) -> None:
    tabs, places = page.get_by_role("tab").all(), []
    for tab in tabs:
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        page.evaluate(SETTLED)
        places.append(page.locator(".masthead h1").bounding_box())
    assert len(tabs) > 2
    assert places == [places[0]] * len(tabs)


def test_no_tab_is_wider_than_a_phone(page: Page) -> None:
    for entry in TABS:
        open_tab(page, entry.title)
        fits_a_phone(page)
