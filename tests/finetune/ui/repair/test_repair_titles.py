"""Methods, what breaks texts, and runs are called by plain words."""

from dataclasses import replace

import pytest

from finetune.ui.html.repair.words import BRIEF, brief
from finetune.ui.repair.titles import (
    ALL,
    FIRST,
    METHODS,
    change_choices,
    compared,
    group,
    method_choices,
    place,
    run_title,
)
from probe.tasks.task import Task, offered_tasks
from tests.support.runs.repairs import calibration_run, mitigation_run, transfer_run


def test_the_methods_stand_from_measuring_to_mending_to_one_kind_at_a_time() -> None:
    assert [name for _, name in method_choices()] == [
        *("temperature", "smoothing", "focal"),
        *("threshold", "entropic", "invalid"),
        "transfer",
    ]
    assert FIRST in METHODS


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_called_by_no_code_name(name: str) -> None:
    term = METHODS[name].term
    assert term.title[0].isupper() and term.title != name and term.summary.endswith(".")


@pytest.mark.parametrize(
    ("method", "methods"),
    [
        ("focal", ("focal", "temperature", "smoothing")),
        ("invalid", ("invalid", "threshold", "entropic")),
        ("transfer", ("transfer",)),
    ],
)
def test_the_chosen_method_comes_before_the_others_of_its_kind(
    method: str, methods: tuple[str, ...]
) -> None:
    assert compared(method, True) == methods
    assert compared(method, False) == (method,)


@pytest.mark.parametrize("task", offered_tasks(), ids=lambda task: task.name)
def test_all_changes_come_first_and_each_has_a_brief_name(task: Task) -> None:
    (title, first), *others = change_choices(task)
    assert (title, first) == (f"All {len(others)} changes", ALL)
    assert {name for _, name in others} <= set(BRIEF)
    assert all(title.endswith(f"· {name}") for title, name in others)


def test_a_change_without_a_brief_name_is_called_by_its_title() -> None:
    assert brief("negation") != "negation"
    assert brief("<unknown>") == "<unknown>"


def test_runs_of_a_model_are_shown_together_in_their_order() -> None:
    runs = [transfer_run(), mitigation_run(), calibration_run()]
    assert {group(run) for run in runs} == {"Repairs of MiniLM"}
    assert [run.kind for run in sorted(runs, key=place)] == [
        *("calibration", "mitigation", "transfer")
    ]


def test_a_run_is_named_by_method_model_and_speed() -> None:
    assert run_title(mitigation_run()) == "A class “invalid” on MiniLM, quick"
    run = transfer_run()
    full = replace(run, plan={**run.plan, "training": {**run.plan["training"], "mode": "full"}})
    assert run_title(full) == "One kind at a time on MiniLM, as published"
