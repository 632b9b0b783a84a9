"""Train in a real browser: its form, its list of runs, what came of them."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from finetune.report.inoculation import shown_runs
from tests.conftest import App
from tests.support.pages.browser import (
    SLOW,
    are_in_sight,
    fits_a_phone,
    is_accessible,
    looks_well_by_day_and_by_night,
    show_examples,
    visit,
)
from tests.support.processes.running_app import add_model
from tests.support.runs.condition_files import written

pytestmark = pytest.mark.browser
MEASURED = 4 * SLOW
"""Milliseconds: the speed of training is measured once, and estimates wait for one another."""
ESTIMATE, RUNS, RESULTS = "#train-estimate", "#train-runs", "#train-results"


def estimate_is(page: Page, words: str) -> None:
    expect(page.locator(ESTIMATE)).to_contain_text(words, timeout=MEASURED)


def test_a_newcomer_sees_form_list_and_finished_runs_and_walks_through_the_aims(
    newcomer: Page,
) -> None:
    visit(newcomer, "train")
    minilms = [run for run in shown_runs() if run.plan.model == "minilm"]
    expect(newcomer.locator("#curve svg[role=img]")).to_have_count(len(minilms), timeout=SLOW)
    expect(newcomer.locator("#outcome h2")).to_contain_text("utcome")
    expect(newcomer.locator("#train-about")).to_contain_text("four more", timeout=SLOW)
    estimate_is(newcomer, "About")
    parts = ("#train-aim", "#train-models", "#train-start", "#train-runs")
    are_in_sight(newcomer, *parts, f"{RESULTS} .say")
    is_accessible(newcomer, [["#train"]])
    newcomer.locator("#train-aim").get_by_role("radio", name="Repair").check()
    expect(newcomer).to_have_url(re.compile("aim=repair"), timeout=SLOW)
    expect(newcomer.locator(f"{RESULTS} .say")).to_contain_text("Taught a class", timeout=SLOW)
    estimate_is(newcomer, "Compared with: Threshold alone")
    newcomer.get_by_role("radio", name="Temperature scaling").check()
    expect(newcomer.locator("#train-about")).to_contain_text("no answer changes", timeout=SLOW)
    expect(newcomer.locator("#train-transforms")).to_be_hidden()
    theirs = newcomer.locator(f"{RESULTS} .forest").get_by_text("97 % found")
    expect(theirs).to_be_hidden()
    newcomer.get_by_role("radio", name="Gupta et al., table 12").check()
    expect(theirs).to_be_visible()
    newcomer.locator("#train-aim").get_by_role("radio", name="Generalise").check()
    heat = newcomer.locator(f"{RESULTS} .heat")
    expect(heat).to_have_count(1, timeout=SLOW)
    heat.locator("tbody tr", has_text="Medium").locator("button").first.click()
    expect(newcomer.locator(f"{RESULTS} .panel.opened h4")).to_have_text("Trained on: Medium")
    badge, rule = newcomer.locator(f"{RESULTS} .badge").first, newcomer.locator("input[data-rule]")
    expect(badge).to_have_text("undecided")
    newcomer.get_by_role("radio", name="From your own file").check()
    expect(newcomer.locator("#train-file")).to_be_visible(timeout=SLOW)
    expect(newcomer.locator("#train-vary")).to_be_hidden()
    is_accessible(newcomer, [["#train"]])
    newcomer.go_back()
    expect(newcomer.locator("#train-aim .selected")).to_contain_text("Repair", timeout=SLOW)
    visit(newcomer, "train?run=gallery-minilm-numerical-range")
    expect(badge).to_contain_text("learnt the set, not the skill", timeout=SLOW)
    rule.fill("90")
    rule.press("Tab")
    expect(badge).to_contain_text("undecided", timeout=SLOW)
    expect(newcomer).to_have_url(re.compile("rule=gallery-minilm-numerical-range%3A90"))


def test_ready_made_runs_are_found_opened_and_ticked_and_follow_model_and_transform(
    newcomer: Page,
) -> None:
    visit(newcomer, "train")
    expect(newcomer.locator(f"{RUNS} .ready").first).to_be_visible(timeout=SLOW)
    newcomer.get_by_role("searchbox", name="search runs").fill("esim negation")
    rows = newcomer.locator(f"{RUNS} li:visible")
    expect(rows).to_have_count(2)  # of ESIM, and of ESIM with characters
    rows.first.locator(".open").click()
    expect(newcomer.locator("#outcome")).to_contain_text("negation on esim", timeout=SLOW)
    expect(newcomer).to_have_url(re.compile(r"run=gallery-esim-negation(&|$)"))
    rows.last.get_by_role("checkbox").check()
    expect(newcomer.locator("#compared .name")).to_have_count(2, timeout=SLOW)
    for move, ticks in ((newcomer.go_back, 1), (newcomer.go_forward, 2)):
        move()
        expect(newcomer.locator(f"{RUNS} input:checked")).to_have_count(ticks, timeout=SLOW)
    newcomer.reload()
    expect(newcomer.locator("#compared .name")).to_have_count(2, timeout=SLOW)
    newcomer.locator("#curve button[data-cell]").last.press("Enter")
    expect(newcomer).to_have_url(re.compile("opened=gallery-esim_char"), timeout=SLOW)
    newcomer.get_by_role("searchbox", name="search runs").fill("ESIM")
    newcomer.get_by_label("Mine", exact=True).check()
    expect(newcomer.locator(f"{RUNS} li:visible")).to_have_count(0)
    visit(newcomer, "./?premise=Snow+fell.&hypothesis=It+snowed.&transforms=negation")
    newcomer.locator("#rows .result summary").first.click(timeout=SLOW)
    newcomer.get_by_role("link", name="Inoculate against this").click()
    expect(newcomer.locator("#train-about")).to_contain_text("5 pairs of negation.", timeout=SLOW)
    expect(newcomer.locator("#train-challenges .token")).to_have_count(1)
    expect(newcomer.locator("#outcome")).to_contain_text("negation on minilm", timeout=SLOW)
    newcomer.locator("#train-models .token-remove").first.click()
    newcomer.locator("#train-models input").press_sequentially("esim")
    newcomer.keyboard.press("Enter")
    expect(newcomer.locator(f"{RUNS} .ticked").first).to_contain_text("ESIM", timeout=SLOW)


def test_a_sweep_is_compared_taken_away_found_again_shared_and_deleted(
    newcomer: Page, other: Page, app: App, second: str
) -> None:
    add_model(app, "tiny-third")
    visit(newcomer, f"train?model={second}&challenge=negation")
    estimate_is(newcomer, "About")
    newcomer.locator("#train-models input").first.click()
    newcomer.get_by_role("option", name="tiny-third", exact=True).click()
    newcomer.keyboard.press("Escape")
    show_examples(newcomer, "5")
    estimate_is(newcomer, "2 runs: about")
    newcomer.locator("#train-start").click()
    own = newcomer.locator(f"{RUNS} li.mine")
    expect(own).to_have_count(2, timeout=5_000)  # with what is done and left, or its place in line
    expect(own.first).to_contain_text(re.compile(r"in line|before it|of 2 steps"))
    expect(newcomer).to_have_url(re.compile("run=[0-9a-f]{12}%2C[0-9a-f]{12}"))
    expect(own.locator(".badge")).to_have_count(2, timeout=10 * SLOW)
    newcomer.locator("#compared details.twin > summary").last.click()
    pressed = newcomer.locator("#compared button[data-cell]").last
    pressed.press("Enter")
    expect(newcomer.locator("#outcome")).to_contain_text("negation on tiny-third", timeout=SLOW)
    expect(pressed).to_be_focused()
    newcomer.locator("#train-take").click()
    expect(newcomer.locator("#train-files")).to_contain_text("report", timeout=SLOW)
    looks_well_by_day_and_by_night(newcomer, [["#train"]])
    newcomer.reload()
    expect(newcomer.locator("#outcome")).to_contain_text("negation on tiny-third", timeout=SLOW)
    newcomer.locator("#train-copy").click()
    share = newcomer.locator("#train-share")
    expect(share).to_contain_text("uses models of yours", timeout=SLOW)
    visit(other, share.locator("input").input_value())
    expect(other.locator("#curve")).to_contain_text("tiny-third", timeout=SLOW)
    expect(other.locator(f"{RUNS} li.mine [data-do]")).to_have_count(0)
    newcomer.on("dialog", lambda dialog: dialog.accept())
    own.first.locator(".delete").click()
    expect(own).to_have_count(1, timeout=SLOW)
    fits_a_phone(newcomer)


def test_a_run_survives_a_reload_and_is_stopped_and_taken_up(newcomer: Page) -> None:
    visit(newcomer, "train")
    show_examples(newcomer, "400")  # which takes longer than a reload
    estimate_is(newcomer, "for 1 training on")
    newcomer.locator("#train-start").click()
    row = newcomer.locator(f"{RUNS} li.mine")
    expect(row).to_contain_text("of 2 steps", timeout=MEASURED)
    newcomer.reload()
    expect(row).to_contain_text("of 2 steps", timeout=SLOW)
    row.locator(".stop").click()
    expect(row).to_contain_text("stopped", timeout=MEASURED)
    expect(newcomer).to_have_title(re.compile("^Stopped: MiniLM"))
    row.locator(".again").click()
    expect(row.locator(".stop")).to_be_visible(timeout=SLOW)
    row.locator(".stop").click()


def test_other_tasks_have_their_own_and_what_is_wrong_is_answered_by_a_sentence(
    page: Page, tmp_path: Path
) -> None:
    visit(page, "train?task=paraphrase")
    expect(page.locator("#curve")).to_contain_text("Same words, other order", timeout=SLOW)
    expect(page.locator("#train-models")).to_contain_text("minilm_qqp", timeout=SLOW)
    visit(page, "train?task=reading")
    expect(page.locator("#train-challenges")).to_contain_text(
        "Add a false look-alike", timeout=SLOW
    )
    expect(page.locator("#train-sizes .token")).to_have_text(["5", "10", "all"], timeout=SLOW)
    expect(page.locator("#train-how")).to_be_hidden()
    expect(page.locator("#train-aim label")).to_have_count(1)
    visit(page, "train?aim=repair&task=sentiment")
    expect(page.locator("#train-transforms")).to_contain_text("All 7 changes", timeout=SLOW)
    expect(page.locator("#train-models")).to_contain_text("SST-2")
    visit(page, "train?aim=generalise&task=sentiment")
    expect(page.locator("#train-file")).to_be_visible(timeout=SLOW)
    visit(page, "train?aim=generalise")
    page.get_by_role("radio", name="From your own file").check()
    expect(page.locator("#train-file")).to_be_visible(timeout=SLOW)
    path = written(tmp_path / "mine.csv", {"news": 12, "novels": 9})
    page.locator("#train-file input[type=file]").set_input_files(path)
    shown = page.locator("#train-about")
    expect(shown).to_contain_text("2 kinds of rows: news 12, novels 9.", timeout=SLOW)
    expect(page.locator("#train-column input")).to_have_value("genre")
    visit(page, "train")
    show_examples(page, "5, many")
    page.locator("#train-start").click()
    told = page.locator(f"{ESTIMATE} [role=alert]")
    expect(told).to_contain_text("Examples '5, many' is not a list of numbers", timeout=SLOW)
    expect(page.locator("#train-sizes .token")).to_have_text("5, many")
    show_examples(page, "5")
    expect(told).to_have_count(0, timeout=MEASURED)
    told = page.locator("#train-problem [role=alert]")
    visit(page, "train?aim=repair&run=0123456789ab&model=nosuch")
    expect(told.first).to_contain_text("the run 0123456789ab, which is not here", timeout=SLOW)
    expect(told.last).to_contain_text("names the model 'nosuch', which is not here")


def test_an_upload_that_an_address_names_is_what_the_model_fails_on(
    newcomer: Page, tmp_path: Path
) -> None:
    rows = [f"P {n}.,H {n}.,{('entailment', 'neutral')[n % 2]}" for n in range(12)]
    (path := tmp_path / "mine.csv").write_text("\n".join(["premise,hypothesis,label", *rows]))
    visit(newcomer, "measure?texts=file")
    newcomer.locator("#upload input[type=file]").first.set_input_files(str(path))
    expect(newcomer).to_have_url(re.compile(r"texts=file(:|%3A)\w{64}"), timeout=SLOW)
    upload = re.findall("[0-9a-f]{64}", newcomer.url)[0]
    visit(newcomer, f"train?aim=inoculate&own={upload}")
    expect(newcomer.locator("#train-about")).to_contain_text("mine.csv", timeout=SLOW)
    expect(newcomer.locator("#train-sizes .token")).to_have_text("all")
    estimate_is(newcomer, "“mine”")
    visit(newcomer, "train?own=gone")
    expect(newcomer.locator(".problem").first).to_contain_text("not here any more", timeout=SLOW)
