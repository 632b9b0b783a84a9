"""A row as a line of text: the bytes of the input with our fields behind them, or made anew."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from probe.data.formats.delimited import DEFAULT_END, Delimited, DelimitedForm
from probe.data.records import Record
from probe.data.writers.cells import as_json, as_text, guarded, is_computed
from probe.errors import FileError

Values = Sequence[Any]  # Any: text, numbers and truth values
LINE_BREAKS = "\n\r"


class LineForm(Protocol):
    """How the lines of a text file are made."""

    @property
    def words(self) -> str:
        """The form in words, for the person."""

    def head(self) -> bytes:
        """Return what comes before the first row."""

    def line(self, record: Record, values: Values) -> bytes:
        """Return a row of the input with our values behind it. Raises FileError."""


@dataclass(frozen=True)
class BesideDelimited:
    """Lines of CSV or TSV that begin with the bytes of the input's own line.

    Our fields are split, encoded and ended as the input's are. `name` is that of the new file.
    """

    source: Delimited
    names: tuple[str, ...]
    name: str
    guard: bool = False

    @property
    def words(self) -> str:
        """The form in words."""
        encoding = self.source.file.encoding.removesuffix("-sig").upper()
        kept = "fields that spreadsheets would compute begin with '" if self.guard else (
            "every field of a row that fits the header keeps its bytes"
        )  # fmt: skip
        return (
            f"{self.source.form.upper()} as your file is, {self.source.mark_words} between "
            f"its fields, in {encoding}: {kept}"
        )

    def head(self) -> bytes:
        """Return the header."""
        header = self.source.header
        names = Record(0, {name: name for name in header.cells}, header.written, header.end)
        return self.line(names, self.names)

    def line(self, record: Record, values: Values) -> bytes:
        """Return a line. What the input's encoding cannot hold of ours is escaped."""
        body = record.written
        if not body or (self.guard and any(map(is_computed, record.cells.values()))):
            body = self._fields(list(record.cells.values()))
        if values:
            body += self.source.mark + self._fields(values)
        return self.source.file.outer(body + (record.end or self.source.header.end))

    def _fields(self, values: Values) -> bytes:
        text = fields_text(values, self.source.quotes, self.source.delimiter, self.guard, self.name)
        encoding = self.source.file.inner.removesuffix("-sig")
        return text.encode(encoding, errors="backslashreplace")


@dataclass(frozen=True)
class PlainDelimited:
    """Lines of CSV or TSV in UTF-8, made of cells of any kind."""

    form: DelimitedForm
    columns: tuple[str, ...]
    names: tuple[str, ...]
    name: str
    guard: bool = False

    @property
    def words(self) -> str:
        """The form in words."""
        guard = "; fields that spreadsheets would compute begin with '" if self.guard else ""
        return f"{self.form.upper()} in UTF-8, its texts as they are read{guard}"

    def head(self) -> bytes:
        """Return the header."""
        return self._line([*self.columns, *self.names])

    def line(self, record: Record, values: Values) -> bytes:
        """Return a line. Raises FileError."""
        return self._line([*map(record.cells.get, self.columns), *values])

    def _line(self, values: Values) -> bytes:
        quotes = self.form == "csv"
        delimiter, end = (",", DEFAULT_END.decode()) if quotes else ("\t", "\n")
        text = fields_text(values, quotes, delimiter, self.guard, self.name) + end
        # half of a surrogate pair, which JSON can escape and UTF-8 cannot hold, stays the escape
        return text.encode(errors="backslashreplace")


@dataclass(frozen=True)
class JsonLines:
    """Objects in UTF-8; one that the input has as JSON keeps its text, ours stand behind it."""

    columns: tuple[str, ...]
    names: tuple[str, ...]
    of_json: bool

    @property
    def words(self) -> str:
        """The form in words."""
        kept = "every value of yours stands as it is written" if self.of_json else (
            "what JSON has no form for, such as a date or a decimal, is text"
        )  # fmt: skip
        return f"JSON lines in UTF-8: {kept}"

    def head(self) -> bytes:
        """Return nothing: each row names its cells."""
        return b""

    def line(self, record: Record, values: Values) -> bytes:
        """Return an object on a line of its own."""
        ours = _members(dict(zip(self.names, values, strict=True)))
        written = record.written
        if not written.endswith(b"}") or not written.startswith(b"{"):
            written = (
                b"{" + _members({name: record.cells.get(name) for name in self.columns}) + b"}"
            )
        members = written[:-1].rstrip()
        between = b", " if ours and members != b"{" else b""
        return members + between + ours + b"}\n"


def _members(values: dict[str, Any]) -> bytes:  # Any: as of Values
    text = json.dumps(values, ensure_ascii=False, default=as_json)[1:-1]
    return text.encode(errors="backslashreplace")


def fields_text(values: Values, quotes: bool, delimiter: str, guard: bool, name: str) -> str:
    """Return fields, in quotes where these enclose them, as a line without its end.

    Raises FileError.
    """
    texts = [as_text(guarded(value) if guard else value) for value in values]
    if quotes:
        out = io.StringIO(newline="")
        # with this end a lone carriage return or line feed in a text is quoted
        csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerow(texts)
        return out.getvalue().removesuffix("\r\n")
    if any(mark in text for text in texts for mark in (delimiter, *LINE_BREAKS)):
        mark = "tab" if delimiter == "\t" else repr(delimiter)
        raise FileError(
            f"{name}: a text holds a {mark} or line break, which TSV cannot; choose .csv"
        )
    return delimiter.join(texts)
