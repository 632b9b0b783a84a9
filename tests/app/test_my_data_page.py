"""Mine, and the links to runs in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.runs.access import revoke, share
from probe.runs.store import Store
from probe.ui.links import link_to_run
from tests.conftest import App
from tests.support.files.pair_files import PAIRS, row, write
from tests.support.pages.browser import SLOW, fits_a_phone, is_accessible, visit
from tests.support.pages.visitors import ME

pytestmark = pytest.mark.browser


def test_a_visitors_files_are_listed_for_them_alone_and_deleted_when_confirmed(
    newcomer: Page, other: Page, tmp_path: Path
) -> None:
    visit(newcomer, "measure?texts=file")
    upload = write(tmp_path / "belongings.jsonl", [row(pair) for pair in PAIRS[:3]])
    newcomer.locator("#upload input[type=file]").first.set_input_files(str(upload))
    expect(newcomer.locator("#upload-preview table")).to_be_visible(timeout=SLOW)
    visit(newcomer, "mine")
    listed = newcomer.locator("#my-data")
    expect(listed).to_contain_text("belongings.jsonl", timeout=SLOW)
    visit(other, "mine")
    expect(other.locator("#my-data")).to_contain_text("None yet. What you upload", timeout=SLOW)
    is_accessible(newcomer, [["#my-data"]])
    fits_a_phone(newcomer)
    listed.get_by_role("button", name="Delete: belongings.jsonl").click()
    expect(newcomer.locator("#my-data-question")).to_contain_text("Delete: belongings.jsonl?")
    newcomer.locator("#my-data-no").click()
    expect(newcomer.locator("#my-data-question")).to_be_hidden(timeout=SLOW)
    newcomer.locator("#my-data-all").click()
    expect(newcomer.locator("#my-data-question")).to_contain_text("files: 1", timeout=SLOW)
    newcomer.locator("#my-data-yes").click()
    expect(listed).to_contain_text("None yet. What you upload", timeout=SLOW)


def test_a_link_shows_a_run_and_changes_nothing_until_it_is_taken_back(
    newcomer: Page, app: App, sets: Sets
) -> None:
    store = Store(f"sqlite:///{app.home / 'runs.sqlite'}")
    plan = Plan("tiny", "negation", (5,), (2e-5,), (0,))
    run = store.create(ME, run_request(plan, sets)).id
    store.set_state(run, "cancelled")
    visit(newcomer, link_to_run([run]))
    told = newcomer.locator("#train-problem [role=alert]")
    expect(told).to_contain_text(f"there is no run '{run}' here", timeout=SLOW)
    grant = share(store, ME, run)
    visit(newcomer, link_to_run([run], [grant]))
    shown = newcomer.locator("#train-runs li.mine")
    expect(shown).to_contain_text("tiny · Add a negation", timeout=SLOW)
    expect(shown).to_contain_text("shown to you")
    expect(shown.locator("[data-do]")).to_have_count(0)
    revoke(store, ME, grant)
    newcomer.reload()
    expect(told).to_contain_text(f"there is no run '{run}' here", timeout=SLOW)
