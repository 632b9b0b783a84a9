"""Excel's workbooks: the rows of the first sheet, their cells with the types that they have.

openpyxl reads one row after the other; the texts that cells share it holds all the time.
"""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from xml.etree.ElementTree import ParseError

from probe.data.formats.unpacking import MEGABYTE, unpacked_file
from probe.data.names import check_names
from probe.data.records import Record
from probe.errors import FileError
from probe.limits import Bounds
from probe.stopping import check_stop

Cells = Sequence[Any]  # Any: openpyxl's cells of several kinds
STOP_ROWS = 1024
"""Rows between two questions whether to stop."""


@dataclass(frozen=True)
class Workbook:
    """The first sheet of a workbook, whose first row names the columns."""

    path: Path
    bounds: Bounds
    columns: tuple[str, ...]
    form: Literal["xlsx"] = "xlsx"
    words: str = ""

    def rows(self) -> Iterator[Cells]:
        """Yield the cells of the rows below the header that are not blank.

        Raises FileError, LimitError.
        """
        rows = _rows(self.path, self.bounds)
        next(rows, None)
        for cells in rows:
            if any(cell.value is not None for cell in cells):
                yield cells[: len(self.columns)]

    def records(self) -> Iterator[Record]:
        """Yield the rows; a formula is what it came to. Raises FileError, LimitError."""
        for number, cells in enumerate(self.rows()):
            values = [cell.value for cell in cells]
            values += [None] * (len(self.columns) - len(values))
            for value in values:
                self.bounds.check("max_cell", len(value) if isinstance(value, str) else 0)
            yield Record(number, dict(zip(self.columns, values, strict=True)))


def open_workbook(path: Path, bounds: Bounds) -> Workbook:
    """Read the header of a workbook. Raises FileError, LimitError."""
    header = [cell.value for cell in next(_rows(path, bounds), ())]
    while header and header[-1] is None:
        header.pop()
    columns = tuple("" if name is None else str(name) for name in header)
    bounds.check("max_columns", len(columns))
    check_names(columns, path.name)
    return Workbook(path, bounds, columns)


def _rows(path: Path, bounds: Bounds) -> Iterator[Cells]:
    from openpyxl import load_workbook  # loads slowly

    with _reading(path), unpacked_file(path, bounds) as source:
        _check_size(source, bounds)
        book = load_workbook(source, read_only=True, data_only=True, keep_links=False)
        try:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # a file may say less of itself than it holds
            for number, cells in enumerate(sheet.iter_rows()):
                if number % STOP_ROWS == 0:
                    check_stop()
                yield cells
        finally:
            book.close()


def _check_size(path: Path, bounds: Bounds) -> None:
    with zipfile.ZipFile(path) as parts:
        bounds.check("max_unpacked_mb", sum(part.file_size for part in parts.infolist()) / MEGABYTE)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    from openpyxl.utils.exceptions import InvalidFileException

    known = (zipfile.BadZipFile, KeyError, IndexError, ValueError, TypeError, ParseError)
    try:
        yield
    except (OSError, InvalidFileException, *known) as problem:
        words = (isinstance(problem, OSError) and problem.strerror) or problem
        raise FileError(f"{path.name} cannot be read as an Excel workbook: {words}") from problem
