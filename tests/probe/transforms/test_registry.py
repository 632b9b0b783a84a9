"""Transforms in words, their presets, and the options that a task has."""

import random
from typing import Any

import pytest

from probe.errors import OptionError, UnknownTransform
from probe.tasks.nli import NLI, NLI_TWO_WAY
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.transforms import REGISTRY, Options
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.transforms.registry import (
    FAMILIES,
    GROUPS,
    SEVERAL,
    Scored,
    Tools,
    applies_of,
    chain_title,
    choice,
    first_choice,
    foreign,
    group_of,
    options_of,
    presets,
    read_task_options,
    ready,
    source_of,
    summary_of,
)
from tests.support.cases import each
from tests.support.models.scored_tokens import FixedReader, scored
from tests.support.offers import OPTIONS as OFFERED

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


GUPTA = {"sort", "reverse", "shuffle", "copysort"}
GUPTA |= {"drop", "repeat", "replace", "copyone", "pbsmt"}
LABEL_TASKS = [NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT]


def test_word_salad_is_what_gupta_et_al_made() -> None:
    assert set(presets(NLI)["Word salad"]) == GUPTA


def test_one_text_has_no_other_to_copy() -> None:
    assert set(presets(SENTIMENT)["Word salad"]) == GUPTA - {"copysort", "copyone"}


def test_a_preset_that_would_be_empty_is_not_offered() -> None:
    named = ["A first look", "Word salad", "Heuristics", "Stress tests", "Everything", "None"]
    assert list(presets(NLI)) == named
    assert "Heuristics" not in presets(PARAPHRASE_IDENTIFICATION)


@each("task", LABEL_TASKS)
def test_everything_is_all_that_is_ready_and_none_is_nothing(task: Task) -> None:
    assert presets(task)["Everything"] == tuple(ready(task))
    assert presets(task)["None"] == ()


@each("task", LABEL_TASKS)
def test_order_importance_and_negation_are_chosen_at_first(task: Task) -> None:
    assert first_choice(task) == ("sort", "shuffle", "drop", "negation")
    assert set(presets(task)["A first look"]) == set(first_choice(task))


WORDS = scored(["a", "man", "run", "##s"], [0.1, 0.4, 0.3, 0.2])


class AnyText(FixedReader):
    """A reader of the same sub-words in any text."""

    def tokens(self, field: str) -> tuple[Scored, ...]:
        """Return the sub-words."""
        return WORDS


class Watched(Options):
    """Options that note which of them are read; to be kept in a cache reads none."""

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __getattribute__(self, name: str) -> Any:  # Any: as of the attribute
        """Return an attribute."""
        if name in OPTIONS:
            object.__getattribute__(self, "__dict__").setdefault("read", set()).add(name)
        return super().__getattribute__(name)


def read_by(name: str, task: Task) -> set[str]:
    """Return the options that a transform reads when it is applied to a task's examples."""
    watched = Watched()
    for example in filter(None, (task.showcase, *task.sanity_examples)):
        tools = Tools(random.Random(0), watched, AnyText(words=("man",)), (example.gold or "",))
        REGISTRY[name].make(example, task, tools)
    read: set[str] = vars(watched).get("read", set())
    # the importance is computed by two before the transform sees any, and by the other `apply`
    # decides whether it sees any text
    before = dict.fromkeys(("sign", "ranks"), REGISTRY[name].level == "sub-word")
    before["other_languages"] = REGISTRY[name].language != "any"
    return read | {option for option, is_read in before.items() if is_read}


@each("task", offered_tasks())
def test_a_transform_names_the_options_that_it_reads(task: Task) -> None:
    for name in ready(task):
        assert read_by(name, task) == set(REGISTRY[name].options) & set(options_of(task)), name


def test_every_option_is_in_the_group_of_its_family_unless_several_read_it() -> None:
    for name in OPTIONS:
        families = {entry.family for entry in REGISTRY.values() if name in entry.options}
        assert group_of(name) == (families.pop() if len(families) == 1 else SEVERAL), name
        assert group_of(name) in GROUPS


@each("task", offered_tasks())
def test_a_task_has_the_options_of_the_table(task: Task) -> None:
    assert options_of(task) == [name for name in OPTIONS if task.name in OFFERED[name]]


@each(
    ("task", "values", "name"),
    [
        (SENTIMENT, {"antonym": "naik_code"}, "antonym"),
        (READING, {"keep": 0.3, "lm_weight": 2}, "lm_weight"),
        (NLI, {"keep_first_half": "true"}, "keep_first_half"),
    ],
)
def test_an_option_of_another_task_is_refused(
    task: Task, values: dict[str, object], name: str
) -> None:
    with pytest.raises(OptionError) as problem:
        read_task_options(task, values)
    assert str(problem.value) == f"the option {name} is not for the task {task.name} ({task.title})"


@each("task", offered_tasks())
def test_every_task_takes_the_defaults_and_what_it_has(task: Task) -> None:
    values = {name: getattr(DEFAULTS, name) for name in OPTIONS}
    assert read_task_options(task, values) == DEFAULTS
    assert read_task_options(task, {"keep": 0.25}) == Options(keep=0.25)
    assert foreign(Options(keep=0.25), task) == []
