"""The Probe tab in a real browser."""

import json
from itertools import combinations
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.ui.tabs.example_pairs import examples_of
from tests.conftest import App
from tests.support.pages.browser import (
    PHONE,
    SLOW,
    far_away,
    fits_a_phone,
    hold_questions,
    is_accessible,
    visit,
)
from tests.support.processes.running_app import add_model

pytestmark = pytest.mark.browser
SCREEN = {"width": 1280, "height": 800}
PLACES = """selectors => selectors.map(([selector, at]) => {
  const box = document.querySelectorAll(selector)[at]?.getBoundingClientRect();
  return box && box.height ? box.bottom + window.scrollY : null;
})"""
"""How far down the page parts end, in pixels; none for what is not shown."""
CUT = """(place, labels) => labels.filter(label => {
  place.textContent = label;
  return place.scrollWidth > place.clientWidth;
})"""
"""Which of some labels are wider than the place in which they stand."""
CONTROLS = """() => {
  const tags = "button, input, textarea, select, summary, a[href], [role=button]";
  const tab = document.querySelector("[role=tabpanel]:not([style*='none'])");
  return [...tab.querySelectorAll(tags)].map(element => {
    const part = element.matches("input[type=radio]") ? element.closest("label") : element;
    const { left, top, right, bottom } = part.getBoundingClientRect();
    return [left, top, right, bottom, part.outerHTML.slice(0, 120)];
  }).filter(([left, top, right, bottom]) => right - left > 2 && bottom - top > 2);
}"""


def ends(page: Page, *parts: tuple[str, int]) -> list[float]:
    """Return where parts of the page end, each by its selector and its number."""
    found = page.evaluate(PLACES, [list(part) for part in parts])
    assert None not in found, list(zip(parts, found, strict=True))
    return list(found)


def answered(page: Page, address: str, rows: int = 4) -> None:
    """Open an address and wait for the results, dimmed no more."""
    visit(page, address)
    if rows:
        expect(page.locator("#rows .result")).to_have_count(rows, timeout=SLOW)
    else:
        expect(page.locator("#rows .empty")).to_be_visible(timeout=SLOW)
    expect(page.locator("#rows.stale, #answer.stale")).to_have_count(0, timeout=SLOW)


def test_the_first_page_shows_an_example_predicted_and_explained(newcomer: Page) -> None:
    expect(newcomer.locator("#answer .token").first).to_be_visible(timeout=SLOW)
    expect(newcomer.locator("#rows .result")).to_have_count(4, timeout=SLOW)


@pytest.mark.parametrize("size", [SCREEN, PHONE], ids=["wide", "phone"])
def test_no_label_of_a_task_is_cut(page: Page, app: App, size: ViewportSize) -> None:
    answered(page, app.url)
    page.set_viewport_size(size)
    labels = [
        label for task in (NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT) for label in task.labels
    ]
    assert page.locator("#rows .predicted .label").first.evaluate(CUT, labels) == []
    page.set_viewport_size(SCREEN)


def test_of_two_quick_choices_the_last_one_counts(page: Page, app: App) -> None:
    answered(page, app.url)
    with far_away(page):
        for title in ("A negation", "A number"):
            page.locator("#example input").click()
            page.get_by_role("option", name=title).first.click()
    expect(page.locator("#example input")).to_have_value("A number")
    shown = page.locator("#text-2 textarea")
    expect(shown).to_have_value(examples_of(NLI)["A number"].hypothesis, timeout=SLOW)


def test_of_two_quick_tasks_the_last_one_counts(page: Page, app: App) -> None:
    answered(page, app.url)
    with far_away(page):
        for title in ("Paraphrase", "Sentiment"):
            page.get_by_role("radio", name=title).check()
            page.wait_for_timeout(600)
        expect(page.locator("#question")).to_contain_text("speak well or badly", timeout=SLOW)
        page.wait_for_timeout(2000)
    expect(page.get_by_role("radio", name="Sentiment")).to_be_checked()
    expect(page.locator("#question")).to_contain_text("speak well or badly")


