"""The transforms in words: a title, and a sentence in each task's own words."""

import pytest

from probe.errors import UnknownTransform
from probe.tasks.nli import NLI, NLI_TWO_WAY
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from probe.transforms import REGISTRY
from probe.transforms.registry import (
    FAMILIES,
    applies_of,
    chain_title,
    choice,
    source_of,
    summary_of,
)
from tests.support.each import each

MAX_TITLE, MAX_SENTENCE = 30, 160  # characters
TASKS = {
    NLI: set[str](),
    PARAPHRASE_IDENTIFICATION: {"premise", "hypothesis"},
    SENTIMENT: {"premise", "hypothesis", "first text", "second text"},
}
"""The tasks, and words that none of their sentences may say."""
SUITED = [(name, task) for name in REGISTRY for task in TASKS if REGISTRY[name].suits(task)]


def test_titles_are_short_and_tell_transforms_apart() -> None:
    titles = [entry.title for entry in REGISTRY.values()]
    assert len(set(titles)) == len(titles)
    assert all(len(title) <= MAX_TITLE and title[0].isupper() for title in titles)


@each("family", FAMILIES)
def test_a_family_has_a_title_and_a_sentence(family: str) -> None:
    term = FAMILIES[family]
    assert term.title[0].isupper() and len(term.title) <= MAX_TITLE
    assert term.summary.endswith(".") and len(term.summary) <= MAX_SENTENCE


@each(("name", "task"), SUITED)
def test_a_transform_is_told_in_one_sentence_of_the_tasks_words(name: str, task: Task) -> None:
    summary, applies = (words(REGISTRY[name], task) for words in (summary_of, applies_of))
    assert summary[0].isupper() and summary.endswith(".") and len(summary) <= MAX_SENTENCE
    assert "{" not in summary + applies
    assert not [word for word in TASKS[task] if word in (summary + applies).lower()]


@each(
    ("name", "task", "summary"),
    [
        ("sort", NLI, "Puts the words of the hypothesis in alphabetical order."),
        ("sort", SENTIMENT, "Puts the words of the text in alphabetical order."),
        (
            "copysort",
            PARAPHRASE_IDENTIFICATION,
            "Replaces the second text by the words of the first text in alphabetical order.",
        ),
    ],
)
def test_a_sentence_calls_the_texts_what_the_task_calls_them(
    name: str, task: Task, summary: str
) -> None:
    assert summary_of(REGISTRY[name], task) == summary


def test_a_translation_of_one_text_starts_from_its_first_half() -> None:
    assert summary_of(REGISTRY["pbsmt"], SENTIMENT).endswith("makes of its first half.")


def test_a_chain_joins_the_titles_of_its_links() -> None:
    assert chain_title("drop+sort") == "Drop the unimportant half, then sort the words"
    assert chain_title("sort") == "Sort the words"


def test_a_choice_shows_the_title_and_the_code_name() -> None:
    assert choice("sort") == "Sort the words · sort"


def test_a_name_that_is_no_transform_has_no_title() -> None:
    with pytest.raises(UnknownTransform, match="there is no transform 'sorted'"):
        chain_title("sorted")


@each("name", ["spelling", "spelling_swap", "word_overlap", "negation", "control_tautology"])
def test_stress_tests_are_our_extension_beyond_inference(name: str) -> None:
    entry = REGISTRY[name]
    assert source_of(entry, NLI) == source_of(entry, NLI_TWO_WAY) == "Naik et al. 2018, section 3"
    for task in (PARAPHRASE_IDENTIFICATION, SENTIMENT):
        assert source_of(entry, task) == "our extension of Naik et al. 2018, section 3"
        assert entry.suits(task)


def test_word_salad_was_published_for_all_tasks() -> None:
    assert source_of(REGISTRY["sort"], SENTIMENT) == "Gupta et al. 2021, section 3.1"
