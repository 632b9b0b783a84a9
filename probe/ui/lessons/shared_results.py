"""What a live part computed, kept for a while: a class asks the same of the same model."""

import time
from collections.abc import Callable, Hashable, Iterator
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache

from probe.stopping import check_stop

T = TypeVar("T")
MAX_RESULTS = 100
"""How many results are kept; each is a few kilobytes."""
LOOK_SECONDS = 0.3
"""How often somebody who waits for another's computation looks how far it is."""
# Any: results of several types; a key has those of one type alone
_results: LRUCache[Hashable, Any] = LRUCache(MAX_RESULTS)
_so_far: dict[Hashable, Any] = {}
_lock = Lock()


def once(key: Hashable, compute: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Yield what a computation yields, the last of it the result; later its result alone.

    Who asks while another computes the same sees how far that is; where it is stopped, the next
    one computes it anew. Raises Stopped.
    """
    while not _begins(key):
        so_far: T | None = _so_far.get(key)
        if so_far is not None:
            yield so_far
        check_stop()
        time.sleep(LOOK_SECONDS)
    try:
        result: T | None = _results.get(key)
        if result is not None:
            yield result
            return
        for result in compute():
            _so_far[key] = result
            yield result
        with _lock:
            _results[key] = result
    finally:
        with _lock:
            del _so_far[key]


def _begins(key: Hashable) -> bool:
    """Whether nobody computes this yet; from now on the caller does."""
    with _lock:
        if key in _so_far:
            return False
        _so_far[key] = None
        return True
