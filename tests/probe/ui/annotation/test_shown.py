"""What the page says of a set's controls that were failed."""

from pathlib import Path

import pytest

from probe.runs.store import Store
from probe.surveys.annotation_results import results
from probe.ui.annotation.shown import results_shown
from tests.support.runs.annotation import answer_all, honest, person, small_set


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


def test_a_set_whose_controls_were_failed_says_so_first(store: Store) -> None:
    annotated = small_set(store)
    answer_all(store, annotated, person(0), lambda item: "valid" if item.transform else "invalid")
    shown = results_shown(annotated, results(store, annotated))
    assert "No text has a majority yet" in shown
    assert '<p class="problem">2 of 2 batches (100 %) failed their control and do not' in shown


def test_a_few_failed_controls_are_said_in_small_print(store: Store) -> None:
    annotated = small_set(store, votes=1)
    for each, answers in enumerate((honest, lambda item: "valid", honest)):
        answer_all(store, annotated, person(each), answers)
    found = results(store, annotated)
    shown = results_shown(annotated, found)
    assert f"{found.failed} of {found.returned} batches" in shown
    assert "in the paper" in shown
    assert '<p class="problem">' not in shown
