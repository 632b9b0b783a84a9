"""The table of screenshots: every view is in it, and what its states ask for is there."""

from urllib.parse import parse_qs, urlsplit

import pytest

from app import PLACES
from benchmarks.page.screenshots import chosen
from benchmarks.page.views import VIEWS, View
from probe.surveys.survey import GUEST_PATHS
from probe.tasks.task import offered_tasks

SHOWN = {
    (place.path, view.name if at else "") for place in PLACES for at, view in enumerate(place.views)
}
"""Each view by its place's path and its name, "" for the first."""


def opened(view: View) -> tuple[str, str]:
    """Return which view of the app an address opens."""
    address = urlsplit(view.address)
    query = parse_qs(address.query)
    named = query.get("view", [""])[0]
    first = {name for place in PLACES for name in (place.views[0].name,)}
    return address.path.removeprefix("./"), "" if named in first else named


def test_every_view_is_photographed() -> None:
    assert {opened(view) for view in VIEWS} >= SHOWN


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_state_is_of_a_view_that_is_there_for_a_task_that_is_offered(view: View) -> None:
    guest = view.address.startswith(tuple(f"{path}?" for path in GUEST_PATHS.values()))
    assert guest or opened(view) in SHOWN
    task = parse_qs(urlsplit(view.address).query).get("task", ["nli"])
    assert set(task) <= {each.name for each in offered_tasks()}


def test_views_have_names_of_their_own_and_are_chosen_by_how_these_begin() -> None:
    assert len({view.name for view in VIEWS}) == len(VIEWS)
    assert chosen([]) == list(VIEWS)
    some = chosen(["compare", "mine"])
    assert some and all(view.name.startswith(("compare", "mine")) for view in some)
