"""The lines of a text, of which a row may be one or several, within a bound."""

from collections.abc import Iterator
from typing import IO

from probe.limits import Bounds

ROW_CELLS = 20
"""A row may hold as many characters as so many of the longest cells."""


def longest_row(bounds: Bounds) -> int | None:
    """Return the most characters of a row, None where there is no bound."""
    return ROW_CELLS * bounds.max_cell if bounds.max_cell else None


class Lines:
    """The lines of a text, refused where a row is too long."""

    def __init__(self, text: IO[str], bounds: Bounds) -> None:
        self._text, self._bounds = text, bounds
        self._longest = longest_row(bounds)
        self._length = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return the next line with its end. Raises LimitError."""
        left = -1 if self._longest is None else self._longest - self._length + 1
        line = self._text.readline(left)
        self._length += len(line)
        if self._longest is not None and self._length > self._longest:
            self._bounds.check("max_cell", self._length)
        if not line:
            raise StopIteration
        return line

    def begin_row(self) -> None:
        """Count the length of a row anew."""
        self._length = 0
