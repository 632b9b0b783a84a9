"""The files that a command is to write, looked at before it does any work."""

import os
from collections.abc import Iterable
from pathlib import Path

from probe.data.hub.dataset import is_reference
from probe.errors import FileError


def check_output_files(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Refuse to write over what is read, two files into one, and where no file can be.

    None stands for an option that is not given. Raises FileError.
    """
    known = [path for path in inputs if path and not is_reference(path)]
    for path in filter(None, outputs):
        if any(_same(path, other) for other in known):
            raise FileError(
                f"{path.name} is named twice; the files that are written need other names"
            )
        _require_place(path)
        known.append(path)


def _same(one: Path, other: Path) -> bool:
    """Whether two names are of one file, also through links."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return one.exists() and other.exists() and one.samefile(other)


def _require_place(path: Path) -> None:
    """Refuse a folder, and a file below something that is none. Raises FileError."""
    if path.is_dir():
        raise FileError(f"{path} cannot be written: it is a folder")
    above = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
    if not above.is_dir():
        raise FileError(f"{path} cannot be written: {above} is no folder")
