"""The table of screenshots: every view is in it, and what its states ask for is there."""

import pytest

from benchmarks.page.screenshots import chosen
from benchmarks.page.views import VIEWS, View
from probe.tasks.task import offered_tasks
from probe.ui.links import MOVED


@pytest.mark.parametrize("tab", set(MOVED) - {"admin"})
def test_every_view_is_photographed_as_it_opens(tab: str) -> None:
    assert any(view.name == tab and view.query == {"tab": tab} for view in VIEWS)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_state_is_of_a_view_that_is_there_for_a_task_that_is_offered(view: View) -> None:
    assert view.query["tab"] in MOVED
    assert view.name.partition("-")[0] == view.query["tab"]
    assert view.query.get("task", "nli") in {task.name for task in offered_tasks()}


def test_no_view_overwrites_another() -> None:
    assert len({view.name for view in VIEWS}) == len(VIEWS)


def test_views_are_chosen_by_the_beginnings_of_their_names() -> None:
    assert {view.query["tab"] for view in chosen(["compare", "data"])} == {"compare", "data"}
    assert chosen([]) == list(VIEWS)
