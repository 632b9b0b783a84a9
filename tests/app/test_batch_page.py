"""Score in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from probe.settings import ASSETS
from probe.tasks.sentiment import SENTIMENT
from probe.ui.html.file_progress import FileProgress, file_progress
from tests.conftest import App
from tests.support.pages.browser import (
    PHONE,
    SETTLED,
    SLOW,
    fits_a_phone,
    is_accessible,
    visit,
)
from tests.support.processes.running_app import add_model

pytestmark = pytest.mark.browser
EXAMPLES = ASSETS / "examples"
SEEN_WITHOUT_ROWS = """() => {
  const emptied = document.querySelector("#batch-rows").cloneNode(true);
  for (const part of emptied.querySelectorAll(".prose")) part.replaceChildren();
  document.querySelector("#batch-results").append(emptied);
  const seen = emptied.checkVisibility();
  emptied.remove();
  return seen;
}"""
WORKER_START = 4 * SLOW
"""Milliseconds for a process that computes to start on a busy machine."""


def choose(page: Page, path: Path) -> None:
    """Give the tab a file and wait for its first rows."""
    page.locator("#upload input[type=file]").first.set_input_files(str(path))
    expect(page.locator("#upload-preview table")).to_be_visible(timeout=SLOW)


def top_of(page: Page, place: str) -> float:
    """Return how far below the window's upper edge an element begins."""
    box = page.locator(place).bounding_box()
    assert box
    return box["y"]


def test_a_file_is_scored_from_the_page(page: Page) -> None:
    visit(page, "measure?texts=file")
    choose(page, EXAMPLES / "mnli_form.tsv")
    page.locator("#score").click()
    expect(page.locator("#files")).to_contain_text("mnli_form-scored", timeout=SLOW)
    expect(page.locator("#batch-name")).to_contain_text("40 rows, 39 scored")
    expect(page.locator("#lines")).to_contain_text("the hypothesis is empty")
    assert page.title().startswith("Finished · mnli_form.tsv")
    page.locator("#batch-guard input").check()
    expect(page.locator("#files")).to_contain_text("mnli_form-scored-guarded", timeout=SLOW)


def test_the_results_are_in_sight_and_fit_a_phone(page: Page) -> None:
    page.evaluate("window.scrollTo(0, 0)")
    assert top_of(page, "#batch-figures .say") < 800
    fits_a_phone(page)
    page.set_viewport_size(PHONE)
    page.evaluate("window.scrollTo(0, 0)")
    assert top_of(page, "#batch-figures .say") < 2 * PHONE["height"]
    page.set_viewport_size({"width": 1280, "height": 900})
    is_accessible(page, [["#batch-results"]])


def test_a_press_on_a_cell_shows_its_rows(page: Page) -> None:
    page.locator('#batch-figures button[data-cell="sort|neutral"]').click()
    expect(page.locator("#lines")).to_contain_text("Only rows whose answer stays")
    golds = page.locator("#lines tbody td:nth-child(4)")
    expect(golds.first).to_have_text("neutral")
    assert set(golds.all_text_contents()) == {"neutral"}


def test_the_rows_that_were_not_scored_are_a_press_away(page: Page) -> None:
    page.get_by_role("button", name="see why").click()
    expect(page.locator("#pager")).to_contain_text("1 row")
    expect(page.locator("#lines tbody")).to_contain_text("not scored: the hypothesis is empty")


def test_the_card_of_the_rows_waits_for_them(page: Page) -> None:
    assert not page.evaluate(SEEN_WITHOUT_ROWS)


def test_pairs_from_templates_are_scored_from_the_page(page: Page) -> None:
    page.locator("#texts").get_by_label("Templates").check()
    pairs = page.get_by_label("Pairs", exact=True)
    expect(pairs).to_have_value("300")
    page.evaluate(SETTLED)  # a panel is laid out when it opens, its fields with their first values
    pairs.fill("60")
    pairs.press("Tab")
    expect(pairs).to_have_value("60")
    page.locator("#make-pairs").click()
    expect(page.locator("#upload-doubt")).to_contain_text("60 rows", timeout=SLOW)
    page.locator("#score").click()
    expect(page.locator("#files")).to_contain_text("-60-seed-0-scored", timeout=SLOW)
    expect(page.locator("#batch-figures")).to_contain_text("Accuracy of rules that read no")


def test_stopping_is_said_in_the_card_that_is_shown(page: Page) -> None:
    shown = file_progress(FileProgress("mine.csv", "scoring", done=1, total=4, seconds=1))
    told = page.evaluate("html => window.told('Stopping …', html)", shown)
    assert "<b>Stopping …</b>" in told
    assert told.count('data-title="25 % · mine.csv"') == told.count("progressbar") == 1


def test_a_file_of_another_task_and_an_unknown_label_are_asked_about(
    app: App, newcomer: Page, tmp_path: Path
) -> None:
    add_model(app, "tiny-sentiment", SENTIMENT)
    page = newcomer
    visit(page, "measure?texts=file")
    mine = tmp_path / "mine.csv"
    mine.write_text("review,label\n" + "A joy.,pos\nA bore.,five stars\n" * 20)
    page.locator("#upload input[type=file]").first.set_input_files(str(mine))
    doubt = page.locator("#upload-doubt")
    expect(doubt).to_contain_text("no columns 'premise' and 'hypothesis'", timeout=SLOW)
    page.locator("#task").get_by_text("Sentiment").click()
    expect(page.locator("#upload-labels")).to_contain_text("“five stars”", timeout=SLOW)
    expect(doubt.locator(".of-labels")).to_be_visible()
    page.locator("#score").click()
    expect(page.locator("#batch-trouble")).to_contain_text("holds 'five stars'")
    is_accessible(page, [["#choice"], ["#score-form"]])
    page.locator('#upload-labels select[data-value="five stars"]').select_option("negative")
    for question in ("#upload-labels .asked", "#upload-doubt .of-labels"):
        expect(page.locator(question)).to_be_hidden()
    page.locator("#score").click()
    expect(page.locator("#batch-name")).to_contain_text("40 rows, 40 scored", timeout=SLOW)


def test_rows_that_were_scored_in_the_background_are_turned_over(newcomer: Page) -> None:
    page = newcomer
    visit(page, "measure?texts=file")
    choose(page, EXAMPLES / "mnli_form.tsv")
    page.locator("#score-later").click()
    page.locator('#batch-background [data-cell^="take"]').click(timeout=WORKER_START)
    expect(page.locator("#pager")).to_contain_text("40 rows, page 1 of 2", timeout=SLOW)
    expect(page.locator("#batch-scored")).to_be_visible(timeout=SLOW)
    page.locator("#pager").get_by_role("button", name="Next").click()
    expect(page.locator("#lines tbody th").first).to_have_text("21", timeout=SLOW)
    page.locator("#batch-filters").get_by_text("Not scored").click()
    expect(page.locator("#lines tbody")).to_contain_text("not scored: the hypothesis is empty")
    expect(page.locator("#batch-background")).to_contain_text("mnli_form.tsv")
