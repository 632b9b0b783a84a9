"""Excel's workbooks: the rows of one sheet, their cells with the types that they have.

openpyxl reads one row after the other; the texts that cells share it holds all the time.
"""

import io
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from shlex import quote
from string import digits
from typing import IO, Any, Literal
from xml.parsers.expat import ExpatError, ParserCreate

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.delimited import SAMPLE_ROWS, header_of
from probe.data.formats.encodings import (
    MEGABYTE,
    PIECE_BYTES,
    Content,
    check_content,
    content_of,
    pieces_of,
)
from probe.data.names import check_names, listed
from probe.data.rows import REPEATED, Record, Source
from probe.errors import FileError, FileQuestion, reading
from probe.limits import UNBOUNDED, Bounds
from probe.stopping import check_stop

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384
"""Rows and columns that a sheet has at most in any version of Excel."""
MAX_PARTS = 10_000
"""Files in a visitor's workbook; each costs time even where it holds nothing."""
MAX_ELEMENTS = 500_000
"""What a visitor's part may hold beside its cells and shared texts: styles, merged cells, runs."""
ELEMENTS_OF_A_TEXT = 8
"""So many more for each cell or text: the pieces of one whose words are formatted."""
TEXTS_OF_A_ROW = 20
"""A workbook may share as many texts as so many for each row that is read."""
ENTRY = b"PK\x01\x02"
"""Begins what an archive says of each file in it."""


class WorkbookParts(zipfile.ZipFile):
    """The archive of a workbook; reading raises FileError, LimitError and Stopped."""

    def __init__(self, content: Content, whole: Path | io.BytesIO) -> None:
        """Open it, once its number of files and their sizes are seen to be within bounds."""
        self._path, self._bounds = content.path, content.bounds
        bounds = self._bounds
        if bounds != UNBOUNDED:
            with content.open() as file:
                count = sum(piece.count(ENTRY) for piece in pieces_of(file))
            if count > MAX_PARTS:
                raise FileError(f"{self._path.name} is a workbook of more than {MAX_PARTS:,} files")
        super().__init__(whole)
        size = sum(part.file_size for part in self.infolist())
        bounds.check("max_unpacked_mb", size / MEGABYTE)

    def open(
        self,
        name: str | zipfile.ZipInfo,
        mode: Literal["r", "w"] = "r",
        pwd: bytes | None = None,
        *,
        force_zip64: bool = False,
    ) -> IO[bytes]:
        """Open a part, whose bytes are counted as they are read."""
        part = super().open(name, mode, pwd, force_zip64=force_zip64)
        return io.BufferedReader(_Counted(part, self._path.name, self._bounds), PIECE_BYTES)


