"""A file that grows: what is written at a time is a member of its own where the file is packed.

Members of gzip and frames of zstd follow one another in one file, so that a file which was cut
behind any of them goes on there.
"""

import gzip
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa

from probe.data.formats.unpacking import packing_of
from probe.errors import writing

Packer = Callable[[bytes], bytes]


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=6, mtime=0)


def _zstd(data: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd", 6).compress(data, asbytes=True)
    return packed


PACKERS: Mapping[str, Packer] = {".gz": _gzip, ".zst": _zstd, "": bytes}


class AppendedFile:
    """A file that is written on behind its first bytes, packed as its name says."""

    def __init__(self, path: Path, size: int = 0) -> None:
        """Cut the file to `size` bytes and go on there. Raises FileError."""
        self.place, self.size = path, size
        self._pack = PACKERS[packing_of(path)]
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("r+b" if size else "wb")
            self._file.truncate(size)
            self._file.seek(size)

    def append(self, data: bytes) -> None:
        """Write on, and see that it is on the disk. Raises FileError."""
        if not data:
            return
        with writing(self.place):
            self.size += self._file.write(self._pack(data))
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()
