"""The parts of a workbook's archive, counted as they are read.

A few bytes of a workbook may say that its next row is number two billion, hold a million rows of
nothing or ten million shared texts. openpyxl takes all of it before anybody sees a row. So each
part passes through here first, in pieces, and is refused at the first row, cell or text too many.
"""

import io
import zipfile
from pathlib import Path
from string import digits
from typing import IO, Any, Literal
from xml.parsers.expat import ExpatError, ParserCreate

from probe.data.formats.unpacking import MEGABYTE, PIECE_BYTES, pieces_of
from probe.errors import FileError
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

    def __init__(self, path: Path, bounds: Bounds) -> None:
        """Open it, once its number of files and their sizes are seen to be within bounds."""
        self._path, self._bounds = path, bounds
        if bounds != UNBOUNDED:
            with path.open("rb") as file:
                count = sum(piece.count(ENTRY) for piece in pieces_of(file))
            if count > MAX_PARTS:
                raise FileError(f"{path.name} is a workbook of more than {MAX_PARTS:,} files")
        super().__init__(path)
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
            self._row = _number(attributes.get("r"), self._row + 1)
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


def _number(written: str | None, following: int) -> int:
    """Read the number of a row as openpyxl does; without one it is the following."""
    try:
        return following if written is None else int(written)
    except ValueError:
        try:
            return int(float(str(written)))
        except (ValueError, OverflowError):
            return following  # openpyxl refuses it


def _column(place: str) -> int:
    """Return the number of a cell's column, 0 where its place tells none."""
    from openpyxl.utils import column_index_from_string  # loads slowly

    try:
        return column_index_from_string(place.rstrip(digits))
    except ValueError:
        return 0
