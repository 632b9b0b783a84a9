"""The fields of the Repair tab follow the task and the method."""

import pytest

from finetune.ui.repair.fields import follow, offered, summary
from finetune.ui.repair.titles import ALL, METHODS, tidy
from probe.tasks.nli import NLI
from probe.tasks.sentiment import SENTIMENT
from tests.support.offers import VIEWS


def test_a_task_offers_its_own_changes_and_no_more_examples_than_it_has() -> None:
    _, transforms, sizes, *others = offered(SENTIMENT)
    names = {name for name, tasks in VIEWS["repair"].items() if "sentiment" in tasks}
    assert {name for _, name in transforms.choices} == {ALL, *names}
    assert [name for _, name in sizes.choices] == ["100", "168"] and sizes.value == ["168"]
    assert len(others) == 6


def test_inference_begins_with_a_thousand_examples() -> None:
    _, _, sizes, *_ = offered(NLI)
    assert sizes.value == ["1000"]


@pytest.mark.parametrize(
    ("method", "seen"),
    [
        ("temperature", (False, True, False, False)),
        ("invalid", (True, True, True, True)),
        ("transfer", (True, False, True, False)),
    ],
)
def test_what_does_not_belong_to_a_method_is_hidden(method: str, seen: tuple[bool, ...]) -> None:
    assert tuple(update.visible for update in follow(method)[1:5]) == seen


@pytest.mark.parametrize(
    ("method", "mode"), [("invalid", "full"), ("entropic", "full"), ("smoothing", "fast")]
)
def test_what_costs_much_by_the_upper_layers_alone_begins_with_all_weights(
    method: str, mode: str
) -> None:
    assert follow(method)[-1].value == mode


@pytest.mark.parametrize(
    ("chosen", "kept"),
    [
        ([ALL, "sort"], ["sort"]),
        (["sort", "drop"], ["sort", "drop"]),
        (["sort", ALL], [ALL]),
        ([], [ALL]),
    ],
)
def test_all_changes_or_some_are_chosen_the_last_choice_counts(
    chosen: list[str], kept: list[str]
) -> None:
    assert tidy(chosen) == kept


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_explained_below_the_list(method: str) -> None:
    assert summary(method).startswith('<p class="fine">')
