"""Copies guarded for spreadsheets, which compute a cell that begins like a formula."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from probe.data.file_options import FileOptions, read_form
from probe.data.formats.delimited import Delimited, DelimitedForm, open_delimited
from probe.data.formats.encodings import TextFile, text_file
from probe.data.writers.appended import AppendedFile
from probe.data.writers.lines import BesideDelimited
from probe.data.writers.output import checked_form
from probe.errors import FileQuestion
from probe.limits import UNBOUNDED

COPIED_ROWS = 4096
"""Rows of a file that are in memory at a time."""


def write_guarded_copy(path: Path, copy: Path) -> None:
    """Write a guarded copy of a CSV or TSV file of ours. Raises FileError.

    What was asked about the file that ours stands beside is not asked again: quotes that may be
    either enclose fields, as a spreadsheet takes them, and bytes are copied in any encoding.
    """
    form: DelimitedForm = "tsv" if checked_form(path, guard=True) == "tsv" else "csv"
    try:
        text = text_file(path, UNBOUNDED)
    except FileQuestion as question:
        text = text_file(path, UNBOUNDED, read_form(question.options[0]).encoding)
    source = _opened(text, form)
    lines = BesideDelimited(source, (), copy.name, guard=True)
    file = AppendedFile(copy)
    file.append(lines.head())
    rows = (lines.line(record, ()) for record in source.records())
    for several in _several(rows):
        file.append(b"".join(several))
    file.close()


def _opened(file: TextFile, form: DelimitedForm) -> Delimited:
    for quotes in (None, True):
        for header in (None, True):  # ours has one, but there may be a title above it
            try:
                return open_delimited(file, form, FileOptions(header=header, quotes=quotes))
            except FileQuestion as question:
                asked = question
    raise asked


def _several(rows: Iterator[bytes]) -> Iterator[list[bytes]]:
    while several := list(islice(rows, COPIED_ROWS)):
        yield several
