"""What assets/page.js does for every view: parts stay unfolded, the focus stays near its place."""

from collections.abc import Iterator

import pandas as pd
import pytest
from markupsafe import Markup
from playwright.sync_api import Browser, Page, expect

from probe.settings import ASSETS
from probe.ui.html.elements import twin
from probe.ui.html.picture import picture

pytestmark = pytest.mark.browser
SHOW_ANEW = """() => {
  const run = document.getElementById("run");
  run.querySelector("details").removeAttribute("open");
  run.querySelector(".as-table").hidden = true;
  run.querySelector("[onclick]").setAttribute("aria-expanded", "false");
}"""
"""Leaves of a part what its markup has, as gradio does with each new value."""


@pytest.fixture
def run(browser: Browser) -> Iterator[Page]:
    """A page with a part that is shown anew while it is read, and buttons in two rows."""
    drawn = picture("Figures", Markup("<p>drawn</p>"), pd.DataFrame({"a": [1]}), stem="figures")
    page = browser.new_page()
    page.set_content(
        f'<main><div id="run">{twin("each step", Markup("<p>first</p>"))}{drawn}</div>'
        '<div id="row"><button id="stop">Stop</button><button id="again">Again</button></div>'
        '<div role="tabpanel"><div id="other"><button id="gone">Open</button></div></div></main>'
    )
    page.evaluate((ASSETS / "page.js").read_text(encoding="utf-8"))
    yield page
    page.close()


def test_what_a_person_unfolds_stays_unfolded_until_they_fold_it(run: Page) -> None:
    fold, table = run.locator("#run details"), run.locator(".as-table")
    run.get_by_text("each step").click()
    run.get_by_role("button", name="as table").click()
    run.evaluate(SHOW_ANEW)
    expect(fold).to_have_attribute("open", "")
    expect(table).to_be_visible()
    expect(run.get_by_role("button", name="as table")).to_have_attribute("aria-expanded", "true")
    run.get_by_text("each step").press("Enter")
    run.get_by_role("button", name="as table").click()
    expect(fold).not_to_have_attribute("open", "")
    run.evaluate(SHOW_ANEW)
    run.evaluate("() => new Promise(requestAnimationFrame)")
    expect(fold).not_to_have_attribute("open", "")
    expect(table).to_be_hidden()


def test_the_focus_goes_to_what_is_next_to_a_button_that_goes(run: Page) -> None:
    run.locator("#stop").press("Enter")
    run.evaluate("document.getElementById('stop').style.display = 'none'")
    expect(run.locator("#again")).to_be_focused()
    run.evaluate("document.getElementById('stop').style.display = ''")
    run.evaluate("document.getElementById('again').remove()")
    expect(run.locator("#stop")).to_be_focused()


def test_the_focus_comes_back_to_a_button_that_was_disabled(run: Page) -> None:
    run.locator("#stop").press("Enter")
    run.evaluate("document.getElementById('stop').disabled = true")
    expect(run.locator("#stop")).not_to_be_focused()
    run.evaluate("document.getElementById('stop').disabled = false")
    expect(run.locator("#stop")).to_be_focused()


def test_the_focus_leaves_no_tab_and_stays_where_a_person_took_it(run: Page) -> None:
    run.locator("#gone").press("Enter")
    run.evaluate("document.getElementById('other').style.display = 'none'")
    run.locator("#stop").focus()
    run.locator("p").first.click(force=True)
    run.evaluate("document.getElementById('stop').style.display = 'none'")
    run.evaluate("() => new Promise(requestAnimationFrame)")
    expect(run.locator("#again")).not_to_be_focused()
