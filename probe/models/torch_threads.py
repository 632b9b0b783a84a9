"""Batches of one network computed side by side, each on one core.

On two cores a batch on each takes less time than one batch after the other on both: products of
matrices divide well among threads, attention, norms and activations do not.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from threading import Barrier, Lock
from typing import TypeVar

import torch

from probe.settings import settings

Batch = TypeVar("Batch")
Result = TypeVar("Result")
MOST_BATCHES = 8
"""At a time, each of which has its tensors in memory; more cores are divided among these."""
_lock = Lock()


def batches_at_once() -> int:
    """Return how many batches this thread may compute side by side: torch's threads."""
    return min(MOST_BATCHES, torch.get_num_threads())


def side_by_side(compute: Callable[[Batch], Result], batches: Sequence[Batch]) -> list[Result]:
    """Compute some batches at the same time, one alone with all of torch's threads.

    What torch keeps for each thread, such as inference mode, `compute` has to enter itself.
    """
    if len(batches) == 1 or batches_at_once() == 1:
        return [compute(batch) for batch in batches]
    with _lock:
        pool = _pool(torch.get_num_threads())
    futures = [pool.submit(compute, batch) for batch in batches]
    wait(futures)  # where one fails, too: the others use what the caller lent them
    return [future.result() for future in futures]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a thread for each batch, among which so many of torch's are divided."""
    size = batches_at_once()
    ready = Barrier(size + 1)

    def take_share() -> None:
        torch.get_num_threads()  # torch counts a thread's own at the first question, not before
        torch.set_num_threads(threads // size)
        ready.wait()

    pool = ThreadPoolExecutor(size, "batches", initializer=take_share)
    for _ in range(size):
        pool.submit(int)
    ready.wait()
    torch.set_num_threads(threads)  # of this thread and of all that begin later
    return pool


def has_gpu() -> bool:
    """Whether there is a GPU that models may use at any time; on ZeroGPU torch only says so."""
    return torch.cuda.is_available() and not settings().zero_gpu


def device() -> torch.device:
    """Return where models run: the GPU where there is one."""
    return torch.device("cuda" if has_gpu() else "cpu")


def gpus() -> list[str]:
    """Return the names of the GPUs that models may use at any time."""
    count = torch.cuda.device_count() if has_gpu() else 0
    return [torch.cuda.get_device_name(number) for number in range(count)]
