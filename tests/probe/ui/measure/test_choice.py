"""What a link to Measure chooses, and what is said of things that are not here."""

from urllib.parse import parse_qsl

import pytest

from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.ui.links import link_to_compare
from probe.ui.measure.choice import Link, read_link
from tests.support.pages.visitors import ME

KNOWN = ["da", "minilm", "esim"]


def opened(**query: str) -> Link:
    return read_link(ME, NLI, KNOWN, {"view": "compare", **query})


def test_without_a_link_one_model_is_scored_and_the_next_one_compared() -> None:
    assert read_link(ME, NLI, KNOWN, {}) == Link(("minilm",), "bundled", {})
    assert opened() == Link(("minilm", "da"), "bundled", {})
    assert opened(models="esim,da") == Link(("esim", "da"), "bundled", {})


def test_a_link_is_read_as_it_was_made() -> None:
    texts, task = {"text1": "Who?", "text2": "Who is it?"}, PARAPHRASE_IDENTIFICATION
    link = link_to_compare(["a", "b"], task, "one", texts, long="windows")
    read = read_link(ME, task, ["a", "b", "c"], dict(parse_qsl(link.partition("?")[2])))
    assert read == Link(("a", "b"), "one", texts, long="windows", ready=True)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"models": "minilm,gone", "texts": "bundled"}, "no model called that here for inference"),
        ({"models": "da,esim", "on": "file"}, "links hold no files"),
        ({"models": "da,esim", "texts": "sky"}, "which is not known here"),
        ({"long": "pages"}, "names the long 'pages', which is not here"),
        ({"seed": "-1"}, "names the seed '-1', which is not here"),
        ({"models": "da,esim", "on": "one", "premise": "A dog barks."}, ""),
    ],
)
def test_a_link_that_cannot_be_followed_says_so_and_asks_nothing(
    query: dict[str, str], words: str
) -> None:
    read = opened(**query)
    assert words in " ".join(read.notices) and not read.ready
