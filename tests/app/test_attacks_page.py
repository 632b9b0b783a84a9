"""A corpus of attacks typed into every text a person can give: none runs, none becomes an element.

What one text of each kind shows is in tests/probe/ui/html; here is what a browser makes of it, with
gradio's own components around it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from probe.ui.links import MOVED
from tests.app.conftest import opened
from tests.conftest import App
from tests.support.files.pair_files import PAIRS, row, write
from tests.support.pages.attacks import ATTACKS
from tests.support.pages.browser import SETTLED, SLOW, show_examples, visit

pytestmark = pytest.mark.browser
WATCH = """
window.attacks = [];
for (const name of ["attacked", "alert", "confirm", "prompt", "print"])
  window[name] = (...words) => { window.attacks.push([name, ...words].join(" ")); };
"""
THEIRS = (
    *("img[src=x]", "iframe", "object", "math", "mglyph", "animate", "x-attack", "marquee"),
    *("[onerror]", "[onload]", "[onfocus]", "[ontoggle]", "[onbegin]", "[onmouseover]", "[srcdoc]"),
    *(
        "[href^=javascript]",
        "[src^=javascript]",
        "[action^=javascript]",
        "meta[http-equiv=refresh]",
    ),
)
"""Elements that only an attack would bring."""
GROUPS = [" ".join(ATTACKS[start : start + 8]) for start in range(0, len(ATTACKS), 8)]
WORST = "\"'><img src=x onerror=attacked(1)><script>attacked(2)</script>${attacked(3)}{{value}}"
FILE_NAME = "'\"><img src=x onerror=attacked(4)>${attacked(5)}.jsonl"


@pytest.fixture(scope="module")
def page(browser: Browser, app: App) -> Iterator[Page]:
    """A page that notes what runs."""
    yield from opened(browser, app, WATCH)


@pytest.fixture(autouse=True)
def harmless(page: Page) -> Iterator[None]:
    """Check after each test that nothing ran and nothing of theirs is there."""
    yield
    require_harmless(page)


def require_harmless(page: Page) -> None:
    page.evaluate("new Promise(done => setTimeout(done, 100))")  # what is to fire has fired
    assert page.evaluate("window.attacks") == []
    assert page.title().endswith("NLI Clinic")  # before it, as text, what has ended
    assert [theirs for theirs in THEIRS if page.locator(theirs).count()] == []


def alert_in(page: Page, place: str, words: str) -> None:
    """Wait for a sentence in place of a result."""
    expect(page.locator(f"{place} [role=alert]")).to_contain_text(words, timeout=SLOW)


def choose(field: Locator, text: str) -> None:
    """Type a value of one's own into a list."""
    field.click()
    field.fill(text)
    field.press("Enter")
    field.press("Tab")


