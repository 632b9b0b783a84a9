"""The lines of a text, of which a row may be one or several, within a bound."""

from collections.abc import Iterator
from typing import IO

from probe.limits import Bounds

ROW_CELLS = 20
"""A row may hold as many characters as so many of the longest cells."""
PIECE_BYTES = 1 << 16
CHARACTER_BYTES = 4
"""Bytes of a character at most."""


def longest_row(bounds: Bounds) -> int | None:
    """Return the most characters of a row, None where there is no bound."""
    return ROW_CELLS * bounds.max_cell if bounds.max_cell else None


class Lines:
    """The lines of a text with their ends, refused where a row is too long.

    `row` are the bytes of the lines since the row began; `ended` says that there is no further
    line, once one was asked for.
    """

    def __init__(
        self, file: IO[bytes], encoding: str, bounds: Bounds, only_feeds: bool = False
    ) -> None:
        """`only_feeds`: a carriage return alone does not end a line."""
        self._bounds = bounds
        self._longest = longest_row(bounds)
        self._lines = self._split(file, only_feeds)
        self._first, self._encoding = encoding, "utf-8" if encoding == "utf-8-sig" else encoding
        self._taken = list[bytes]()
        self._length = 0
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return the next line. Raises LimitError, UnicodeError."""
        line = next(self._lines, b"")
        if not line:
            self.ended = True
            raise StopIteration
        text = line.decode(self._first)
        self._first = self._encoding  # a byte order mark stands in the first line alone
        self._taken.append(line)
        self._length += len(text)
        self._check(self._length)
        return text

    @property
    def row(self) -> bytes:
        """The bytes of the row so far."""
        return b"".join(self._taken)

    def begin_row(self) -> None:
        """Take what comes next for another row."""
        self._taken = []
        self._length = 0

    def _check(self, length: int) -> None:
        if self._longest is not None and length > self._longest:
            self._bounds.check("max_cell", length)

    def _split(self, file: IO[bytes], only_feeds: bool) -> Iterator[bytes]:
        rest = b""
        while piece := file.read(max(PIECE_BYTES, len(rest))):
            *lines, rest = _parts(rest + piece, only_feeds)
            yield from lines
            self._check(len(rest) // CHARACTER_BYTES)
        if rest:
            yield rest


def _parts(data: bytes, only_feeds: bool) -> list[bytes]:
    """Return the whole lines of some bytes, and behind them what may go on."""
    if only_feeds:
        *lines, rest = data.split(b"\n")
        return [*(line + b"\n" for line in lines), rest]
    lines = data.splitlines(keepends=True)
    # behind a carriage return a line feed of the same line end may follow
    return lines if not data.endswith(b"\n") else [*lines, b""]
