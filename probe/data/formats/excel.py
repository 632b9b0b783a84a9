"""Excel's workbooks: the rows of one sheet, their cells with the types that they have.

openpyxl reads one row after the other; the texts that cells share it holds all the time.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any, Literal

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.encodings import check_content
from probe.data.formats.header import SAMPLE_ROWS, header_of
from probe.data.formats.unpacking import unpacked_file
from probe.data.formats.workbook_parts import WorkbookParts
from probe.data.names import check_names, listed
from probe.data.records import REPEATED, Record
from probe.errors import FileError, FileQuestion, reading
from probe.limits import Bounds

Cells = Sequence[Any]  # Any: openpyxl's cells of several kinds
MOST_SHEETS = 5
"""Sheets that a question offers."""
SIGNATURE = b"PK\x03\x04"
FORM = (
    "an Excel workbook",
    "open it in a spreadsheet program and save it anew as .xlsx without a password, or as CSV",
)


@dataclass(frozen=True)
class Workbook:
    """A sheet of a workbook, by its number from 0, with `above` rows before the data."""

    path: Path
    bounds: Bounds
    columns: tuple[str, ...]
    sheet: int
    above: int
    words: str
    form: Literal["xlsx"] = "xlsx"

    def rows(self) -> Iterator[Cells]:
        """Yield the cells of the rows below the header that are not blank.

        Raises FileError, LimitError.
        """
        for cells in islice(_filled(_rows(self.path, self.bounds, self.sheet)), self.above, None):
            yield cells[: len(self.columns)]

    def records(self) -> Iterator[Record]:
        """Yield the rows; a formula is what it came to. Raises FileError, LimitError."""
        for number, cells in enumerate(self.rows()):
            values = [cell.value for cell in cells]
            values += [None] * (len(self.columns) - len(values))
            for value in values:
                self.bounds.check("max_cell", len(value) if isinstance(value, str) else 0)
            broken = REPEATED if values == list(self.columns) else ""
            yield Record(number, dict(zip(self.columns, values, strict=True)), broken=broken)


def open_workbook(path: Path, bounds: Bounds, options: FileOptions = AS_THE_FILE_TELLS) -> Workbook:
    """Choose the sheet and read its header. Raises FileError, LimitError.

    Raises FileQuestion where several sheets may be meant or it is not clear whether the first row
    is a header.
    """
    sheet, words = _sheet(path, bounds, options.sheet)
    rows = list(islice(_filled(_rows(path, bounds, sheet)), SAMPLE_ROWS + 1))
    texts = [["" if cell.value is None else str(cell.value) for cell in cells] for cells in rows]
    width = max((at for row in texts for at, text in enumerate(row, 1) if text), default=0)
    padded = [[*row[:width], *[""] * (width - len(row))] for row in texts]
    header = header_of(padded, options.header, path.name)
    columns = list(header.columns)
    while columns and not columns[-1]:
        columns.pop()
    bounds.check("max_columns", len(columns))
    check_names(columns, path.name)
    said = "; ".join(filter(None, (words, header.words)))
    return Workbook(path, bounds, tuple(columns), sheet, header.above, said)


def _filled(rows: Iterator[Cells]) -> Iterator[Cells]:
    return (cells for cells in rows if any(cell.value is not None for cell in cells))


def _sheet(path: Path, bounds: Bounds, asked: str) -> tuple[int, str]:
    """Return the number of the sheet that holds the rows, and its name where it is not the first.

    It is the one that is asked for, by name or number from 1, else the only one with a table: of
    two rows and, where another has them, two columns. Raises FileError, FileQuestion.
    """
    with _book(path, bounds) as book:
        names = [sheet.title for sheet in book.worksheets]
        shown = [at for at, sheet in enumerate(book.worksheets) if sheet.sheet_state == "visible"]
    if asked:
        numbers = [str(number) for number in range(1, len(names) + 1)]
        among = names if asked in names else numbers
        if asked not in among:
            raise FileError(f"{path.name} has no sheet {asked!r}; it has: {listed(names)}")
        return among.index(asked), f"sheet {names[among.index(asked)]!r}"
    if len(shown) < 2:
        return (shown or [0])[0], ""
    first_rows = {at: list(islice(_filled(_rows(path, bounds, at)), 2)) for at in shown}
    tables = [at for at, rows in first_rows.items() if len(rows) == 2]
    wide = [at for at in tables if all(_width(cells) > 1 for cells in first_rows[at])]
    likely = wide or tables or shown[:1]
    if len(likely) > 1:
        asking = [quote(names[at]) for at in likely[:MOST_SHEETS]]
        raise FileQuestion(
            f"{path.name} has several sheets with rows: {listed([names[at] for at in likely])}",
            *(f"--sheet {name}" for name in asking),
        )
    return likely[0], f"sheet {names[likely[0]]!r}" if likely != shown[:1] else ""


def _width(cells: Cells) -> int:
    return sum(cell.value is not None for cell in cells)


def _rows(path: Path, bounds: Bounds, number: int) -> Iterator[Cells]:
    with _book(path, bounds) as book:
        sheet = book.worksheets[number]
        sheet.reset_dimensions()  # a file may say less of itself than it holds
        yield from sheet.iter_rows()


@contextmanager
def _book(path: Path, bounds: Bounds) -> Iterator[Any]:  # Any: openpyxl's workbook
    from openpyxl.reader.excel import ExcelReader  # loads slowly

    check_content(path, bounds, SIGNATURE)
    with reading(path.name, *FORM), unpacked_file(path, bounds) as source:
        parts = WorkbookParts(source, bounds)
        reader = ExcelReader(source, read_only=True, data_only=True, keep_links=False)
        reader.archive.close()
        reader.archive = parts
        reader.read()
        book = reader.wb
        try:
            yield book
        finally:
            book.close()
