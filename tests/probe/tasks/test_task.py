"""What a task answers: fields, labels under other labels, examples as JSON, pickles."""

import json
import pickle
from dataclasses import replace

import pytest

from probe.errors import LabelError
from probe.tasks.label_rules import KEEP
from probe.tasks.nli import FLIP, LABELS, NLI, NLI_TWO_WAY, NOT_ENTAILED, Pair
from probe.tasks.task import (
    SOURCE,
    TARGET,
    TASKS,
    Task,
    common_task,
    example_json,
    offered_tasks,
    read_example,
    read_labels,
    task_named,
    task_of_example,
)
from tests.support.cases import each

SPAN = Task("span", "Spans", Pair, ("premise", "hypothesis"), "hypothesis")


def test_roles_stand_for_fields() -> None:
    assert [NLI.field_of(role) for role in (TARGET, SOURCE, "premise", "question")] == [
        "hypothesis",
        "premise",
        "premise",
        None,
    ]
    assert SPAN.field_of(SOURCE) is None


@each(
    ("task", "label", "own"),
    [
        (NLI, "neutral", "neutral"),
        (NLI, "non-entailment", None),  # neutral or contradiction
        (NLI_TWO_WAY, "neutral", "non-entailment"),
        (NLI_TWO_WAY, "contradiction", "non-entailment"),
        (NLI_TWO_WAY, "entailment", "entailment"),
        (SPAN, "in Oulu", None),
    ],
)
def test_a_label_counts_as_one_of_a_tasks_own(task: Task, label: str, own: str | None) -> None:
    assert task.nearest(label) == own


def test_several_models_are_held_to_the_task_that_merges_labels() -> None:
    assert common_task([NLI, NLI]) is NLI
    assert common_task([NLI, NLI_TWO_WAY, NLI]) is NLI_TWO_WAY
    assert common_task([NLI, SPAN]) is None
    assert common_task([SPAN, SPAN]) is SPAN


def test_a_rule_speaks_of_the_labels_of_its_table() -> None:
    other = replace(NLI, labels=("positive", "negative"), golds=())
    assert all(rule.speaks_of(NLI_TWO_WAY) for rule in (KEEP, FLIP, NOT_ENTAILED))
    assert [rule.speaks_of(other) for rule in (KEEP, FLIP, NOT_ENTAILED)] == [True, False, False]


def test_an_example_comes_back_from_json() -> None:
    pair = Pair("A.", "B.", "neutral", "7")
    row = json.loads(json.dumps(example_json(pair)))
    assert row == {"premise": "A.", "hypothesis": "B.", "gold": "neutral", "id": "7"}
    assert read_example(NLI, row | {"genre": "letters"}) == pair


def test_an_example_names_its_task() -> None:
    assert task_of_example(Pair("A.", "B.")) is NLI
    with pytest.raises(LabelError, match=r"^no task has examples of the kind Group$"):
        task_of_example(NLI.groups["entailed"])  # type: ignore[arg-type]  # no example


def test_a_registered_task_is_pickled_as_its_name() -> None:
    assert list(TASKS)[:2] == ["nli", "nli_two_way"]
    assert pickle.loads(pickle.dumps(NLI_TWO_WAY)) is NLI_TWO_WAY
    with pytest.raises(LabelError, match=r"^there is no task 'nly'; there are: nli, nli_two_way"):
        task_named("nly")


def test_labels_with_commas_are_read() -> None:
    assert read_labels(" e, n ,c") == LABELS
    assert read_labels(" ") is None


def test_the_gold_of_a_span_task_is_its_text() -> None:
    assert [SPAN.read_gold(text) for text in (" in Oulu ", "none", "", None)] == [
        "in Oulu",
        "none",
        None,
        None,
    ]


def test_every_offered_task_says_what_it_asks_and_what_its_fields_are_called() -> None:
    assert [task.choice for task in offered_tasks()] == [
        "Inference",
        "Paraphrase",
        "Sentiment",
        "Reading",
    ]
    for task in offered_tasks():
        assert task.question.endswith("?")
        assert set(task.titles) == set(task.fields)


def test_a_field_without_a_title_is_called_by_its_name() -> None:
    assert task_named("sentiment").title_of("text") == "Text"
    assert replace(task_named("sentiment"), titles={}).title_of("text") == "Text"