def test_a_text_that_is_left_at_once_has_no_right_answer_any_more(page: Page, app: App) -> None:
    answered(page, app.url)
    expect(page.get_by_role("radio", name="not known")).not_to_be_checked()
    page.locator("#text-2 textarea").press_sequentially(" Nobody saw it.")
    page.locator("#settings-button").click()
    expect(page.get_by_role("radio", name="not known")).to_be_checked(timeout=SLOW)
    expect(page.locator("#example input")).to_have_value("")


def test_on_a_screen_the_answer_and_two_results_are_in_sight(page: Page, app: App) -> None:
    page.set_viewport_size(SCREEN)
    answered(page, app.url)
    shown = ends(page, (".verdict", 0), (".tokens", 1), ("#rows .result", 0), ("#rows .result", 1))
    assert max(shown) <= SCREEN["height"], shown


def test_on_a_phone_the_answer_is_on_the_first_screen_a_result_on_the_second(
    page: Page, app: App
) -> None:
    page.set_viewport_size(PHONE)
    answered(page, app.url)
    verdict, result = ends(page, (".verdict", 0), ("#rows .result", 0))
    assert verdict <= PHONE["height"]
    assert result <= 2 * PHONE["height"]
    fits_a_phone(page)


@pytest.mark.parametrize("width", [1280, 768, 375])
def test_no_two_controls_overlap(page: Page, app: App, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    answered(page, app.url)
    for press in ("#settings-button", "#rows .result summary"):
        controls = page.evaluate(CONTROLS)
        assert len(controls) > 10
        overlapping = [
            (first[4], second[4])
            for first, second in combinations(controls, 2)
            if min(first[2], second[2]) - max(first[0], second[0]) > 1
            and min(first[3], second[3]) - max(first[1], second[1]) > 1
            and first[4] not in second[4]
            and second[4] not in first[4]
        ]
        assert overlapping == []
        page.locator(press).first.click()
    page.set_viewport_size(SCREEN)


def test_the_fields_follow_the_task_and_come_back(page: Page, app: App) -> None:
    add_model(app, "tiny-paraphrase", PARAPHRASE_IDENTIFICATION)
    answered(page, app.url)
    page.locator("#task").get_by_label("Paraphrase").check()
    expect(page.get_by_label("Second text").first).to_be_visible(timeout=SLOW)
    expect(page.locator("#gold")).to_contain_text("non-paraphrase", timeout=SLOW)
    expect(page.locator("#presets")).not_to_contain_text("Heuristics", timeout=SLOW)
    page.locator("#task").get_by_label("Inference").check()
    expect(page.get_by_label("Hypothesis").first).to_be_visible(timeout=SLOW)


def test_swap_puts_each_text_in_the_other_s_place_and_lets_go_of_the_answer(
    page: Page, app: App
) -> None:
    answered(page, app.url)
    boxes = page.locator("#text-1 textarea"), page.locator("#text-2 textarea")
    first, second = (box.input_value() for box in boxes)
    page.locator("#swap").click()
    expect(boxes[0]).to_have_value(second)
    expect(boxes[1]).to_have_value(first)
    expect(page.get_by_role("radio", name="not known")).to_be_checked()


def test_a_task_of_one_text_shows_one_field_and_no_swap(page: Page, app: App) -> None:
    add_model(app, "tiny-sentiment", SENTIMENT)
    visit(page, f"{app.url}?task=sentiment")
    expect(page.get_by_label("Text", exact=True).first).to_be_visible(timeout=SLOW)
    expect(page.locator("#text-2")).to_be_hidden()
    expect(page.locator("#swap")).to_be_hidden()


def test_a_distractor_is_added_to_a_passage_and_the_answer_marked(page: Page, app: App) -> None:
    visit(page, f"{app.url}?task=reading&transforms=addsent,sort")
    expect(page.locator("#rows .result")).to_have_count(2, timeout=SLOW)
    marked = page.locator("#answer .answer-span")
    expect(marked).to_have_text(page.locator("#answer .verdict strong").inner_text())
    expect(page.locator("#rows")).to_contain_text("false answer:")
    expect(page.locator("#right-answer textarea")).to_have_value("Marta Keel")
    expect(page.locator("#gold")).to_be_hidden()
    page.locator("#text-1 textarea").fill("Who saw to the southern light?")
    page.locator("#right-answer textarea").fill("a stranger")
    expect(page.locator("#answer")).to_contain_text("does not occur in the passage", timeout=SLOW)


def test_a_tab_that_does_not_know_a_task_says_which_it_knows(page: Page, app: App) -> None:
    visit(page, f"{app.url}?task=reading&tab=repair")
    shown = page.get_by_text("Repair is not for reading. Choose")
    expect(shown).to_be_visible(timeout=SLOW)
    expect(page.locator("#repair-start")).to_be_hidden()
    page.locator("#task").get_by_label("Sentiment").check()
    expect(page.locator("#repair-start")).to_be_visible(timeout=SLOW)
    expect(shown).to_be_hidden()


def test_typing_updates_the_page_without_a_click_and_keeps_the_focus(page: Page, app: App) -> None:
    answered(page, app.url)
    field = page.locator("#text-2 textarea")
    field.fill("The country adopted three constitutions.")
    expect(page.locator("#rows")).to_contain_text("constitutions", timeout=SLOW)
    expect(page.locator("#answer .tokens").last).to_contain_text("adopted")
    expect(field).to_be_focused()


def test_an_answer_is_announced_in_one_sentence(page: Page, app: App) -> None:
    answered(page, app.url)
    said = page.locator("#said [role=status], #said[role=status]").first
    expect(said).to_contain_text("Contradiction, 0.", timeout=SLOW)
    expect(said).to_contain_text("answers stay")


def test_an_empty_side_is_answered_by_a_sentence_and_the_text_stays(page: Page) -> None:
    page.locator("#text-2 textarea").fill("")
    expect(page.locator("#answer [role=alert]")).to_have_text("the hypothesis is empty.")
    assert page.locator("#text-1 textarea").input_value()


def test_everything_stands_by_family_with_what_does_not_apply_folded(page: Page, app: App) -> None:
    answered(page, app.url)
    page.get_by_label("Everything").check()
    expect(page.locator("#rows .family")).to_have_count(5, timeout=SLOW)
    expect(page.locator("#rows .unchanged > summary")).to_contain_text("not apply here")
    page.locator("#rows [data-sort=confidence]").click()
    rows = page.locator("#rows .results > .result").all()
    shown = [float(row.get_attribute("data-confidence") or "nan") for row in rows]
    assert len(shown) >= 8
    assert shown == sorted(shown, reverse=True)


def test_a_preset_is_marked_while_just_its_changes_are_chosen(page: Page, app: App) -> None:
    answered(page, f"{app.url}?premise=Snow+fell.&hypothesis=It+snowed.&transforms=reverse", 1)
    page.get_by_label("None", exact=True).check()
    expect(page.locator("#rows .empty")).to_be_visible(timeout=SLOW)
    expect(page.get_by_label("None", exact=True)).to_be_checked()
    page.locator("#transforms input").fill("reverse")
    page.keyboard.press("Enter")
    expect(page.get_by_label("None", exact=True)).not_to_be_checked(timeout=SLOW)
    page.keyboard.press("Backspace")
    expect(page.get_by_label("None", exact=True)).to_be_checked(timeout=SLOW)


def test_a_chain_is_typed_and_checked_at_once(page: Page, app: App) -> None:
    answered(page, f"{app.url}?premise=Snow+fell.&hypothesis=It+snowed+hard.&transforms=", 0)
    field = page.locator("#transforms input")
    for typed in ("reverse+sort", "sideways"):
        field.fill(typed)
        field.press("Enter")
    expect(page.locator("#rows [role=alert]")).to_contain_text("“sideways” is none of the changes")
    expect(page.locator("#rows .result")).to_have_count(1, timeout=SLOW)
    expect(page.locator("#rows .what")).to_contain_text("Reverse the words, then sort the words")


def test_a_seed_below_0_is_refused_where_the_answer_stands(page: Page, app: App) -> None:
    answered(page, app.url)
    page.locator("#settings-button").click()
    seed = page.locator("#seed input")
    seed.fill("-3")
    refused = page.locator("#answer [role=alert]", has_text="-3 is below it")
    expect(refused).to_be_visible(timeout=SLOW)
    seed.fill("3")
    expect(refused).to_have_count(0, timeout=SLOW)
    expect(page.locator("#rows .result")).to_have_count(4, timeout=SLOW)


def test_a_permalink_opens_the_same_pair(page: Page, app: App) -> None:
    pair = "premise=Snow+fell.&hypothesis=It+snowed."
    answered(page, f"{app.url}?{pair}&transforms=reverse&seed=4", 1)
    assert page.locator("#text-1 textarea").input_value() == "Snow fell."
    expect(page.locator("#rows")).to_contain_text("snowed it")


def test_the_copied_link_reproduces_the_view(page: Page, app: App) -> None:
    asked = {
        "task": "nli",
        "premise": "Snow fell.",
        "hypothesis": "It snowed.",
        "gold": "entailment",
        "model": "minilm",
        "transforms": "reverse,drop+sort",
        "seed": "4",
        "method": "occlusion",
        "baseline": "mask",
        "label": "neutral",
        "options": json.dumps({"keep": 0.3}),
    }
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    answered(page, f"{app.url}?{query.replace('+', '%2B')}", 2)
    page.locator("#link").click()
    field = page.locator("#share input")
    expect(page.locator("#share .told")).not_to_be_empty(timeout=SLOW)
    assert dict(parse_qsl(urlsplit(field.input_value()).query)) == asked
    assert page.url == field.input_value()


def test_a_refused_clipboard_is_said_and_the_link_selected(browser: Browser, app: App) -> None:
    context = browser.new_context(viewport=SCREEN)
    context.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page = context.new_page()
    visit(page, app.url)
    expect(page.locator("#rows .result")).to_have_count(4, timeout=SLOW)
    page.locator("#link").click()
    expect(page.locator("#share .told")).to_contain_text("copy the link yourself", timeout=SLOW)
    assert page.evaluate("getSelection().toString() || document.activeElement.value").startswith(
        app.url
    )
    context.close()


def test_a_view_too_long_for_a_link_is_a_file(page: Page, app: App) -> None:
    answered(page, app.url)
    page.locator("#text-1 textarea").fill("The country is old. " * 220)
    expect(page.locator("#answer")).to_contain_text("too long for the model", timeout=SLOW)
    page.locator("#link").click()
    expect(page.locator("#share")).to_contain_text("many programs cut links", timeout=SLOW)
    expect(page.locator("#share a[download]")).to_have_attribute("download", "probe-view.json")


def test_a_link_to_a_model_that_is_not_here_says_so(page: Page, app: App) -> None:
    visit(page, f"{app.url}?premise=Snow+fell.&hypothesis=It+snowed.&model=somebody-s")
    told = page.locator("#notices", has_text="names the model 'somebody-s', which is not here")
    expect(told).to_be_visible(timeout=SLOW)
    expect(page.locator("#text-1 textarea")).to_have_value("Snow fell.", timeout=SLOW)


def test_a_link_to_a_tab_that_is_not_here_says_so(page: Page, app: App) -> None:
    visit(page, f"{app.url}?tab=somewhere")
    told = page.locator("#notices", has_text="names the tab 'somewhere', which is not here")
    expect(told).to_be_visible(timeout=SLOW)


def test_several_new_pairs_are_several_rows_with_their_gold_labels(page: Page, app: App) -> None:
    pair = "premise=Tim+has+350+stamps.&hypothesis=Tim+collects+stamps."
    answered(page, f"{app.url}?{pair}&transforms=numerical&gold=neutral", 3)
    rows = page.locator("#rows .result").all_inner_texts()
    for row, label in zip(rows[:2], ("entailment", "contradiction"), strict=True):
        assert f"right answer now: {label}" in row


def test_a_row_opens_with_its_importance_and_the_steps_of_a_chain(page: Page, app: App) -> None:
    pair = "premise=Snow+fell.&hypothesis=It+snowed+in+May."
    visit(page, f"{app.url}?{pair}&transforms=negation%2Breverse")
    row = page.locator("#rows .result")
    row.locator("> summary").first.click(timeout=SLOW)
    steps = row.locator(".lineage > li")
    expect(steps).to_have_count(2, timeout=SLOW)
    expect(steps.first).to_contain_text("and false is not true")
    expect(row.locator(".full .token").first).to_be_visible()
    expect(row.locator(".full").get_by_role("link", name="Open in Probe")).to_be_visible()
    expect(row.locator(".full a[download$='.svg']")).to_have_count(1)


def test_a_dismissed_hint_stays_away(browser: Browser, app: App) -> None:
    context = browser.new_context(viewport=SCREEN)
    page = context.new_page()
    visit(page, app.url)
    page.locator("#hint [data-dismiss]").click(timeout=SLOW)
    expect(page.locator("#hint")).to_be_hidden()
    visit(page, app.url)
    expect(page.locator("#rows .result")).to_have_count(4, timeout=SLOW)
    expect(page.locator("#hint")).to_be_hidden()
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_our_own_markup_has_no_serious_accessibility_fault(
    page: Page, app: App, theme: str
) -> None:
    answered(page, f"{app.url}?__theme={theme}")
    page.locator("#rows .result > summary").first.click()
    expect(page.locator("#rows .full .token").first).to_be_visible(timeout=SLOW)
    is_accessible(page, [["#header"], ["#hint"], ["#notices"], ["#answer"], ["#rows"]])
    release = hold_questions(page)
    page.locator("#text-2 textarea").fill("The country was calm.")
    expect(page.locator("#answer.stale, #rows.stale")).to_have_count(2)
    is_accessible(page, [["#answer"], ["#rows"]])
    release()


def test_arrow_keys_move_within_a_choice_and_tab_past_it(page: Page, app: App) -> None:
    visit(page, app.url)
    expect(page.locator("#rows .result").first).to_be_visible(timeout=SLOW)
    page.locator("#task input").first.focus()
    for key, task in (("ArrowRight", "paraphrase"), ("ArrowLeft", "nli")):
        page.keyboard.press(key)
        expect(page.locator("#task input:checked")).to_have_value(task)
        expect(page.locator("#text-2")).to_contain_text(
            "Second text" if task == "paraphrase" else "Hypothesis", timeout=SLOW
        )
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#task')") is None


def test_a_right_answer_goes_with_its_text_unless_a_person_has_said_it(
    page: Page, app: App
) -> None:
    visit(page, app.url)
    expect(page.locator("#answer")).to_contain_text("right", timeout=SLOW)
    page.locator("#text-2 textarea").fill("The country was calm.")
    expect(page.locator("#gold label.selected")).to_have_text("not known", timeout=SLOW)
    expect(page.locator("#example input")).to_have_value("")
    page.locator("#gold label").last.click()
    page.locator("#text-2 textarea").fill("The country was not calm.")
    expect(page.locator("#gold label.selected")).to_have_text("contradiction", timeout=SLOW)
    page.locator("#random").click()
    expect(page.locator("#text-2 textarea")).not_to_have_value("The country was not calm.")
    expect(page.locator("#answer.stale")).to_have_count(1)  # the right answer has come, too
    expect(page.locator("#answer.stale")).to_have_count(0, timeout=SLOW)
    page.locator("#text-2 textarea").fill("The country was calm.")
    expect(page.locator("#gold label.selected")).to_have_text("not known", timeout=SLOW)
