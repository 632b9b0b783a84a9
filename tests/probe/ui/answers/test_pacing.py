"""Work stops where it is asked to, and a costly step is taken seldom."""

import time

from probe.ui.answers.answering import SHARE, STOPPED, Pace, StopRequests


def test_a_page_asks_its_own_work_to_stop_and_no_other() -> None:
    stops = StopRequests()
    mine, others = stops.reason("mine"), stops.reason("another")
    stops.ask("mine")
    assert (mine(), others()) == (STOPPED, "")


def test_a_wish_to_stop_can_be_withdrawn() -> None:
    stops = StopRequests()
    stops.ask("mine")
    stops.withdraw("mine")
    assert stops.reason("mine")() == ""


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
