"""The views of the page that are photographed: what address opens each, and which steps lead on."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from benchmarks.page.browser import SLOW
from probe.settings import ASSETS

Steps = Callable[[Page], None]


@dataclass(frozen=True)
class View:
    """A state of a tab: the address that opens it, and the steps that lead on to it.

    The name begins with the name of its tab; `long` says that models train or score for minutes.
    """

    name: str
    query: dict[str, str]
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
PAIRS = {"premise": "The doctor near the actor danced.", "hypothesis": "The actor danced."}
VIEWS = (
    View("learn", {"tab": "learn"}, shows(".lesson-card")),
    View(
        "learn-step",
        {"tab": "learn", "lesson": "word_salad", "step": "3"},
        shows("#learn-guess label", "#learn-steps nav"),
    ),
    View(
        "learn-loading",
        {"tab": "learn", "lesson": "word_salad", "step": "4", "model": "da"},
        one_after_another(press(FIRST_GUESS), press("#learn-run", "#learn-result .card")),
    ),
    View(
        "learn-failed",
        {"tab": "learn", "lesson": "word_salad", "step": "2"},
        press("#learn-run", "#learn-result [role=alert]"),
    ),
    View(
        "learn-finished",
        {"tab": "learn", "lesson": "inoculate", "step": "2"},
        one_after_another(press(FIRST_GUESS), press("#learn-run", "#learn-result .picture")),
    ),
    View(
        "learn-questions",
        {"tab": "learn", "lesson": "attribution", "step": "5"},
        press(".questions summary", ".questions details p"),
    ),
    View("probe", {"tab": "probe"}, shows("#rows .result")),
    View(
        "probe-open",
        {"tab": "probe"},
        one_after_another(
            shows("#rows .result"),
            press("#settings-button", "#method"),
            press("#rows .result > summary", "#rows .full .token"),
        ),
    ),
    View("probe-failed", {"tab": "probe", "model": "gone"}, shows("#notices .notice")),
    View("probe-paraphrase", {"tab": "probe", "task": "paraphrase"}, shows("#rows .result")),
    View("probe-sentiment", {"tab": "probe", "task": "sentiment"}, shows("#rows .result")),
    View("probe-reading", {"tab": "probe", "task": "reading"}, shows("#rows .result")),
    View("batch", {"tab": "batch"}, shows("#upload")),
    View(
        "batch-read",
        {"tab": "batch"},
        drop("#upload", "pairs.csv", "#upload-preview table"),
    ),
    View(
        "batch-failed",
        {"tab": "batch"},
        drop("#upload", "reviews.tsv", "#upload-doubt [role=alert]"),
    ),
    View(
        "batch-loading",
        {"tab": "batch"},
        one_after_another(
            drop("#upload", "mnli_form.tsv", "#upload-preview table"),
            press("#score", "#batch-progress [role=status]"),
        ),
    ),
    View(
        "batch-finished",
        {"tab": "batch"},
        one_after_another(
            drop("#upload", "mnli_form.tsv", "#upload-preview table"),
            press("#score", "#files a"),
        ),
    ),
    View(
        "batch-background",
        {"tab": "batch"},
        one_after_another(
            drop("#upload", "mnli_form.tsv", "#upload-preview table"),
            press("#score-later", '#batch-background [data-cell^="take"]'),
            press('#batch-background [data-cell^="take"]', "#files a"),
        ),
    ),
    View(
        "batch-reading",
        {"tab": "batch", "task": "reading"},
        one_after_another(
            drop("#upload", "passages.json", "#upload-preview table"),
            press("#score", "#files a"),
        ),
    ),
    View("compare", {"tab": "compare"}, shows("#compare-begin")),
    View(
        "compare-finished",
        {"tab": "compare", "models": "minilm,esim,da", "on": "bundled"},
        shows(COMPARED),
        long=True,
    ),
    View(
        "compare-loading",
        {"tab": "compare", "models": "esim,da"},
        press("#compare", "#compare-progress .prose > *"),
    ),
    View(
        "compare-one",
        {"tab": "compare", "models": "minilm,da", "on": "one", **PAIRS},
        shows("#compare-tiles .beside"),
    ),
    View("compare-paraphrase", {"tab": "compare", "task": "paraphrase"}),
    View("compare-sentiment", {"tab": "compare", "task": "sentiment"}),
    View("compare-failed", {"tab": "compare", "models": "minilm,gone", "on": "bundled"}),
    View(
        "compare-hans",
        {"tab": "compare", "models": "minilm,da"},
        one_after_another(shows("#hans"), press("#hans-run", "#hans-picture .picture")),
        long=True,
    ),
    View("annotate", {"tab": "annotate"}, shows("#annotate-form", "#annotate-empty .how")),
    View(
        "annotate-set",
        {"tab": "annotate", "task": "sentiment"},
        one_after_another(
            lambda page: page.locator("#annotate-each input").fill("1"),
            press("#annotate-make", "#annotate-link .share"),
        ),
    ),
    View("annotate-failed", {"tab": "annotate", "set": "gone"}, shows("#annotate-head .problem")),
    View("inoculate", {"tab": "inoculate"}, shows("#curve .panel")),
    View(
        "inoculate-too-little",
        {"tab": "inoculate", "model": "esim", "challenge": "spelling"},
        shows("#outcome .btn"),
    ),
    View(
        "inoculate-running",
        {"tab": "inoculate"},
        one_after_another(shows("#curve .panel"), press("#inoculate", "#run-state")),
        long=True,
    ),
    View(
        "inoculate-failed",
        {"tab": "inoculate", "run": "0123456789ab"},
        shows("#inoculate-problem [role=alert]"),
    ),
    View("repair", {"tab": "repair"}, shows("#repair-results .picture")),
    View(
        "repair-running",
        {"tab": "repair"},
        press("#repair-start", "#repair-under-way"),
        long=True,
    ),
    View(
        "repair-failed",
        {"tab": "repair", "run": "0123456789ab"},
        shows("#repair-problem [role=alert]"),
    ),
    View("repair-sentiment", {"tab": "repair", "task": "sentiment"}),
    View("repair-reading", {"tab": "repair", "task": "reading"}, shows(".tabitem .empty")),
    View("generalise", {"tab": "generalise"}, shows("#generalise-results .heat")),
    View(
        "generalise-curves",
        {"tab": "generalise"},
        press("#generalise-results .heat button", "#generalise-results .panel.opened"),
    ),
    View(
        "generalise-running",
        {"tab": "generalise"},
        one_after_another(
            shows("#generalise-results .heat"),
            press("#generalise-start", "#generalise-under-way"),
        ),
        long=True,
    ),
    View(
        "generalise-failed",
        {"tab": "generalise", "run": "0123456789ab"},
        shows("#generalise-problem [role=alert]"),
    ),
    View("generalise-sentiment", {"tab": "generalise", "task": "sentiment"}),
    View("catalogue", {"tab": "catalogue"}, shows("#term-agreement")),
    View("data", {"tab": "data"}, shows("#my-data .card")),
)
