"""How long loops learn that nobody wants their work any more."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from probe.errors import Stopped
from probe.stopping import check_stop, stopping


def test_any_of_several_reasons_ends_it_and_only_inside_its_block() -> None:
    with stopping(lambda: ""):
        check_stop()
    with stopping(lambda: "the time is up"):
        with stopping(lambda: ""), pytest.raises(Stopped, match="the time is up"):
            check_stop()
        with pytest.raises(Stopped, match="the time is up"):
            check_stop()
    check_stop()


def test_another_thread_is_not_stopped() -> None:
    with stopping(lambda: "the time is up"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(check_stop).exception() is None
