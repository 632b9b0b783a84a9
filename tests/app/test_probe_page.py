"""Probe in a real browser, each walk on one page."""

import json
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.ui.tabs.example_pairs import examples_of
from tests.support.pages.browser import (
    PHONE,
    SLOW,
    controls_keep_apart,
    far_away,
    fits,
    hold_questions,
    is_accessible,
    visit,
)

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


def texts(page: Page, first: str | None = None, second: str | None = None) -> list[str]:
    """Fill the fields of the texts, and return what they hold."""
    fields = [page.locator(f"#text-{at} textarea") for at in (1, 2)]
    for field, text in zip(fields, (first, second), strict=True):
        if text is not None:
            field.fill(text)
    return [field.input_value() for field in fields]


def right_answer(page: Page, words: str) -> None:
    """Wait until this is marked as the right answer."""
    expect(page.locator("#gold label.selected")).to_have_text(words, timeout=SLOW)


def test_a_newcomers_page_is_sent_with_its_answer_and_asks_nothing(
    page: Page, newcomer: Page
) -> None:
    answered(page)  # by now the app has made it
    asked = list[Request]()
    newcomer.on("request", lambda each: asked.append(each) if "/queue/join" in each.url else None)
    answered(newcomer)
    newcomer.wait_for_timeout(1500)
    assert asked == []
    said = newcomer.locator("#said")
    expect(said).to_contain_text("Contradiction, 0.")
    expect(said).to_contain_text("answers stay")
    newcomer.locator("#hint [data-dismiss]").click()
    expect(newcomer.locator("#hint")).to_be_hidden()
    answered(newcomer)
    expect(newcomer.locator("#hint")).to_be_hidden()


def test_the_first_result_stands_where_it_is_looked_for_and_nothing_is_cut(page: Page) -> None:
    answered(page)
    labels = [
        label for task in (NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT) for label in task.labels
    ]
    for size in (PHONE, {"width": 640, "height": 800}, {"width": 768, "height": 800}, SCREEN):
        page.set_viewport_size(size)
        fits(page)
        controls_keep_apart(page)
        assert page.locator("#rows .predicted .label").first.evaluate(CUT, labels) == [], size
        verdict, tokens, first, second = ends(
            page, (".verdict", 0), (".tokens", 1), ("#rows .result", 0), ("#rows .result", 1)
        )
        if size == PHONE:
            assert verdict <= PHONE["height"] and first <= 2 * PHONE["height"]
        if size == SCREEN:
            assert max(verdict, tokens, first, second) <= SCREEN["height"]
    page.locator("#settings-button").click()
    expect(page.locator("#seed")).to_be_visible(timeout=SLOW)
    for size in (PHONE, SCREEN):
        page.set_viewport_size(size)
        fits(page)
        controls_keep_apart(page)


def test_a_text_is_typed_swapped_and_drawn_and_its_right_answer_goes_unless_it_was_said(
    page: Page,
) -> None:
    answered(page)
    before = texts(page)
    right_answer(page, "contradiction")
    page.locator("#swap").click()
    right_answer(page, "not known")
    assert texts(page) == before[::-1]
    answered(page)
    field = page.locator("#text-2 textarea")
    field.press_sequentially(" Nobody saw it.")
    page.locator("#settings-button").click()  # left at once
    right_answer(page, "not known")
    expect(page.locator("#example input")).to_have_value("")
    page.locator("#settings-button").click()
    texts(page, second="The country adopted three constitutions.")
    expect(page.locator("#rows")).to_contain_text("constitutions", timeout=SLOW)
    expect(page.locator("#answer .tokens").last).to_contain_text("adopted")
    expect(field).to_be_focused()
    page.locator("#gold label").last.click()
    texts(page, second="The country was not calm.")
    right_answer(page, "contradiction")
    page.locator("#random").click()
    expect(field).not_to_have_value("The country was not calm.", timeout=SLOW)
    expect(page.locator("#answer.stale")).to_have_count(1)  # the right answer has come, too
    expect(page.locator("#answer.stale")).to_have_count(0, timeout=SLOW)
    texts(page, second="The country was calm.")
    right_answer(page, "not known")
    texts(page, second="")
    expect(page.locator("#answer [role=alert]")).to_have_text(
        "the hypothesis is empty.", timeout=SLOW
    )
    assert texts(page)[0]


