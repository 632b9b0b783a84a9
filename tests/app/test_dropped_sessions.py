"""A page goes on when the app has dropped its session, as it does with those used least lately."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from probe.settings import ASSETS
from tests.conftest import App
from tests.support.files.pair_files import PAIRS, row, write
from tests.support.pages.browser import SLOW, show_examples, visit
from tests.support.processes.running_app import drop_sessions

pytestmark = pytest.mark.browser


def test_probe_answers_another_text(app: App, newcomer: Page) -> None:
    visit(newcomer)
    expect(newcomer.locator("#answer")).to_contain_text("calm", timeout=SLOW)
    drop_sessions(app)
    newcomer.get_by_label("Hypothesis").first.fill("The country is at peace.")
    expect(newcomer.locator("#answer")).to_contain_text("peace", timeout=SLOW)
    newcomer.locator("#random").click()
    expect(newcomer.locator("#answer")).not_to_contain_text("peace", timeout=SLOW)


def test_score_turns_the_pages_of_its_results_and_scores_them_again(
    app: App, newcomer: Page
) -> None:
    visit(newcomer, "measure?texts=file")
    score_example(newcomer)
    expect(newcomer.locator("#files")).to_contain_text("mnli_form-scored", timeout=SLOW)
    drop_sessions(app)
    newcomer.locator("#lines button[name=page]").last.click()
    expect(newcomer.get_by_text("page 2 of 2")).to_be_visible(timeout=SLOW)
    newcomer.locator("#score").click()
    expect(newcomer.get_by_text("page 1 of 2")).to_be_visible(timeout=SLOW)


def choose(page: Page, path: Path) -> None:
    """Give Measure a file."""
    page.locator("#upload input[type=file]").first.set_input_files(str(path))
    expect(page.locator("#upload-preview table")).to_be_visible(timeout=SLOW)


def score_example(page: Page) -> None:
    """Score an example file."""
    choose(page, ASSETS / "examples" / "mnli_form.tsv")
    page.locator("#score").click()


def test_mine_deletes_what_it_asked_about(app: App, newcomer: Page, tmp_path: Path) -> None:
    visit(newcomer, "measure?texts=file")
    choose(newcomer, write(tmp_path / "belongings.jsonl", [row(pair) for pair in PAIRS[:3]]))
    visit(newcomer, "mine")
    newcomer.get_by_role("button", name="Delete: belongings.jsonl").click()
    expect(newcomer.locator("#mine-told")).to_contain_text("belongings.jsonl?", timeout=SLOW)
    drop_sessions(app)
    newcomer.get_by_role("button", name="Yes").click()
    expect(newcomer.locator("#mine-told")).to_contain_text("is gone", timeout=SLOW)
    expect(newcomer.locator("#mine")).not_to_contain_text("belongings.jsonl")


def test_compare_shows_the_pairs_of_a_cell_and_compares_again(
    app: App, newcomer: Page, second: str
) -> None:
    visit(newcomer, f"measure?view=compare&models=minilm,{second}")
    newcomer.locator("#compare").click()
    expect(newcomer.locator("#compare-matrix")).to_contain_text("Where", timeout=SLOW)
    drop_sessions(app)
    newcomer.locator("#compare-matrix button[data-cell]:not([disabled])").first.click()
    pairs = newcomer.locator("#compare-cell .badge")
    expect(pairs).not_to_contain_text("differ", timeout=SLOW)  # what stands there before the press
    expect(newcomer.locator("#compare-cell")).to_contain_text("page 1 of")
    newcomer.locator("#texts").get_by_label("One pair").check()
    newcomer.locator("#compare").click()
    expect(newcomer.locator("#compare-tiles .beside section")).to_have_count(2, timeout=SLOW)


def test_inoculate_shows_its_runs(app: App, newcomer: Page, second: str) -> None:
    visit(newcomer, f"train?model={second}&challenge=negation")
    show_examples(newcomer, "5")
    newcomer.locator("#train-start").click()
    expect(newcomer.locator("#train-runs")).to_contain_text(second, timeout=SLOW)
    drop_sessions(app)
    expect(newcomer.locator("#outcome")).to_contain_text(second, timeout=3 * SLOW)
    newcomer.locator("summary", has_text="by another learning rate").click()
    newcomer.locator("input[data-by=dev_lr]").check()
    expect(newcomer.locator("#curve")).to_contain_text(second, timeout=SLOW)
