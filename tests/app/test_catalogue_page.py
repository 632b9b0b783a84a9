"""Look up, the catalogue of Learn, in a real browser."""

import pytest
from playwright.sync_api import Locator, Page, expect

from probe.baselines import BASELINES
from probe.tasks.nli import NLI
from probe.templates import kinds
from probe.transforms import REGISTRY
from tests.support.pages.browser import SLOW, fits_a_phone, is_accessible, visit

pytestmark = pytest.mark.browser


@pytest.fixture
def listed(page: Page) -> Locator:
    """The catalogue of inference, filled."""
    visit(page, "learn?view=look-up#term-agreement")
    listed = page.locator("#catalogue")
    expect(listed.locator("#term-agreement")).to_be_in_viewport(timeout=SLOW)
    return listed


def test_the_catalogue_shows_every_transform_with_an_example_and_its_code(listed: Locator) -> None:
    names = listed.locator(".entry h3 code").all_inner_texts()
    of_nli = {name for name, entry in REGISTRY.items() if entry.suits(NLI)}
    assert set(names) >= {*of_nli, *BASELINES, *kinds(NLI)}
    reverse = listed.locator("#term-reverse")
    expect(reverse).to_contain_text("hall large the filled success her and , tickets the sold")
    reverse.get_by_text("code: probe/transforms/families/lexical.py").click()
    expect(reverse.locator("pre")).to_contain_text('"Reverse the words"')


def test_a_search_leaves_the_cards_that_hold_its_words(listed: Locator) -> None:
    listed.get_by_label("Search").fill("letters swap")
    expect(listed.locator(".entry:visible h3 code")).to_have_text(["spelling_swap", "spelling"])
    expect(listed.get_by_role("status")).to_contain_text("2 of")
    listed.get_by_label("Search").fill("")
    expect(listed.locator("#term-sort")).to_be_visible()


def test_a_words_definition_opens_on_focus_and_closes_on_escape(
    page: Page, listed: Locator
) -> None:
    word = listed.locator("#term-sort").get_by_role("button", name="No label is right: The text")
    content = "element => getComputedStyle(element, '::after').content"
    word.focus()
    assert "no gold label is defined" in word.evaluate(content)
    page.keyboard.press("Escape")
    assert word.evaluate(content) == "none"


def test_the_catalogue_is_accessible_and_fits_a_phone(page: Page, listed: Locator) -> None:
    is_accessible(page, [["#catalogue"]])
    fits_a_phone(page)


def test_the_catalogue_is_that_of_the_task(page: Page) -> None:
    visit(page, "learn?view=look-up&task=sentiment")
    listed = page.locator("#catalogue")
    expect(listed.locator("#term-sort")).to_contain_text("Puts the words of the text", timeout=SLOW)
    expect(listed.locator("#term-copysort")).to_have_count(0)
