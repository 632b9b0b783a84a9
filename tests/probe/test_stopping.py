"""How long loops learn that nobody wants their work any more."""

from threading import Thread

import pytest

from probe.errors import Stopped
from probe.stopping import check_stop, stopping


def test_work_goes_on_where_nothing_says_stop() -> None:
    steps = 0
    with stopping(lambda: ""):
        for _ in range(3):
            check_stop()
            steps += 1
    assert steps == 3


def test_any_of_several_reasons_ends_it_and_only_inside_its_block() -> None:
    with stopping(lambda: "the time is up"):
        with stopping(lambda: ""), pytest.raises(Stopped, match="the time is up"):
            check_stop()
        with pytest.raises(Stopped, match="the time is up"):
            check_stop()
    check_stop()


def test_another_thread_is_not_stopped() -> None:
    raised: list[Exception] = []

    def work() -> None:
        try:
            check_stop()
        except Stopped as problem:
            raised.append(problem)

    with stopping(lambda: "the time is up"):
        thread = Thread(target=work)
        thread.start()
        thread.join()
    assert raised == []
