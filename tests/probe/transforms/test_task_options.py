"""Which options a task has, and that a transform names all that it reads."""

import random
from typing import Any

import pytest

from probe.errors import OptionError
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.transforms import REGISTRY, Options
from probe.transforms.options import DEFAULTS, OPTIONS
from probe.transforms.registry import (
    GROUPS,
    SEVERAL,
    Scored,
    Tools,
    foreign,
    group_of,
    options_of,
    read_task_options,
    ready,
)
from tests.support.each import each
from tests.support.models.scored_tokens import FixedReader, scored
from tests.support.offers import OPTIONS as OFFERED

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
