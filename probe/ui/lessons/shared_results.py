"""What a live part computed, kept for a while: a class asks the same of the same model."""

from collections.abc import Callable, Hashable, Iterator
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache

T = TypeVar("T")
MAX_RESULTS = 100
"""How many results are kept; each is a few kilobytes."""
# Any: results of several types; a key has those of one type alone
_results: LRUCache[Hashable, Any] = LRUCache(MAX_RESULTS)
_lock = Lock()


def once(key: Hashable, compute: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Yield what a computation yields, the last of it the result; later its result alone."""
    with _lock:
        known: T | None = _results.get(key)
    if known is not None:
        yield known
        return
    last: T | None = None
    for last in compute():
        yield last
    with _lock:
        _results[key] = last
