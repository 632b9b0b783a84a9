"""The line of files: whose turn it is, and what happens where somebody leaves."""

import pytest

from probe.errors import Stopped
from probe.ui.answers.file_line import FileLine

ANN, BOB, EVE = ("10.0.0.1", "ann"), ("10.0.0.2", "bob"), ("10.0.0.3", "eve")


def here() -> str:
    """Nobody has left."""
    return ""


def test_the_first_is_scored_at_once_and_the_second_learns_that_one_is_before_it() -> None:
    line = FileLine()
    with line.place(ANN, here) as first, line.place(BOB, here) as second:
        assert list(first) == []
        assert next(second) == 1


def test_the_second_is_scored_once_the_first_has_ended() -> None:
    line = FileLine()
    with line.place(BOB, here) as second, line.place(ANN, here) as first:
        assert list(second) == []
        assert next(first) == 1
    with line.place(ANN, here) as again:
        assert list(again) == []


def test_a_visitor_who_was_just_served_comes_after_one_who_was_not() -> None:
    line = FileLine()
    with line.place(ANN, here) as first, line.place(ANN, here) as more:
        assert list(first) == []
        with line.place(BOB, here) as second:
            assert (next(second), next(more)) == (1, 2)


def test_a_file_whose_caller_has_left_holds_nobody_up() -> None:
    gone: list[str] = []
    line = FileLine()
    with line.place(ANN, lambda: "".join(gone)) as first, line.place(BOB, here) as second:
        assert list(first) == []
        assert next(second) == 1
        gone.append("the page was closed")
        assert list(second) == []


def test_who_has_left_while_waiting_is_stopped() -> None:
    line = FileLine()
    with line.place(ANN, here) as first, line.place(EVE, lambda: "she left") as second:
        assert list(first) == []
        with pytest.raises(Stopped, match="she left"):
            next(second)
