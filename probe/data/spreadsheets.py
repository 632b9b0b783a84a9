"""Copies guarded for spreadsheets, which compute a cell that begins like a formula."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from probe.data.file_options import FileOptions
from probe.data.formats.delimited import DelimitedForm, open_delimited
from probe.data.formats.encodings import text_file
from probe.data.writers.appended import AppendedFile
from probe.data.writers.lines import BesideDelimited
from probe.data.writers.output import checked_form
from probe.limits import UNBOUNDED

COPIED_ROWS = 4096
"""Rows of a file that are in memory at a time."""


def write_guarded_copy(
    path: Path, copy: Path, options: FileOptions = FileOptions(header=True)
) -> None:
    """Write a guarded copy of a CSV or TSV file of ours. Raises FileError.

    The options are those by which the file was read to which ours stands beside.
    """
    form: DelimitedForm = "tsv" if checked_form(path, guard=True) == "tsv" else "csv"
    told = replace(options, header=True)  # ours has one
    source = open_delimited(text_file(path, UNBOUNDED, told.encoding), form, told)
    lines = BesideDelimited(source, (), copy.name, guard=True)
    file = AppendedFile(copy)
    file.append(lines.head())
    rows = (lines.line(record, ()) for record in source.records())
    for several in _several(rows):
        file.append(b"".join(several))
    file.close()


def _several(rows: Iterator[bytes]) -> Iterator[list[bytes]]:
    while several := list(islice(rows, COPIED_ROWS)):
        yield several
