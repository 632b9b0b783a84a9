"""Excel's workbooks: the rows of the first sheet, their cells with the types that they have.

openpyxl reads one row after the other; the texts that cells share it holds all the time.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from probe.data.formats.unpacking import unpacked_file
from probe.data.formats.workbook_parts import WorkbookParts
from probe.data.names import check_names
from probe.data.records import Record
from probe.errors import FileError, UserError, library_words
from probe.limits import Bounds

Cells = Sequence[Any]  # Any: openpyxl's cells of several kinds
UNREADABLE = "cannot be read as an Excel workbook"
WHY = (
    "it is damaged, protected by a password or in another form; open it in a spreadsheet program "
    "and save it anew as .xlsx, or as CSV"
)


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
    from openpyxl.reader.excel import ExcelReader  # loads slowly

    with _reading(path), unpacked_file(path, bounds) as source:
        parts = WorkbookParts(source, bounds)
        reader = ExcelReader(source, read_only=True, data_only=True, keep_links=False)
        reader.archive.close()
        reader.archive = parts
        reader.read()
        book = reader.wb
        try:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # a file may say less of itself than it holds
            yield from sheet.iter_rows()
        finally:
            book.close()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except OSError as problem:
        raise FileError(f"{path.name} {UNREADABLE}: {library_words(problem)}") from problem
    except Exception as problem:  # whatever openpyxl meets; its words tell where the file lies
        raise FileError(f"{path.name} {UNREADABLE}: {WHY}") from problem