def test_of_two_quick_choices_the_last_one_counts(page: Page) -> None:
    answered(page)
    with far_away(page):
        for title in ("A negation", "A number"):
            page.locator("#example input").click()
            page.get_by_role("option", name=title).first.click()
    expect(page.locator("#example input")).to_have_value("A number")
    shown = page.locator("#text-2 textarea")
    expect(shown).to_have_value(examples_of(NLI)["A number"].hypothesis, timeout=SLOW)


def test_changes_are_chosen_by_preset_and_by_typing_and_sorted(page: Page) -> None:
    answered(page, "./?premise=Snow+fell.&hypothesis=It+snowed+hard.&transforms=reverse", 1)
    none = page.get_by_label("None", exact=True)
    none.check()
    expect(page.locator("#rows .empty")).to_be_visible(timeout=SLOW)
    field = page.locator("#transforms input")
    field.fill("reverse+sort")
    field.press("Enter")
    expect(none).not_to_be_checked(timeout=SLOW)
    field.fill("sideways")
    field.press("Enter")
    expect(page.locator("#rows [role=alert]")).to_contain_text("“sideways” is none of the changes")
    expect(page.locator("#rows .what")).to_contain_text("Reverse the words, then sort the words")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    expect(none).to_be_checked(timeout=SLOW)
    page.keyboard.press("Escape")
    page.get_by_label("Everything").check()
    expect(page.locator("#rows .family")).to_have_count(5, timeout=SLOW)
    expect(page.locator("#rows .unchanged > summary")).to_contain_text("not apply here")
    page.locator("#rows [data-sort=confidence]").click()
    rows = page.locator("#rows .results > .result").all()
    shown = [float(row.get_attribute("data-confidence") or "nan") for row in rows]
    assert len(shown) >= 8 and shown == sorted(shown, reverse=True)


def test_an_address_and_a_copied_link_bring_all_of_it_back(page: Page) -> None:
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
    assert texts(page) == ["Snow fell.", "It snowed."]
    expect(page.locator("#rows")).to_contain_text("snowed it")
    page.locator("#link").click()
    field = page.locator("#share input")
    expect(page.locator("#share .told")).not_to_be_empty(timeout=SLOW)
    expect(page.locator("#share")).to_contain_text("whoever has it sees")
    assert dict(parse_qsl(urlsplit(field.input_value()).query)) == asked
    assert page.url == field.input_value()
    page.locator("#text-2 textarea").click()  # a person is there
    page.locator("#settings-button").click()
    seed = page.locator("#seed input")
    expect(seed).to_have_value("4", timeout=SLOW)
    seed.fill("-3")
    refused = page.locator("#answer [role=alert]", has_text="-3 is below it")
    expect(refused).to_be_visible(timeout=SLOW)
    seed.fill("5")
    expect(refused).to_have_count(0, timeout=SLOW)
    texts(page, second="It snowed in May.")
    expect(page.locator("#rows")).to_contain_text("may in snowed it", timeout=SLOW)
    page.wait_for_url("**hypothesis=It+snowed+in+May*seed=5**", timeout=SLOW)
    page.locator("#places a").last.click()
    page.wait_for_url("**/train*", timeout=SLOW)
    page.go_back()
    expect(page.locator("#rows")).to_contain_text("may in snowed it", timeout=SLOW)
    page.reload()
    expect(page.locator("#rows")).to_contain_text("may in snowed it", timeout=SLOW)
    assert texts(page)[1] == "It snowed in May."
    answered(page)
    texts(page, first="The country is old. " * 220)
    expect(page.locator("#answer")).to_contain_text("too long for the model", timeout=SLOW)
    page.locator("#link").click()
    expect(page.locator("#share")).to_contain_text("many programs cut links", timeout=SLOW)
    expect(page.locator("#share a[download]")).to_have_attribute("download", "probe-view.json")


