"""Mine, and the links to runs in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.files.pair_files import PAIRS, row, write
from tests.support.models.tiny_bert import tiny_bert
from tests.support.pages.browser import SLOW, fits_a_phone, is_accessible, visit

pytestmark = pytest.mark.browser


def test_what_is_kept_is_counted_found_again_taken_away_and_deleted_when_confirmed(
    newcomer: Page, tmp_path: Path
) -> None:
    visit(newcomer, "measure?texts=file")
    upload = write(tmp_path / "belongings.jsonl", [row(pair) for pair in PAIRS[:3]])
    newcomer.locator("#upload input[type=file]").first.set_input_files(str(upload))
    expect(newcomer.locator("#upload-preview table")).to_be_visible(timeout=SLOW)
    visit(newcomer, "mine?kind=files")
    listed = newcomer.locator("#mine [data-kind=files]:has(h2)")
    expect(listed).to_contain_text("belongings.jsonl 3 rows, uploaded today", timeout=SLOW)
    expect(newcomer.locator("#header .count")).to_have_text("1")
    expect(newcomer.locator("#mine [data-kind=runs]:has(h2)")).to_be_hidden()
    newcomer.get_by_role("button", name="All 1").click()
    expect(newcomer.locator("#bring")).to_be_visible()
    newcomer.go_back()
    expect(newcomer.locator("#bring")).to_be_hidden(timeout=SLOW)
    newcomer.go_forward()
    is_accessible(newcomer, [["#mine"]])
    fits_a_phone(newcomer)
    newcomer.locator("#mine-search textarea").fill("other.csv")
    expect(listed).to_be_hidden()
    newcomer.locator("#mine-search textarea").fill("BELONG")
    with newcomer.expect_download() as taken:
        listed.get_by_role("button", name="Download: belongings.jsonl").click()
    assert taken.value.path().read_text() == upload.read_text()
    told, no = newcomer.locator("#mine-told"), newcomer.get_by_role("button", name="No, keep it")
    listed.get_by_role("button", name="Delete: belongings.jsonl").click()
    expect(told).to_contain_text("Delete: belongings.jsonl?", timeout=SLOW)
    is_accessible(newcomer, [["#mine-told"]])
    no.click()
    expect(told.locator("button")).to_have_count(0, timeout=SLOW)
    newcomer.locator("#mine-all").click()
    expect(told).to_contain_text("files: 1", timeout=SLOW)
    newcomer.get_by_role("button", name="Yes").click()
    expect(listed).to_contain_text("None yet. What you upload", timeout=SLOW)
    expect(newcomer.locator("#header .count")).to_have_count(0)
    visit(newcomer, "measure?texts=file")
    expect(newcomer.locator("#upload")).not_to_contain_text("belongings", timeout=SLOW)


def test_a_model_that_is_brought_stands_in_the_lists(newcomer: Page, tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "brought")
    visit(newcomer, "mine?kind=models")
    newcomer.locator("#own-name :is(input, textarea)").fill(str(folder))
    newcomer.locator("#own-load").click()
    expect(newcomer.locator("#own-message")).to_contain_text("is a bert model", timeout=SLOW)
    expect(newcomer.locator("#mine .thing")).to_contain_text("brought by you", timeout=SLOW)
    newcomer.locator("#own-message").get_by_role("link", name="Probe").click()
    expect(newcomer.locator("#model input")).to_have_value(re.compile("brought"), timeout=SLOW)
    expect(newcomer.locator("#answer .verdict, #answer .label").first).to_be_visible(timeout=SLOW)