class _Counted(io.RawIOBase):
    """The bytes of a part, refused before anybody has them where they hold too much."""

    def __init__(self, part: IO[bytes], name: str, bounds: Bounds) -> None:
        self._part, self._name, self._bounds = part, name, bounds
        self._rows = self._row = self._cells = self._texts = self._others = 0
        self._parser = ParserCreate()
        self._parser.StartElementHandler = self._count
        self._parser.StartDoctypeDeclHandler = self._refuse_entities
        self._is_xml = True

    def readable(self) -> bool:
        """Say that the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:  # Any: a writable buffer, which 3.10 has no type for
        """Fill the buffer with the next bytes; return their count."""
        check_stop()
        piece = self._part.read(len(buffer))
        if self._is_xml:
            try:
                self._parser.Parse(piece, not piece)
            except ExpatError:  # a picture, or damaged: nothing of it is read behind this place
                self._is_xml = False
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the part."""
        self._part.close()
        super().close()

    def _count(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if kind == "row":
            self._rows, self._cells = self._rows + 1, 0
            self._row += 1
            with suppress(ValueError, OverflowError):  # as openpyxl, which refuses what is none
                self._row = int(float(attributes.get("r", self._row)))
            if self._row > MAX_ROW:
                raise FileError(f"{self._name} has a row of the number {self._row:,}: no sheet has")
            self._bounds.check("max_rows", max(self._row, self._rows) - 1)  # without the header
        elif kind == "c":
            self._cells = max(self._cells + 1, _column(attributes.get("r", "")))
            self._texts += 1
            if self._cells > MAX_COLUMN:
                raise FileError(f"{self._name} has a row of more than {MAX_COLUMN:,} cells")
            self._bounds.check("max_columns", self._cells)
        elif kind == "si":
            self._texts += 1
            rows = self._bounds.max_rows
            if rows and self._texts > TEXTS_OF_A_ROW * (rows + 1):
                raise FileError(
                    f"{self._name} shares more than {self._texts - 1:,} texts, {TEXTS_OF_A_ROW} "
                    f"for each of {rows:,} rows; save its table as CSV"
                )
        elif kind not in ("v", "t"):
            self._others += 1
            most = MAX_ELEMENTS + ELEMENTS_OF_A_TEXT * self._texts
            if self._others > most and self._bounds != UNBOUNDED:
                raise FileError(
                    f"{self._name} has a part of more than {MAX_ELEMENTS:,} styles, merged cells "
                    "and the like; save its table as CSV"
                )

    def _refuse_entities(self, *told: object) -> None:
        raise FileError(f"{self._name} is no Excel workbook: a part declares a document type")


def _column(place: str) -> int:
    """Return the number of a cell's column, 0 where its place tells none."""
    from openpyxl.utils import column_index_from_string  # loads slowly

    try:
        return column_index_from_string(place.rstrip(digits))
    except ValueError:
        return 0


Cells = Sequence[Any]  # Any: openpyxl's cells of several kinds
MOST_SHEETS = 5
"""Sheets that a question offers."""
SIGNATURE = b"PK\x03\x04"
FORM = (
    "an Excel workbook",
    "open it in a spreadsheet program and save it anew as .xlsx without a password, or as CSV",
)


def open_workbook(path: Path, bounds: Bounds, options: FileOptions = AS_THE_FILE_TELLS) -> Source:
    """Choose the sheet and read its header; `own` yields the cells of each row below it.

    Raises FileError, LimitError, and FileQuestion where several sheets may be meant or it is not
    clear whether the first row is a header.
    """
    content = content_of(path, bounds)
    sheet, words = _sheet(content, options.sheet)
    sample = list(islice(_filled(_rows(content, sheet)), SAMPLE_ROWS + 1))
    texts = [["" if cell.value is None else str(cell.value) for cell in cells] for cells in sample]
    width = max((at for row in texts for at, text in enumerate(row, 1) if text), default=0)
    padded = [[*row[:width], *[""] * (width - len(row))] for row in texts]
    header = header_of(padded, options.header, path.name)
    columns = list(header.columns)
    while columns and not columns[-1]:
        columns.pop()
    bounds.check("max_columns", len(columns))
    check_names(columns, path.name)

    def rows() -> Iterator[Cells]:
        for cells in islice(_filled(_rows(content, sheet)), header.above, None):
            yield cells[: len(columns)]

    def records() -> Iterator[Record]:  # a formula is what it came to
        for number, cells in enumerate(rows()):
            values = [cell.value for cell in cells]
            values += [None] * (len(columns) - len(values))
            for value in values:
                bounds.check("max_cell", len(value) if isinstance(value, str) else 0)
            broken = REPEATED if values == columns else ""
            yield Record(number, dict(zip(columns, values, strict=True)), broken=broken)

    said = "; ".join(filter(None, (words, header.words)))
    return Source("xlsx", tuple(columns), records, said, own=rows)


def _filled(rows: Iterator[Cells]) -> Iterator[Cells]:
    return (cells for cells in rows if any(cell.value is not None for cell in cells))


def _sheet(content: Content, asked: str) -> tuple[int, str]:
    """Return the number of the sheet that holds the rows, and its name where it is not the first.

    It is the one that is asked for, by name or number from 1, else the only one with a table: of
    two rows and, where another has them, two columns. Raises FileError, FileQuestion.
    """
    path = content.path
    with _book(content) as book:
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
    first_rows = {at: list(islice(_filled(_rows(content, at)), 2)) for at in shown}
    tables = [at for at, rows in first_rows.items() if len(rows) == 2]
    filled = {
        at: [sum(cell.value is not None for cell in cells) for cells in rows]
        for at, rows in first_rows.items()
    }
    wide = [at for at in tables if min(filled[at]) > 1]
    likely = wide or tables or shown[:1]
    if len(likely) > 1:
        asking = [quote(names[at]) for at in likely[:MOST_SHEETS]]
        raise FileQuestion(
            f"{path.name} has several sheets with rows: {listed([names[at] for at in likely])}",
            *(f"--sheet {name}" for name in asking),
        )
    return likely[0], f"sheet {names[likely[0]]!r}" if likely != shown[:1] else ""


def _rows(content: Content, number: int) -> Iterator[Cells]:
    with _book(content) as book:
        sheet = book.worksheets[number]
        sheet.reset_dimensions()  # a file may say less of itself than it holds
        yield from sheet.iter_rows()


@contextmanager
def _book(content: Content) -> Iterator[Any]:  # Any: openpyxl's workbook
    from openpyxl.reader.excel import ExcelReader  # loads slowly

    check_content(content, SIGNATURE)
    with reading(content.path.name, *FORM), content.whole() as source:
        parts = WorkbookParts(content, source)
        reader = ExcelReader(source, read_only=True, data_only=True, keep_links=False)
        reader.archive.close()
        reader.archive = parts
        reader.read()
        book = reader.wb
        try:
            yield book
        finally:
            book.close()