@pytest.fixture(scope="module")
def attack_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose name, columns, texts and labels are attacks."""
    path = tmp_path_factory.mktemp("attacks") / FILE_NAME
    labels = ("entailment", "neutral", "contradiction", WORST)
    rows = [
        {"premise": attack, "hypothesis": f"Not {attack}", "label": labels[at % 4], WORST: attack}
        for at, attack in enumerate(ATTACKS)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_both_texts_of_a_pair(page: Page) -> None:
    visit(page)
    for at, group in enumerate(GROUPS):
        page.locator("#text-1 textarea").fill(f"Group {at}: {group}")
        page.locator("#text-2 textarea").fill(f"Number {at}. {group}")
        expect(page.locator("#rows")).to_contain_text(f"Number {at}.", timeout=SLOW)
        require_harmless(page)
    page.locator("#text-2 textarea").fill("${value} {{value}} ${attacked(1)}")
    expect(page.locator("#rows")).to_contain_text("${value} {{value}} ${attacked(1)}", timeout=SLOW)
    page.get_by_label("Everything").check()
    expect(page.locator("#rows .family").first).to_be_visible(timeout=SLOW)
    page.locator("#rows .result summary").first.click()
    expect(page.locator("#rows .full .meaning")).to_be_visible(timeout=SLOW)


def test_the_names_of_a_model_and_of_a_chain(page: Page) -> None:
    visit(page)
    expect(page.locator("#rows .result").first).to_be_visible(timeout=SLOW)
    choose(page.locator("#transforms input"), f"{WORST}+drop")
    alert_in(page, "#rows", "is none of the changes")
    choose(page.locator("#model input"), WORST)
    alert_in(page, "#answer", "no model called")
    visit(page, "mine?kind=models")
    for name in (WORST, f"owner/{WORST}", ATTACKS[37]):
        page.locator("#own-name input, #own-name textarea").first.fill(name)
        page.locator("#own-load").click()
        expect(page.locator("#own-message [role=alert]")).to_be_visible(timeout=SLOW)
        require_harmless(page)


@pytest.mark.parametrize("tab", ["", *MOVED, WORST])
def test_the_parameters_of_a_permalink(page: Page, tab: str) -> None:
    names = ("premise", "hypothesis", "model", "gold", "seed", "transforms", "models", "challenge")
    more = ("run", "lesson", "texts", "view", "aim", WORST)
    visit(page, f"./?{urlencode(dict.fromkeys((*names, *more), WORST) | {'tab': tab})}")
    if tab != "admin":  # which is not there
        expect(page.locator("#header [aria-current=page]").first).to_be_visible(timeout=SLOW)
        page.evaluate(SETTLED)


@pytest.mark.parametrize("place", ["set", "class", "fool"])
def test_the_code_of_a_link_for_guests(page: Page, place: str) -> None:
    visit(page, f"{place}?{quote(WORST)}")
    expect(page.locator("[role=alert]").first).to_be_visible(timeout=SLOW)


def test_the_rows_columns_labels_and_name_of_a_scored_file(page: Page, attack_file: Path) -> None:
    visit(page, "measure?texts=file")
    page.locator("#upload input[type=file]").first.set_input_files(str(attack_file))
    expect(page.locator("#upload-preview table")).to_be_visible(timeout=SLOW)
    require_harmless(page)
    expect(page.locator("#upload-labels")).to_contain_text("What does each mean?")
    page.locator("#upload-labels fieldset").first.get_by_label("neutral").check()
    page.locator("#score").click()
    expect(page.locator("#files")).to_contain_text("-scored", timeout=SLOW)
    expect(page.locator("#lines")).to_contain_text("<ScRiPt src=data")
    for number in (2, 3):
        page.locator("#lines button[name=page]").last.click()
        expect(page.get_by_text(f"page {number} of 3")).to_be_visible(timeout=SLOW)
        require_harmless(page)


def test_what_is_compared(page: Page, second: str, attack_file: Path) -> None:
    visit(page, f"measure?view=compare&models=minilm,{second}")
    page.locator("#texts").get_by_label("One pair").check()
    page.locator("#one-1 textarea").fill(GROUPS[0])
    page.locator("#one-2 textarea").fill(GROUPS[2])
    page.locator("#compare").click()
    expect(page.locator("#compare-tiles .beside section")).to_have_count(2, timeout=SLOW)
    require_harmless(page)
    page.locator("#texts").get_by_label("A file").check()
    page.locator("#upload input[type=file]").first.set_input_files(str(attack_file))
    expect(page.locator("#upload-preview table")).to_be_visible(timeout=SLOW)
    page.locator("#upload-labels fieldset").first.get_by_label("neutral").check()
    page.locator("#compare").click()
    page.locator("#compare-matrix button[data-cell]:enabled").first.click()
    expect(page.locator("#compare-cell tbody tr").first).to_contain_text("attacked", timeout=SLOW)


@pytest.mark.parametrize("field", ["sizes", "lrs", "seeds"])
def test_the_fields_of_a_plan(page: Page, field: str) -> None:
    visit(page, "train")
    if field == "sizes":
        show_examples(page, WORST)
    else:
        page.get_by_role("button", name="Settings: rates").click()
        page.locator(f"#train-{field} textarea, #train-{field} input").first.fill(WORST)
    told = page.locator("#train-estimate [role=alert]")
    expect(told).to_contain_text("attacked(1)", timeout=4 * SLOW)  # the first one is measured
    page.locator("#train-start").click()
    alert_in(page, "#train-estimate", "attacked(1)")


def test_the_models_and_challenges_of_a_plan(page: Page) -> None:
    visit(page, "train")
    for field in ("#train-challenges", "#train-models"):
        choose(page.locator(f"{field} input"), WORST)
        page.locator("#train-start").click()
        alert_in(page, "#train-estimate", "attacked(1)")


def test_a_challenge_of_ones_own_from_its_name_to_its_report(
    page: Page, second: str, tmp_path: Path
) -> None:
    visit(page, f"train?model={second}&challenge=negation")
    expect(page.locator("#train-models")).to_contain_text(second, timeout=SLOW)
    page.get_by_role("button", name="Settings: rates").click()
    challenge = write(tmp_path / FILE_NAME, [row(pair) for pair in PAIRS])
    page.get_by_label("Name of your challenge").fill(f"{WORST}\x0b")
    upload = page.locator("#train-challenge-file input[type=file]").first
    upload.set_input_files(str(challenge))
    page.get_by_label("Pairs to train on").fill("10")
    show_examples(page, "5")
    page.locator("#train-start").click()
    expect(page.locator("#train-runs li.mine").first).to_contain_text("attacked(1)", timeout=SLOW)
    expect(page.locator("#outcome h2")).to_be_visible(timeout=4 * SLOW)
    expect(page.locator("#curve svg")).to_have_count(1, timeout=SLOW)
    page.locator("#train-take").click()
    expect(page.locator("#train-files")).to_contain_text("report", timeout=SLOW)
