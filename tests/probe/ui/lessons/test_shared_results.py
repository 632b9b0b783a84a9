"""What a class asks at once is computed once."""

from collections.abc import Iterator
from itertools import count
from threading import Event, Thread

import pytest

from probe.ui.lessons.shared_results import once

KEYS = count()


def test_the_second_who_asks_gets_the_result_alone() -> None:
    key = next(KEYS)
    assert list(once(key, lambda: iter([1, 2, 3]))) == [1, 2, 3]
    assert list(once(key, lambda: iter([4]))) == [3]


def test_who_asks_meanwhile_sees_how_far_the_other_is_and_computes_nothing() -> None:
    key, reached, go_on = next(KEYS), Event(), Event()

    def slow() -> Iterator[str]:
        yield "half"
        reached.set()
        assert go_on.wait(30)
        yield "whole"

    first = Thread(target=lambda: list(once(key, slow)))
    first.start()
    assert reached.wait(30)
    other = once(key, lambda: iter(["computed again"]))
    assert next(other) == "half"
    go_on.set()
    first.join()
    assert list(other)[-1] == "whole"


def test_what_was_given_up_is_computed_anew() -> None:
    key = next(KEYS)
    given_up = once(key, lambda: iter([1, 2]))
    next(given_up)
    given_up.close()  # type: ignore[attr-defined]  # a generator
    assert list(once(key, lambda: iter([3]))) == [3]


def test_what_failed_is_computed_anew() -> None:
    key = next(KEYS)

    def broken() -> Iterator[int]:
        yield 1
        raise ValueError

    with pytest.raises(ValueError):
        list(once(key, broken))
    assert list(once(key, lambda: iter([3]))) == [3]
