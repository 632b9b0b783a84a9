"""Transforms in words, their presets, their options and those that a task has."""

import random
from typing import Any

import pytest

from probe.errors import OptionError, Unavailable, UnknownTransform
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.transforms import REGISTRY, Options
from probe.transforms.options import DEFAULTS, OPTIONS, read_options
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
    group_of,
    options_of,
    presets,
    read_task_options,
    ready,
    require_ready,
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


def test_titles_are_short_and_tell_transforms_apart() -> None:
    entries = [*REGISTRY.values(), *FAMILIES.values()]
    assert len({entry.title for entry in entries}) == len(entries)
    assert all(len(entry.title) <= MAX_TITLE and entry.title[0].isupper() for entry in entries)


@each("task", TASKS)
def test_a_transform_is_told_in_one_sentence_of_the_tasks_words(task: Task) -> None:
    for name, entry in REGISTRY.items():
        if entry.suits(task):
            summary, applies = summary_of(entry, task), applies_of(entry, task)
            assert summary[0].isupper() and summary.endswith("."), name
            assert len(summary) <= MAX_SENTENCE and "{" not in summary + applies, name
            assert not [word for word in TASKS[task] if word in (summary + applies).lower()], name


def test_a_chain_joins_the_titles_of_its_links() -> None:
    assert chain_title("drop+sort") == "Drop the unimportant half, then sort the words"
    assert choice("sort") == "Sort the words · sort"
    with pytest.raises(UnknownTransform, match="there is no transform 'sorted'"):
        chain_title("sorted")


def test_a_sentence_calls_the_texts_what_the_task_calls_them() -> None:
    cases = {("sort", NLI): "the hypothesis", ("sort", SENTIMENT): "the text"}
    cases |= {("copysort", PARAPHRASE_IDENTIFICATION): "the second text by the words of the first"}
    cases |= {("pbsmt", SENTIMENT): "makes of its first half"}
    for (name, task), words in cases.items():
        assert words in summary_of(REGISTRY[name], task)
        naik = REGISTRY["negation"]  # our extension beyond inference
        assert source_of(naik, task).startswith("Naik" if task is NLI else "our extension of Naik")
        assert source_of(REGISTRY[name], task).startswith("Gupta et al. 2021")
    for name in ("sort", "drop"):
        assert source_of(REGISTRY[name], READING).startswith("our extension of Gupta")


COPIES = {"copysort", "copyone"}
GUPTA = {"sort", "reverse", "shuffle", "drop", "repeat", "replace", "pbsmt", *COPIES}


def test_word_salad_is_what_gupta_et_al_made() -> None:
    assert set(presets(NLI)["Word salad"]) == GUPTA
    assert set(presets(SENTIMENT)["Word salad"]) == GUPTA - COPIES  # no other text to copy
    named = ["A first look", "Word salad", "Heuristics", "Stress tests", "Everything", "None"]
    assert list(presets(NLI)) == named
    assert "Heuristics" not in presets(PARAPHRASE_IDENTIFICATION)  # it would be empty
    for name in ("hnounant", "neghyp", "antonym", "numerical", "pbsmt_e"):
        with pytest.raises(Unavailable, match=f"{name} is not for the task sentiment"):
            require_ready(name, SENTIMENT)
    for task in TASKS:
        offered = presets(task)
        assert {"word_overlap", "negation", "spelling"} < set(offered["Everything"])
        assert (offered["Everything"], offered["None"]) == (tuple(ready(task)), ())
        assert first_choice(task) == ("sort", "shuffle", "drop", "negation")
        assert set(offered["A first look"]) == set(first_choice(task))


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


class Drawing(random.Random):
    """Random numbers that note whether any was drawn."""

    called = False

    def random(self) -> float:
        """Draw one."""
        self.called = True
        return super().random()

    def getrandbits(self, k: int) -> int:
        """Draw bits, by which all others are drawn."""
        self.called = True
        return super().getrandbits(k)


@each("task", offered_tasks())
def test_a_transform_names_the_options_that_it_reads(task: Task) -> None:
    own, drawn = set(options_of(task)), Drawing()
    assert list(options_of(task)) == [name for name in OPTIONS if task.name in OFFERED[name]]
    for name in ready(task):
        watched, entry = Watched(), REGISTRY[name]
        for example in filter(None, (task.showcase, *task.sanity_examples)):
            tools = Tools(drawn, watched, AnyText(words=("man",)), (example.gold or "",))
            entry.make(example, task, tools)
        # the importance is computed by two before the transform sees any, and by the other `apply`
        # decides whether it sees any text
        before = {"sign", "ranks"} if entry.level == "sub-word" else set()
        before |= {"other_languages"} if entry.language != "any" else set()
        before |= {"draws"} if entry.chance else set()  # as often it is applied
        assert entry.chance or not drawn.called, name
        drawn.called = False
        assert vars(watched).get("read", set()) | before == set(entry.options) & own, name


@each("name", OPTIONS)
def test_every_option_has_its_default_and_the_group_of_its_family(name: str) -> None:
    option, default = OPTIONS[name], getattr(DEFAULTS, name)
    if option.values:
        assert ("".join(default) if isinstance(default, tuple) else default) in option.values
    else:
        assert option.low <= default <= option.high
    assert group_of(name) in GROUPS
    assert (group_of("other_languages"), group_of("antonym")) == (SEVERAL, "stress")


@each(
    "values",
    [
        {"keep": "0.25", "by_id": "true", "pin": ".", "replacements": "2", "sign": "abs"},
        {"keep": 0.25, "by_id": True, "pin": ["."], "replacements": 2.0, "sign": "abs"},
    ],
)
def test_text_and_values_are_read_alike(values: dict[str, object]) -> None:
    usual = {name: getattr(DEFAULTS, name) for name in OPTIONS}
    for task in offered_tasks():
        assert read_task_options(task, usual) == DEFAULTS == read_options({})
        assert read_task_options(task, {"keep": 0.25}) == Options(keep=0.25)
    expected = Options(keep=0.25, by_id=True, pin=(".",), replacements=2, sign="abs")
    assert read_options(values) == expected


@each(
    ("values", "sentence"),
    [
        ({"kep": 1}, "there is no option 'kep'; there are: keep, sign, "),
        ({"keep": "much"}, "keep 'much' is not a number"),
        ({"keep": 1.5}, "keep 1.5 is not from 0 to 1"),
        ({"keep": "nan"}, "keep 'nan' is not from 0 to 1"),
        ({"replacements": 1.5}, "replacements 1.5 is not a whole number"),
        ({"senses": "second"}, "senses 'second' is not one of all, first"),
        ({"inflect": "maybe"}, "inflect 'maybe' is not one of true, false"),
        ({"pin": ";"}, "pin ';' is not one of .!?, ."),
    ],
)
def test_an_impossible_value_is_one_sentence(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(OptionError) as problem:
        read_options(values)
    assert str(problem.value).startswith(sentence)
    other = "^the option lm_weight is not for the task reading "
    with pytest.raises(OptionError, match=other):
        read_task_options(READING, {"keep": 0.3, "lm_weight": 2})


def test_the_variant_names_what_differs() -> None:
    assert Options().variant == "safe"
    chosen = Options(sign="gupta", pin=(".",), by_id=True, senses="first", keep=0.25, inflect=False)
    assert chosen.variant == "keep=0.25+gupta+by_id+pin=paper_code+senses=first+inflect=no"
