"""What a link to the Compare tab opens, and what it says of things that are not here."""

import pytest

from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.task import Task
from probe.ui.links import link_to_compare
from probe.ui.tabs.compare_link import View, read_link

KNOWN = ["da", "minilm", "esim"]


def opened(task: Task = NLI, known: list[str] = KNOWN, **query: str) -> View:
    return read_link(task, known, {"tab": "compare", "task": task.name, **query})


def test_without_a_link_the_bundled_model_and_the_next_one_are_chosen() -> None:
    assert read_link(NLI, KNOWN, {}) == View(("minilm", "da"), "bundled", {})


def test_a_link_is_read_as_it_was_made() -> None:
    texts = {"text1": "Who?", "text2": "Who is it?"}
    link = link_to_compare(["a", "b"], PARAPHRASE_IDENTIFICATION, "one", texts)
    query = dict(part.split("=") for part in link.removeprefix("?").split("&"))
    query |= {"models": "a,b", **texts}  # as the server reads them
    view = read_link(PARAPHRASE_IDENTIFICATION, ["a", "b", "c"], query)
    assert view == View(("a", "b"), "one", texts, (), asked=True)
    windows = link_to_compare(KNOWN[:2], long="windows")
    assert opened(**dict([windows.rpartition("&")[2].split("=")])).long == "windows"


def test_a_link_without_what_to_compare_on_chooses_and_does_not_compare() -> None:
    assert opened(models="esim,da") == View(("esim", "da"), "bundled", {})


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"models": "minilm,gone", "on": "bundled"}, "no model called that here for inference"),
        ({"models": "da,esim", "on": "file"}, "links hold no files"),
        ({"models": "da,esim", "on": "sky"}, "which is not known here"),
        ({"long": "pages"}, "names the long 'pages', which is not here"),
    ],
)
def test_what_a_link_names_and_is_not_here_is_said(query: dict[str, str], words: str) -> None:
    assert any(words in notice for notice in opened(**query).notices)


@pytest.mark.parametrize(
    "query",
    [
        {"models": "minilm,gone", "on": "bundled"},
        {"models": "minilm", "on": "bundled"},
        {"models": "da,esim", "on": "file"},
        {"models": "da,esim", "on": "one", "premise": "A dog barks."},
    ],
)
def test_a_link_that_cannot_be_followed_compares_nothing(query: dict[str, str]) -> None:
    assert not opened(**query).asked


def test_a_link_of_another_task_says_nothing_once_the_task_is_changed() -> None:
    query = {"tab": "compare", "task": "paraphrase", "models": "a,b"}
    assert read_link(NLI, KNOWN, query).models == ("minilm", "da")
