"""The bytes of a file as a stream, unpacked where gzip or zstd packed them, within a bound."""

import io
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, AnyStr

import pyarrow as pa

from probe.errors import FileError, what_is_wrong
from probe.limits import UNBOUNDED, Bounds
from probe.stopping import check_stop

PIECE_BYTES = 1 << 16
MAX_MEMBERS = 100_000
"""Members of a visitor's gzip file; each costs time even where it holds nothing."""
MEGABYTE = 1_000_000


class Pieces(io.RawIOBase):
    """Pieces of bytes as a stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = filter(None, pieces)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """Say that the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:  # Any: a writable buffer, which 3.10 has no type for
        """Fill the buffer as far as the next piece goes; return the count of bytes."""
        if not self._left:
            self._left = memoryview(self._next_piece())
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def _next_piece(self) -> bytes:
        return next(self._pieces, b"")


class Unpacked(Pieces):
    """The bytes of a file, unpacked as the end of its name says.

    Reading raises LimitError as soon as there are more bytes than the bound, FileError where the
    file cannot be opened or unpacked.
    """

    def __init__(self, path: Path, bounds: Bounds) -> None:
        self._name, self._bounds = path.name, bounds
        try:
            self._file = path.open("rb")
        except OSError as problem:
            raise self._refusal(problem) from problem
        super().__init__(PACKINGS[packing_of(path)](self._file, bounds))
        self._bytes = 0

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def _next_piece(self) -> bytes:
        check_stop()
        try:
            piece = super()._next_piece()
        except (OSError, EOFError, zlib.error) as problem:
            raise self._refusal(problem) from problem
        self._bytes += len(piece)
        self._bounds.check("max_unpacked_mb", self._bytes / MEGABYTE)
        return piece

    def _refusal(self, problem: Exception) -> FileError:
        words = str(problem) if isinstance(problem, EOFError) else what_is_wrong(problem)
        return FileError(f"{self._name} cannot be opened: {words}")


def packing_of(path: Path) -> str:
    """Return the end of a name that says how the file is packed, "" where it is not."""
    suffix = path.suffix.lower()
    return suffix if suffix in PACKINGS else ""


HELD_BYTES = 1 << 24
"""Bytes of an unpacked file that stay in memory, so that it is opened once; a larger one is opened
anew for each pass."""


@dataclass(frozen=True)
class Content:
    """The unpacked bytes of a file, which are `held` in memory where they are few."""

    path: Path
    bounds: Bounds
    held: bytes | None = field(default=None, repr=False, compare=False)

    def open(self) -> IO[bytes]:
        """Open the bytes. Raises FileError; reading raises as `Unpacked` does."""
        return open_bytes(self.path, self.bounds) if self.held is None else io.BytesIO(self.held)

    @contextmanager
    def whole(self) -> Iterator[Path | io.BytesIO]:
        """Give the bytes, or a file that holds them for as long as the block lasts.

        Raises FileError, LimitError.
        """
        if self.held is not None:
            yield io.BytesIO(self.held)
        elif not packing_of(self.path):
            yield self.path
        else:
            with TemporaryDirectory() as folder:
                copy = Path(folder) / self.path.with_suffix("").name
                with self.open() as packed, copy.open("wb") as file:
                    shutil.copyfileobj(packed, file, PIECE_BYTES)
                yield copy


def content_of(path: Path, bounds: Bounds) -> Content:
    """Read a file's bytes if they are few. Raises FileError, LimitError."""
    with open_bytes(path, bounds) as file:
        begun = file.read(HELD_BYTES + 1)
    return Content(path, bounds, begun if len(begun) <= HELD_BYTES else None)


def open_bytes(path: Path, bounds: Bounds) -> IO[bytes]:
    """Open a file's unpacked bytes. Raises FileError; reading raises as `Unpacked` does."""
    return io.BufferedReader(Unpacked(path, bounds), PIECE_BYTES)


def pieces_of(file: IO[AnyStr], size: int = PIECE_BYTES) -> Iterator[AnyStr]:
    """Yield what a file holds piece by piece."""
    while piece := file.read(size):
        yield piece


def _plain(file: IO[bytes], bounds: Bounds) -> Iterator[bytes]:
    return pieces_of(file)


def _gunzip(file: IO[bytes], bounds: Bounds) -> Iterator[bytes]:
    """Yield what the members of a gzip file hold, some of it empty, a piece at a time."""
    packed = file.read(PIECE_BYTES)
    members = 0
    while packed:
        members += 1
        if members > MAX_MEMBERS and bounds != UNBOUNDED:
            raise EOFError(f"it has more than {MAX_MEMBERS:,} gzip members; pack it anew")
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        while not member.eof:
            piece = member.decompress(packed, PIECE_BYTES)
            packed = member.unconsumed_tail
            yield piece
            if not (piece or packed or member.eof):
                packed = _more(file)
        packed = member.unused_data.lstrip(b"\0") or file.read(PIECE_BYTES)


def _more(file: IO[bytes]) -> bytes:
    packed = file.read(PIECE_BYTES)
    if not packed:
        raise EOFError("it ends too early")
    return packed


def _unzstd(file: IO[bytes], bounds: Bounds) -> Iterator[bytes]:
    """Yield what the frames of a zstd file hold, a piece at a time."""
    with pa.CompressedInputStream(pa.PythonFile(file), "zstd") as stream:
        yield from pieces_of(stream)


PACKINGS: Mapping[str, Callable[[IO[bytes], Bounds], Iterator[bytes]]] = {
    "": _plain,
    ".gz": _gunzip,
    ".zst": _unzstd,
}
"""What unpacks a file, by the end of its name."""
