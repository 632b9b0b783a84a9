"""The views of the page that are photographed: what address opens each, and which steps lead on."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from benchmarks.page.browser import SLOW
from probe.settings import ASSETS

Steps = Callable[[Page], None]


@dataclass(frozen=True)
class View:
    """A state of a view: the address that opens it, and the steps that lead on to it.

    The name begins with that of the view, or of its place; `long` says that models train or score
    for minutes.
    """

    name: str
    address: str
    steps: Steps = lambda page: None
    long: bool = False


def shows(*selectors: str) -> Steps:
    """Wait until all of these are to be seen."""

    def wait(page: Page) -> None:
        for selector in selectors:
            expect(page.locator(selector).first).to_be_visible(timeout=SLOW)

    return wait


def press(selector: str, *until: str) -> Steps:
    """Press something, and wait until others are to be seen."""

    def pressed(page: Page) -> None:
        page.locator(selector).first.click()
        shows(*until)(page)

    return pressed


def drop(selector: str, example: str, *until: str) -> Steps:
    """Drop an example file into a place for files."""

    def dropped(page: Page) -> None:
        path = ASSETS / "examples" / example
        page.locator(f"{selector} input[type=file]").first.set_input_files(str(path))
        shows(*until)(page)

    return dropped


def one_after_another(*steps: Steps) -> Steps:
    """Take several steps."""

    def taken(page: Page) -> None:
        for step in steps:
            step(page)

    return taken


COMPARED = "#compare-parts .picture"
FIRST_GUESS = "#learn-guess label"
PAIR = "premise=The doctor near the actor danced.&hypothesis=The actor danced."
VIEWS = (
    View("learn", "learn", shows(".lesson-card")),
    View(
        "learn-step",
        "learn?lesson=word_salad&step=3",
        shows("#learn-guess label", "#learn-steps nav"),
    ),
    View(
        "learn-loading",
        "learn?lesson=word_salad&step=4&model=da",
        one_after_another(press(FIRST_GUESS), press("#learn-run", "#learn-result .card")),
    ),
    View(
        "learn-failed",
        "learn?lesson=word_salad&step=2",
        press("#learn-run", "#learn-result [role=alert]"),
    ),
    View(
        "learn-finished",
        "learn?lesson=inoculate&step=2",
        one_after_another(press(FIRST_GUESS), press("#learn-run", "#learn-result .found")),
    ),
    View(
        "learn-questions",
        "learn?lesson=attribution&step=5",
        press(".questions summary", ".questions details p"),
    ),
    View("probe", "", shows("#rows .result")),
    View(
        "probe-open",
        "",
        one_after_another(
            shows("#rows .result"),
            press("#settings-button", "#method"),
            press("#rows .result > summary", "#rows .full .token"),
        ),
    ),
    View("probe-failed", "?model=gone", shows("#notices .notice")),
    View("probe-paraphrase", "?task=paraphrase", shows("#rows .result")),
    View("probe-sentiment", "?task=sentiment", shows("#rows .result")),
    View("probe-reading", "?task=reading", shows("#rows .result")),
    View("score", "measure?view=score&texts=file", shows("#upload")),
    View(
        "score-read",
        "measure?view=score&texts=file",
        drop("#upload", "pairs.csv", "#upload-preview table"),
    ),
    View(
        "score-failed",
        "measure?view=score&texts=file",
        drop("#upload", "reviews.tsv", "#upload-doubt [role=alert]"),
    ),
    View(
        "score-loading",
        "measure?view=score&texts=file",
        one_after_another(
            drop("#upload", "mnli_form.tsv", "#upload-preview table"),
            press("#score", "#batch-progress [role=status]"),
        ),
    ),
    View(
        "score-finished",
        "measure?view=score&texts=file",
        one_after_another(
            drop("#upload", "mnli_form.tsv", "#upload-preview table"),
            press("#score", "#files a"),
        ),
    ),
    View(
        "score-reading",
        "measure?view=score&texts=file&task=reading",
        one_after_another(
            drop("#upload", "passages.json", "#upload-preview table"),
            press("#score", "#files a"),
        ),
    ),
    View("compare", "measure?view=compare", shows("#compare-begin")),
    View("checkup", "measure?view=checkup", shows("#checkup-start")),
    View(
        "compare-finished",
        "measure?view=compare&models=minilm,esim,da&texts=bundled",
        shows(COMPARED),
        long=True,
    ),
    View(
        "compare-loading",
        "measure?view=compare&models=esim,da",
        press("#compare", "#compare-progress .prose > *"),
    ),
    View(
        "compare-one",
        f"measure?view=compare&models=minilm,da&texts=one&{PAIR}",
        shows("#compare-tiles .beside"),
    ),
    View("compare-paraphrase", "measure?view=compare&task=paraphrase"),
    View("compare-sentiment", "measure?view=compare&task=sentiment"),
    View("compare-failed", "measure?view=compare&models=minilm,gone&texts=bundled"),
    View(
        "checkup-hans",
        "measure?view=checkup&models=minilm,da",
        one_after_another(shows("#hans"), press("#hans-run", "#hans-picture .picture")),
        long=True,
    ),
    View("data", "measure?view=data&models=minilm&texts=bundled", shows("#data-found .say")),
    View("people", "measure?view=people", shows("#annotate-form", "#annotate-one .how")),
    View(
        "people-set",
        "measure?view=people&task=sentiment",
        one_after_another(
            lambda page: page.locator("#annotate-each input").fill("1"),
            press("#annotate-make", "#annotate-one .share"),
        ),
    ),
    View("set-failed", "set?gone", shows("#annotate-told .problem")),
    View("fool-failed", "fool?gone", shows("#fool-told .problem")),
    View("inoculate", "train?aim=inoculate", shows("#curve .panel")),
    View(
        "inoculate-too-little",
        "train?aim=inoculate&model=esim&challenge=spelling",
        shows("#outcome .btn"),
    ),
    View(
        "inoculate-running",
        "train?aim=inoculate",
        one_after_another(shows("#curve .panel"), press("#train-start", "#train-runs .going")),
        long=True,
    ),
    View(
        "inoculate-failed",
        "train?aim=inoculate&run=0123456789ab",
        shows("#train-problem [role=alert]"),
    ),
    View("repair", "train?aim=repair", shows("#train-results .picture")),
    View(
        "repair-running",
        "train?aim=repair",
        press("#train-start", "#train-runs .going"),
        long=True,
    ),
    View(
        "repair-failed",
        "train?aim=repair&run=0123456789ab",
        shows("#train-problem [role=alert]"),
    ),
    View("repair-sentiment", "train?aim=repair&task=sentiment"),
    View("generalise", "train?aim=generalise", shows("#train-results .heat")),
    View(
        "generalise-curves",
        "train?aim=generalise",
        press("#train-results .heat button", "#train-results .panel.opened"),
    ),
    View(
        "generalise-running",
        "train?aim=generalise",
        one_after_another(
            shows("#train-results .heat"),
            press("#train-start", "#train-runs .going"),
        ),
        long=True,
    ),
    View(
        "generalise-failed",
        "train?aim=generalise&run=0123456789ab",
        shows("#train-problem [role=alert]"),
    ),
    View("generalise-sentiment", "train?aim=generalise&task=sentiment"),
    View("look-up", "learn?look=agreement", shows("#term-agreement")),
    View("mine", "mine", shows("#mine section")),
)
