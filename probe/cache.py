"""A cache bounded by bytes."""

import math
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache

Value = TypeVar("Value")


class ByteBoundedCache:
    """Keeps values within a bound of bytes; the least recently used are dropped.

    Safe to use from several threads: two that miss the same key at once may both compute it. A
    value larger than the bound is computed whenever it is asked for, unless `keep_newest` keeps the
    newest value whatever its size.
    """

    def __init__(
        self, limit: Callable[[], int], size_of: Callable[[Any], int], keep_newest: bool = False
    ) -> None:
        """`limit` returns the bound in bytes, asked for at each use; `size_of` a value's bytes."""
        self.limit, self._size_of, self._keep_newest = limit, size_of, keep_newest
        # Any: one bound for values of several types; a key has values of one type alone
        self._values: LRUCache[Hashable, Any] = LRUCache(math.inf, getsizeof=size_of)
        self._lock = Lock()

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the value of a key, computed where there is none."""
        with self._lock:
            if key in self._values:
                value: Value = self._values[key]
                return value
        value = compute()
        self.put(key, value)
        return value

    def peek(self, key: Hashable) -> Any:  # Any: of the key's own type
        """Return the value of a key, None where there is none; it counts as used."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: Hashable, value: object) -> None:
        """Store a value, then drop what is beyond the bound."""
        limit = self.limit()
        if self._size_of(value) > limit and not self._keep_newest:
            return
        with self._lock:
            self._values[key] = value
            while self._values.currsize > limit and len(self._values) > 1:
                self._values.popitem()
