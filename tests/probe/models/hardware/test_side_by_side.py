"""Batches side by side: each on its own core, in their order, the caller's threads as before."""

from collections.abc import Iterator
from threading import Barrier, Event, get_ident

import pytest
import torch

from probe.models.torch_threads import MOST_BATCHES, batches_at_once, side_by_side
from tests.support.torch_threads import torch_threads

WAIT_SECONDS = 20


@pytest.fixture(params=[2, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """Let torch have some threads here."""
    with torch_threads(request.param):
        yield request.param


def test_batches_are_computed_at_the_same_time_and_come_in_their_order(threads: int) -> None:
    together = Barrier(threads)

    def meet(number: int) -> int:
        together.wait(WAIT_SECONDS)
        return number

    assert side_by_side(meet, range(threads)) == list(range(threads))


def test_each_batch_has_one_thread_of_torch_and_the_caller_all(threads: int) -> None:
    assert side_by_side(lambda _: torch.get_num_threads(), range(threads)) == [1] * threads
    assert torch.get_num_threads() == threads


def test_one_batch_alone_is_computed_by_the_caller_with_all_threads(threads: int) -> None:
    answer = side_by_side(lambda _: (get_ident(), torch.get_num_threads()), [0])
    assert answer == [(get_ident(), threads)]


def test_without_threads_the_caller_computes_one_after_the_other() -> None:
    assert torch.get_num_threads() == 1
    assert side_by_side(lambda _: get_ident(), [0, 1]) == [get_ident()] * 2


def test_who_computes_more_than_is_divided_has_several_threads_each() -> None:
    with torch_threads(2 * MOST_BATCHES):
        assert batches_at_once() == MOST_BATCHES
        shares = side_by_side(lambda _: torch.get_num_threads(), range(MOST_BATCHES))
        assert shares == [2] * MOST_BATCHES


def test_an_error_comes_after_the_other_batches_have_ended(threads: int) -> None:
    failed, ended = Event(), []

    def compute(number: int) -> None:
        if number == 0:
            failed.set()
            raise ValueError("the first fails")
        assert failed.wait(WAIT_SECONDS)
        ended.append(number)

    with pytest.raises(ValueError, match="the first fails"):
        side_by_side(compute, range(threads))
    assert sorted(ended) == list(range(1, threads))
