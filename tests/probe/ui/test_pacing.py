"""Work stops where it is asked to, and a costly step is taken seldom."""

import time

from probe.ui.pacing import SHARE, Pace, StopRequests


def test_work_goes_on_until_its_own_page_asks_it_to_stop() -> None:
    stops, taken = StopRequests(), []
    for part in stops.until("mine", iter(range(10))):
        taken.append(part)
        stops.ask("another" if part < 3 else "mine")
    assert taken == [0, 1, 2, 3]


def test_a_stop_asked_for_before_work_begins_ends_it_at_once() -> None:
    stops = StopRequests()
    stops.ask("mine")
    assert list(stops.until("mine", iter(range(3)))) == []


def test_a_stop_holds_for_one_piece_of_work() -> None:
    stops = StopRequests()
    stops.ask("mine")
    list(stops.until("mine", iter(range(3))))
    assert list(stops.until("mine", iter(range(3)))) == [0, 1, 2]


def test_an_earlier_wish_can_be_withdrawn() -> None:
    stops = StopRequests()
    stops.ask("mine")
    stops.withdraw("mine")
    assert list(stops.until("mine", iter(range(3)))) == [0, 1, 2]


def test_the_first_step_is_due_and_the_next_one_only_after_a_while() -> None:
    pace, cost = Pace(), 0.02
    due = []
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        with pace.turn() as now:
            due.append(now)
            time.sleep(cost if now else 0.001)
    assert due[:2] == [True, False]
    assert 2 <= sum(due) <= 1.0 * SHARE / cost + 1
