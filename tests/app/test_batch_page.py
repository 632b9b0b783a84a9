"""The Batch tab in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from probe.settings import ASSETS
from tests.support.browser import SLOW, fits_a_phone, open_tab

pytestmark = pytest.mark.browser


def test_a_file_is_scored_from_the_page(page: Page) -> None:
    open_tab(page, "Batch")
    upload = page.locator("#upload input[type=file]").first
    upload.set_input_files(str(ASSETS / "examples" / "mnli_form.tsv"))
    expect(page.locator("#preview table")).to_be_visible(timeout=SLOW)
    page.locator("#score").click()
    expect(page.locator("#files")).to_contain_text("mnli_form-scored", timeout=SLOW)
    expect(page.locator("#batch-cards")).to_contain_text("39 of 40")
    expect(page.locator("#lines")).to_contain_text("the hypothesis is empty")
    page.locator("#batch-guard input").check()
    expect(page.locator("#files")).to_contain_text("mnli_form-scored-guarded", timeout=SLOW)
    fits_a_phone(page)


def test_pairs_from_templates_are_scored_from_the_page(page: Page) -> None:
    open_tab(page, "Batch")
    page.get_by_text("Or make pairs from templates").click()
    page.get_by_label("Pairs", exact=True).fill("60")
    page.locator("#make-pairs").click()
    expect(page.locator("#columns-guessed")).to_contain_text("60 rows", timeout=SLOW)
    page.locator("#score").click()
    expect(page.locator("#files")).to_contain_text("hans-60-seed-0-scored", timeout=SLOW)
    expect(page.locator("#baselines")).to_contain_text("lexical_overlap")
