"""The Probe tab in a real browser."""

import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from probe.ui.tabs.example_pairs import examples_of
from tests.conftest import App
from tests.support.pages.browser import (
    PHONE,
    SLOW,
    controls_keep_apart,
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


def ends(page: Page, *parts: tuple[str, int]) -> list[float]:
    """Return where parts of the page end, each by its selector and its number."""
    found = page.evaluate(PLACES, [list(part) for part in parts])
    assert None not in found, list(zip(parts, found, strict=True))
    return list(found)


def answered(page: Page, address: str = "./", rows: int = 4) -> None:
    """Open an address and wait for the results, dimmed no more."""
    visit(page, address)
    if rows:
        expect(page.locator("#rows .result")).to_have_count(rows, timeout=SLOW)
    else:
        expect(page.locator("#rows .empty")).to_be_visible(timeout=SLOW)
    expect(page.locator("#rows.stale, #answer.stale")).to_have_count(0, timeout=SLOW)


@pytest.mark.parametrize("size", [SCREEN, PHONE], ids=["wide", "phone"])
def test_no_label_of_a_task_is_cut(page: Page, size: ViewportSize) -> None:
    answered(page)
    page.set_viewport_size(size)
    labels = [
        label for task in (NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT) for label in task.labels
    ]
    assert page.locator("#rows .predicted .label").first.evaluate(CUT, labels) == []
    page.set_viewport_size(SCREEN)


def test_of_two_quick_choices_the_last_one_counts(page: Page) -> None:
    answered(page)
    with far_away(page):
        for title in ("A negation", "A number"):
            page.locator("#example input").click()
            page.get_by_role("option", name=title).first.click()
    expect(page.locator("#example input")).to_have_value("A number")
    shown = page.locator("#text-2 textarea")
    expect(shown).to_have_value(examples_of(NLI)["A number"].hypothesis, timeout=SLOW)


def test_a_text_that_is_left_at_once_has_no_right_answer_any_more(page: Page) -> None:
    answered(page)
    expect(page.get_by_role("radio", name="not known")).not_to_be_checked()
    page.locator("#text-2 textarea").press_sequentially(" Nobody saw it.")
    page.locator("#settings-button").click()
    expect(page.get_by_role("radio", name="not known")).to_be_checked(timeout=SLOW)
    expect(page.locator("#example input")).to_have_value("")


def test_on_a_screen_the_answer_and_two_results_are_in_sight(page: Page) -> None:
    page.set_viewport_size(SCREEN)
    answered(page)
    shown = ends(page, (".verdict", 0), (".tokens", 1), ("#rows .result", 0), ("#rows .result", 1))
    assert max(shown) <= SCREEN["height"], shown


def test_on_a_phone_the_answer_is_on_the_first_screen_a_result_on_the_second(page: Page) -> None:
    page.set_viewport_size(PHONE)
    answered(page)
    verdict, result = ends(page, (".verdict", 0), ("#rows .result", 0))
    assert verdict <= PHONE["height"]
    assert result <= 2 * PHONE["height"]
    fits_a_phone(page)


def test_swap_puts_each_text_in_the_other_s_place_and_lets_go_of_the_answer(page: Page) -> None:
    answered(page)
    boxes = page.locator("#text-1 textarea"), page.locator("#text-2 textarea")
    first, second = (box.input_value() for box in boxes)
    page.locator("#swap").click()
    expect(boxes[0]).to_have_value(second)
    expect(boxes[1]).to_have_value(first)
    expect(page.get_by_role("radio", name="not known")).to_be_checked()


def test_a_distractor_is_added_to_a_passage_and_the_answer_marked(page: Page) -> None:
    visit(page, "./?task=reading&transforms=addsent,sort")
    expect(page.locator("#rows .result")).to_have_count(2, timeout=SLOW)
    marked = page.locator("#answer .answer-span")
    expect(marked).to_have_text(page.locator("#answer .verdict strong").inner_text())
    expect(page.locator("#rows")).to_contain_text("false answer:")
    expect(page.locator("#right-answer textarea")).to_have_value("Marta Keel")
    expect(page.locator("#gold")).to_be_hidden()
    page.locator("#text-1 textarea").fill("Who saw to the southern light?")
    page.locator("#right-answer textarea").fill("a stranger")
    expect(page.locator("#answer")).to_contain_text("does not occur in the passage", timeout=SLOW)


def test_typing_updates_the_page_without_a_click_and_keeps_the_focus(page: Page) -> None:
    answered(page)
    field = page.locator("#text-2 textarea")
    field.fill("The country adopted three constitutions.")
    expect(page.locator("#rows")).to_contain_text("constitutions", timeout=SLOW)
    expect(page.locator("#answer .tokens").last).to_contain_text("adopted")
    expect(field).to_be_focused()


def test_an_answer_is_announced_in_one_sentence(page: Page) -> None:
    answered(page)
    said = page.locator("#said [role=status], #said[role=status]").first
    expect(said).to_contain_text("Contradiction, 0.", timeout=SLOW)
    expect(said).to_contain_text("answers stay")


def test_an_empty_side_is_answered_by_a_sentence_and_the_text_stays(page: Page) -> None:
    page.locator("#text-2 textarea").fill("")
    expect(page.locator("#answer [role=alert]")).to_have_text("the hypothesis is empty.")
    assert page.locator("#text-1 textarea").input_value()


def test_everything_stands_by_family_with_what_does_not_apply_folded(page: Page) -> None:
    answered(page)
    page.get_by_label("Everything").check()
    expect(page.locator("#rows .family")).to_have_count(5, timeout=SLOW)
    expect(page.locator("#rows .unchanged > summary")).to_contain_text("not apply here")
    page.locator("#rows [data-sort=confidence]").click()
    rows = page.locator("#rows .results > .result").all()
    shown = [float(row.get_attribute("data-confidence") or "nan") for row in rows]
    assert len(shown) >= 8
    assert shown == sorted(shown, reverse=True)


def test_a_preset_is_marked_while_just_its_changes_are_chosen(page: Page) -> None:
    answered(page, "./?premise=Snow+fell.&hypothesis=It+snowed.&transforms=reverse", 1)
    page.get_by_label("None", exact=True).check()
    expect(page.locator("#rows .empty")).to_be_visible(timeout=SLOW)
    expect(page.get_by_label("None", exact=True)).to_be_checked()
    page.locator("#transforms input").fill("reverse")
    page.keyboard.press("Enter")
    expect(page.get_by_label("None", exact=True)).not_to_be_checked(timeout=SLOW)
    page.keyboard.press("Backspace")
    expect(page.get_by_label("None", exact=True)).to_be_checked(timeout=SLOW)


def test_a_chain_is_typed_and_checked_at_once(page: Page) -> None:
    answered(page, "./?premise=Snow+fell.&hypothesis=It+snowed+hard.&transforms=", 0)
    field = page.locator("#transforms input")
    for typed in ("reverse+sort", "sideways"):
        field.fill(typed)
        field.press("Enter")
    expect(page.locator("#rows [role=alert]")).to_contain_text("“sideways” is none of the changes")
    expect(page.locator("#rows .result")).to_have_count(1, timeout=SLOW)
    expect(page.locator("#rows .what")).to_contain_text("Reverse the words, then sort the words")


def test_a_seed_below_0_is_refused_where_the_answer_stands(page: Page) -> None:
    answered(page)
    page.locator("#settings-button").click()
    seed = page.locator("#seed input")
    seed.fill("-3")
    refused = page.locator("#answer [role=alert]", has_text="-3 is below it")
    expect(refused).to_be_visible(timeout=SLOW)
    seed.fill("3")
    expect(refused).to_have_count(0, timeout=SLOW)
    expect(page.locator("#rows .result")).to_have_count(4, timeout=SLOW)


def test_a_permalink_opens_the_same_pair(page: Page) -> None:
    pair = "premise=Snow+fell.&hypothesis=It+snowed."
    answered(page, f"./?{pair}&transforms=reverse&seed=4", 1)
    assert page.locator("#text-1 textarea").input_value() == "Snow fell."
    expect(page.locator("#rows")).to_contain_text("snowed it")


def test_the_copied_link_reproduces_the_view(page: Page) -> None:
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
    answered(page, f"./?{query.replace('+', '%2B')}", 2)
    page.locator("#link").click()
    field = page.locator("#share input")
    expect(page.locator("#share .told")).not_to_be_empty(timeout=SLOW)
    assert dict(parse_qsl(urlsplit(field.input_value()).query)) == asked
    assert page.url == field.input_value()


def test_a_view_too_long_for_a_link_is_a_file(page: Page) -> None:
    answered(page)
    page.locator("#text-1 textarea").fill("The country is old. " * 220)
    expect(page.locator("#answer")).to_contain_text("too long for the model", timeout=SLOW)
    page.locator("#link").click()
    expect(page.locator("#share")).to_contain_text("many programs cut links", timeout=SLOW)
    expect(page.locator("#share a[download]")).to_have_attribute("download", "probe-view.json")


def test_a_link_to_a_model_that_is_not_here_says_so(page: Page) -> None:
    visit(page, "./?premise=Snow+fell.&hypothesis=It+snowed.&model=somebody-s")
    told = page.locator("#notices", has_text="names the model 'somebody-s', which is not here")
    expect(told).to_be_visible(timeout=SLOW)
    expect(page.locator("#text-1 textarea")).to_have_value("Snow fell.", timeout=SLOW)


def test_a_link_to_a_tab_that_is_not_here_says_so(page: Page) -> None:
    visit(page, "./?tab=somewhere")
    told = page.locator("#notices", has_text="names the tab 'somewhere', which is not here")
    expect(told).to_be_visible(timeout=SLOW)


def test_several_new_pairs_are_several_rows_with_their_gold_labels(page: Page) -> None:
    pair = "premise=Tim+has+350+stamps.&hypothesis=Tim+collects+stamps."
    answered(page, f"./?{pair}&transforms=numerical&gold=neutral", 3)
    rows = page.locator("#rows .result").all_inner_texts()
    for row, label in zip(rows[:2], ("entailment", "contradiction"), strict=True):
        assert f"right answer now: {label}" in row


def test_a_row_opens_with_its_importance_and_the_steps_of_a_chain(page: Page) -> None:
    pair = "premise=Snow+fell.&hypothesis=It+snowed+in+May."
    visit(page, f"./?{pair}&transforms=negation%2Breverse")
    row = page.locator("#rows .result")
    row.locator("> summary").first.click(timeout=SLOW)
    steps = row.locator(".lineage > li")
    expect(steps).to_have_count(2, timeout=SLOW)
    expect(steps.first).to_contain_text("and false is not true")
    expect(row.locator(".full .token").first).to_be_visible()
    expect(row.locator(".full").get_by_role("link", name="Open in Probe")).to_be_visible()
    expect(row.locator(".full a[download$='.svg']")).to_have_count(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_our_own_markup_has_no_serious_accessibility_fault(page: Page, theme: str) -> None:
    answered(page, f"./?__theme={theme}")
    page.locator("#rows .result > summary").first.click()
    expect(page.locator("#rows .full .token").first).to_be_visible(timeout=SLOW)
    is_accessible(page, [["#header"], ["#hint"], ["#notices"], ["#answer"], ["#rows"]])
    release = hold_questions(page)
    page.locator("#text-2 textarea").fill("The country was calm.")
    expect(page.locator("#answer.stale, #rows.stale")).to_have_count(2)
    is_accessible(page, [["#answer"], ["#rows"]])
    release()


def test_a_right_answer_goes_with_its_text_unless_a_person_has_said_it(page: Page) -> None:
    visit(page)
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


@pytest.mark.parametrize("width", [1280, 768, 375])
def test_no_two_controls_overlap(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    answered(page)
    for press in ("#settings-button", "#rows .result summary"):
        controls_keep_apart(page)
        page.locator(press).first.click()
    page.set_viewport_size(SCREEN)


@pytest.mark.parametrize(
    ("task", "field", "gold", "shown"),
    [
        (PARAPHRASE_IDENTIFICATION, "Second text", "non-paraphrase", True),
        (SENTIMENT, "Text", "positive", False),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_fields_are_those_of_the_task(
    page: Page, app: App, task: Task, field: str, gold: str, shown: bool
) -> None:
    add_model(app, f"tiny-{task.name}", task)
    visit(page, f"./?task={task.name}")
    expect(page.get_by_label(field, exact=True).first).to_be_visible(timeout=SLOW)
    expect(page.locator("#gold")).to_contain_text(gold, timeout=SLOW)
    expect(page.locator("#presets")).not_to_contain_text("Heuristics")
    for part in ("#text-2", "#swap"):
        expect(page.locator(part)).to_be_visible(visible=shown)


def test_a_refused_clipboard_is_said_and_the_link_selected(newcomer: Page) -> None:
    newcomer.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    answered(newcomer)
    newcomer.locator("#link").click()
    expect(newcomer.locator("#share .told")).to_contain_text("copy the link yourself", timeout=SLOW)
    selected = newcomer.evaluate("getSelection().toString() || document.activeElement.value")
    assert selected.startswith("http")


def test_a_dismissed_hint_stays_away(newcomer: Page) -> None:
    answered(newcomer)
    newcomer.locator("#hint [data-dismiss]").click()
    expect(newcomer.locator("#hint")).to_be_hidden()
    answered(newcomer)
    expect(newcomer.locator("#hint")).to_be_hidden()
