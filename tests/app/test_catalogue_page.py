"""The Catalogue tab in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from probe.baselines import BASELINES
from probe.templates import kinds
from probe.transforms import REGISTRY
from tests.support.browser import SLOW, open_tab

pytestmark = pytest.mark.browser


def test_the_catalogue_shows_every_transform_with_an_example_and_its_code(page: Page) -> None:
    open_tab(page, "Catalogue")
    listed = page.locator("#catalogue")
    expect(listed.locator("section").last).to_contain_text("majority", timeout=SLOW)
    names = listed.locator(".entry h3 code").all_inner_texts()
    assert set(names) >= {*REGISTRY, *BASELINES, *kinds()}
    reverse = listed.locator(".entry", has=page.locator("code", has_text="reverse"))
    expect(reverse).to_contain_text("hall large the filled success her and , tickets the sold")
    reverse.get_by_text("code: probe/transforms/families/lexical.py").click()
    expect(reverse.locator("pre")).to_contain_text('@register("reverse"')
