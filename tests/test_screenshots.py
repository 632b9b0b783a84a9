"""The table of screenshots: every tab is in it, and what its views ask for is there."""

from app import TABS
from benchmarks.page.screenshots import chosen
from benchmarks.page.views import VIEWS
from probe.tasks.task import offered_tasks


def test_every_tab_is_photographed_as_it_opens_and_a_view_opens_what_is_there() -> None:
    tabs, tasks = {entry.id for entry in TABS}, {task.name for task in offered_tasks()}
    assert tabs <= {view.name for view in VIEWS if view.query == {"tab": view.name}}
    for view in VIEWS:
        assert view.query["tab"] == view.name.partition("-")[0] in tabs, view.name
        assert view.query.get("task", "nli") in tasks, view.name
    assert len({view.name for view in VIEWS}) == len(VIEWS)  # no view overwrites another


def test_views_are_chosen_by_the_beginnings_of_their_names() -> None:
    assert {view.query["tab"] for view in chosen(["compare", "data"])} == {"compare", "data"}
    assert chosen([]) == list(VIEWS)