def test_what_a_link_names_and_is_not_here_is_said(page: Page) -> None:
    named = {
        "premise=Snow+fell.&hypothesis=It+snowed.&model=somebody-s": "names the model 'somebody-s'",
        "tab=somewhere": "names the place 'somewhere'",
    }
    for query, words in named.items():
        visit(page, f"./?{query}")
        told = page.locator("#notices", has_text=f"{words}, which is not here")
        expect(told).to_be_visible(timeout=SLOW)


def test_rows_say_their_right_answers_and_open_with_importance_and_steps(page: Page) -> None:
    pair = "premise=Tim+has+350+stamps.&hypothesis=Tim+collects+stamps."
    answered(page, f"./?{pair}&transforms=numerical&gold=neutral", 3)
    rows = page.locator("#rows .result")
    for at, label in enumerate(("entailment", "contradiction")):
        expect(rows.nth(at)).to_contain_text(f"right answer now: {label}", timeout=SLOW)
    answered(page, f"./?{pair}&transforms=negation%2Breverse", 1)
    row = page.locator("#rows .result")
    row.locator("> summary").click(timeout=SLOW)
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
    texts(page, second="The country was calm.")
    expect(page.locator("#answer.stale, #rows.stale")).to_have_count(2)
    is_accessible(page, [["#answer"], ["#rows"]])
    release()


def of_paraphrases(page: Page) -> None:
    """Two texts, and labels of their own."""
    expect(page.get_by_label("Second text", exact=True).first).to_be_visible(timeout=SLOW)
    expect(page.locator("#gold")).to_contain_text("non-paraphrase", timeout=SLOW)
    expect(page.locator("#swap")).to_be_visible()


def of_sentiment(page: Page) -> None:
    """One text, which nothing can be swapped with."""
    expect(page.get_by_label("Text", exact=True).first).to_be_visible(timeout=SLOW)
    expect(page.locator("#gold")).to_contain_text("positive", timeout=SLOW)
    for part in ("#text-2", "#swap"):
        expect(page.locator(part)).to_be_hidden()


def of_passages(page: Page) -> None:
    """An answer in its place, which a distractor may move."""
    expect(page.locator("#rows .result").first).to_be_visible(timeout=SLOW)
    marked = page.locator("#answer .answer-span")
    expect(marked).to_have_text(page.locator("#answer .verdict strong").inner_text())
    expect(page.locator("#rows")).to_contain_text("false answer:")
    expect(page.locator("#right-answer textarea")).to_have_value("Marta Keel")
    expect(page.locator("#gold")).to_be_hidden()
    texts(page, first="Who saw to the southern light?")
    page.locator("#right-answer textarea").fill("a stranger")
    expect(page.locator("#answer")).to_contain_text("does not occur in the passage", timeout=SLOW)


@pytest.mark.parametrize(
    ("task", "shown"),
    [("paraphrase", of_paraphrases), ("sentiment", of_sentiment), ("reading", of_passages)],
)
def test_the_fields_are_those_of_the_task(
    page: Page, task: str, shown: Callable[[Page], None]
) -> None:
    visit(page, f"./?task={task}")
    shown(page)
    expect(page.locator("#presets")).not_to_contain_text("Heuristics")


def test_a_refused_clipboard_is_said_and_the_list_of_models_leads_to_bringing_one(
    newcomer: Page,
) -> None:
    newcomer.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    answered(newcomer)
    newcomer.locator("#link").click()
    expect(newcomer.locator("#share .told")).to_contain_text("copy the link yourself", timeout=SLOW)
    selected = newcomer.evaluate("getSelection().toString() || document.activeElement.value")
    assert selected.startswith("http")
    newcomer.locator("#model input").click()
    newcomer.get_by_role("option", name="Bring a model").click()
    newcomer.wait_for_url("**/mine?kind=models&task=nli", timeout=SLOW)
