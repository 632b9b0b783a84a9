"""Whether the quotes of a delimited file enclose its fields or belong to the text.

RFC 4180 and most programs enclose what holds a delimiter; the releases of MNLI and SNLI, and what
is cut and joined at tabs, do not. The whole file is read both ways.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from probe.data.formats.header import NUMBER
from probe.errors import FileQuestion
from probe.stopping import check_stop

CLOSED = re.compile(r'[^"]*(?:""[^"]*)*"')
"""What stands between the quote that opens a field and, with it, the one that closes it."""
STOP_LINES = 1 << 14
"""Lines between two questions whether to stop."""


@dataclass
class Reading:
    """Lines by the number of fields of their row, and those of rows that are not well written."""

    widths: Counter[int] = field(default_factory=Counter)
    malformed: int = 0

    def add(self, width: int, lines: int = 1, well: bool = True) -> None:
        """Count a row of several lines."""
        if well:
            self.widths[width] += lines
        else:
            self.malformed += lines

    @property
    def unfit(self) -> int:
        """The lines of rows that do not have as many fields as most."""
        return self.malformed + self.widths.total() - max(self.widths.values(), default=0)


@dataclass
class BothWays:
    """What the lines of a file are where quotes enclose fields, and where they belong to the text.

    `needed` counts fields whose quotes hold a doubled one, as no other text does, `spanning` those
    that go on in another line; `bare` says whether some text stands without quotes.
    """

    delimiter: str
    enclosing: Reading = field(default_factory=Reading)
    plain: Reading = field(default_factory=Reading)
    needed: int = 0
    spanning: int = 0
    bare: bool = False
    _inside: bool = False
    _fields: int = 1
    _lines: int = 0
    _well: bool = True

    def add(self, line: str) -> None:
        """Count a line without its end."""
        if not line and not self._inside:
            return
        width = line.count(self.delimiter) + 1
        self.plain.add(width)
        if not (self._inside or line.startswith('"') or self.delimiter + '"' in line):
            self.enclosing.add(width)
            self.bare = self.bare or self._is_bare(line)
            return
        self._lines += 1
        at = self._closed(line, 0) if self._inside else self._field(line, 0)
        while at is not None and at < len(line):
            self._fields += 1
            at = self._field(line, at + 1)
        self._inside = at is None
        if not self._inside:
            self._end()

    def end(self) -> None:
        """Take the file for ended."""
        if self._inside:
            self._well = False
            self._end()

    def _end(self) -> None:
        self.enclosing.add(self._fields, self._lines, self._well)
        self._inside, self._fields, self._lines, self._well = False, 1, 0, True

    def _field(self, line: str, at: int) -> int | None:
        """Return where the field that begins at a place ends, None for in a later line."""
        if line.startswith('"', at):
            return self._closed(line, at + 1)
        end = line.find(self.delimiter, at)
        end = len(line) if end < 0 else end
        self.bare = self.bare or self._is_bare(line[at:end])
        return end

    def _closed(self, line: str, at: int) -> int | None:
        closed = CLOSED.match(line, at)
        if not closed:
            self.spanning += at > 0
            return None
        self.needed += '""' in closed[0]
        end = line.find(self.delimiter, closed.end())
        end = len(line) if end < 0 else end
        self._well = self._well and end == closed.end()
        return end

    def _is_bare(self, text: str) -> bool:
        return any(
            not NUMBER.fullmatch(field) for field in text.split(self.delimiter) if field.strip()
        )


def do_quotes_enclose(lines: Iterator[str], delimiter: str, name: str) -> bool:
    """Read a whole file both ways, and say which way its rows fit together.

    Where they do so equally, quotes at tabs enclose if one is doubled within another, or if every
    text has them; at other delimiters they enclose unless only the other reading has a fault
    nowhere. Raises FileQuestion where nothing tells.
    """
    both = BothWays(delimiter)
    for number, line in enumerate(lines):
        if number % STOP_LINES == 0:
            check_stop()
        both.add(line.rstrip("\r\n"))
    both.end()
    encloses = _at_tabs(both) if delimiter == "\t" else _elsewhere(both)
    if encloses is None:
        raise FileQuestion(
            f"{name}: its quotes may enclose fields or belong to the text; its rows fit both ways",
            "--quotes", "--no-quotes",
        )  # fmt: skip
    return encloses


def _at_tabs(both: BothWays) -> bool | None:
    enclosing, plain = both.enclosing.unfit, both.plain.unfit
    if enclosing != plain:
        doubtful = enclosing > plain and both.needed > both.enclosing.malformed
        return None if doubtful else enclosing < plain
    if both.enclosing.malformed:
        return False
    return True if both.needed or not both.bare else None


def _elsewhere(both: BothWays) -> bool | None:
    if both.plain.unfit or len(both.plain.widths) > 1 or max(both.plain.widths, default=1) == 1:
        return True
    if both.enclosing.unfit:
        return None if both.needed else False
    return None if both.spanning else True
