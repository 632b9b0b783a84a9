"""The Probe tab in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import App
from tests.support.browser import SLOW, is_accessible

pytestmark = pytest.mark.browser


def test_the_first_page_shows_an_example_predicted_and_explained(newcomer: Page) -> None:
    expect(newcomer.locator("#answer .token").first).to_be_visible()
    expect(newcomer.locator("#rows .result")).to_have_count(4, timeout=SLOW)


def test_typing_updates_the_page_without_a_click(page: Page) -> None:
    page.locator("#hypothesis textarea").fill("The country adopted three constitutions.")
    expect(page.locator("#rows")).to_contain_text("constitutions", timeout=SLOW)
    expect(page.locator("#answer .tokens").last).to_contain_text("adopted")


def test_an_empty_side_is_answered_by_a_sentence_and_the_text_stays(page: Page) -> None:
    page.locator("#hypothesis textarea").fill("")
    expect(page.locator("#answer [role=alert]")).to_have_text("the hypothesis is empty")
    assert page.locator("#premise textarea").input_value()


def test_all_transforms_come_in_one_sortable_table(page: Page, app: App) -> None:
    page.goto(app.url)
    page.get_by_label("All transforms in one table").check()
    table = page.locator("#rows table")
    expect(table).to_be_visible(timeout=SLOW)
    table.get_by_role("button", name="confidence").click()
    shown = [float(text) for text in table.locator("tbody td:nth-child(3)").all_inner_texts()]
    assert len(shown) >= 8
    assert shown == sorted(shown)


def test_a_permalink_opens_the_same_pair(page: Page, app: App) -> None:
    page.goto(f"{app.url}?premise=Snow+fell.&hypothesis=It+snowed.&transforms=reverse&seed=4")
    expect(page.locator("#rows .result")).to_have_count(1, timeout=SLOW)
    assert page.locator("#premise textarea").input_value() == "Snow fell."
    expect(page.locator("#rows")).to_contain_text("snowed it")


def test_a_link_to_a_model_that_is_not_here_says_so(page: Page, app: App) -> None:
    page.goto(f"{app.url}?premise=Snow+fell.&hypothesis=It+snowed.&model=somebody-s")
    told = page.locator(".toast-body", has_text="names the model 'somebody-s', which is not here")
    expect(told).to_be_visible(timeout=SLOW)
    expect(page.locator("#premise textarea")).to_have_value("Snow fell.", timeout=SLOW)


def test_several_new_pairs_are_several_rows_with_their_gold_labels(page: Page, app: App) -> None:
    pair = "premise=Tim+has+350+stamps.&hypothesis=Tim+collects+stamps."
    page.goto(f"{app.url}?{pair}&transforms=numerical&gold=neutral")
    expect(page.locator("#rows .result")).to_have_count(3, timeout=SLOW)
    rows = page.locator("#rows .result").all_inner_texts()
    for row, label in zip(rows, ("entailment", "contradiction", "neutral"), strict=True):
        assert f"gold label: {label}, " in row


def test_a_chains_steps_can_be_opened(page: Page, app: App) -> None:
    pair = "premise=Snow+fell.&hypothesis=It+snowed+in+May."
    page.goto(f"{app.url}?{pair}&transforms=negation%2Breverse")
    page.locator("#rows .result summary").first.click(timeout=SLOW)
    steps = page.locator("#rows .lineage > li")
    expect(steps).to_have_count(2)
    expect(steps.first).to_contain_text("and false is not true")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_our_own_markup_has_no_serious_accessibility_fault(
    page: Page, app: App, theme: str
) -> None:
    page.goto(f"{app.url}?__theme={theme}")
    expect(page.locator("#rows .result")).to_have_count(4, timeout=SLOW)
    expect(page.locator("#probe-results.stale")).to_have_count(0, timeout=SLOW)
    expect(page.locator("#probe-results")).to_have_css("opacity", "1")  # dimmed no more
    is_accessible(page, [["#header"], ["#answer"], ["#rows"]])
