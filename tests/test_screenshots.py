"""The table of screenshots: every tab is in it, and what its views ask for is there."""

import pytest

from app import TABS
from benchmarks.page.screenshots import chosen
from benchmarks.page.views import VIEWS, View
from probe.tasks.task import offered_tasks


@pytest.mark.parametrize("tab", [entry.id for entry in TABS])
def test_every_tab_is_photographed_as_it_opens(tab: str) -> None:
    assert any(view.name == tab and view.query == {"tab": tab} for view in VIEWS)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_opens_a_tab_that_is_there_for_a_task_that_is_offered(view: View) -> None:
    assert view.query["tab"] in {entry.id for entry in TABS}
    assert view.name.partition("-")[0] == view.query["tab"]
    assert view.query.get("task", "nli") in {task.name for task in offered_tasks()}


def test_no_view_overwrites_another() -> None:
    assert len({view.name for view in VIEWS}) == len(VIEWS)


def test_views_are_chosen_by_the_beginnings_of_their_names() -> None:
    assert {view.query["tab"] for view in chosen(["compare", "data"])} == {"compare", "data"}
    assert chosen([]) == list(VIEWS)
