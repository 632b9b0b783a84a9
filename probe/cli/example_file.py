"""A file of examples as commands take it: one of this disk, or a hub's data set."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import typer

from probe.data.hub.dataset import FetchedDataset, fetch, is_reference, read_reference

OR_HUB = "or hub:OWNER/NAME@REVISION:CONFIG/SPLIT"
"""Ends the help of what takes such a file."""


def local_file(file: Path) -> Path:
    """Return a file, fetched first where it is a data set of the hub. Raises FileError."""
    return fetched(file).path if is_reference(file) else file


@cache
def fetched(file: Path) -> FetchedDataset:
    """Fetch a hub's data set once for this process, and say what it is. Raises FileError."""
    asked = read_reference(file)
    folder = Path(mkdtemp(dir=_folder().name))  # data sets of two owners may have one name
    dataset = fetch(asked, folder)
    typer.echo(f"fetched: {dataset.words}", err=True)
    return dataset


@cache
def _folder() -> "TemporaryDirectory[str]":
    """Return a folder that is gone when the process ends."""
    return TemporaryDirectory(prefix="nli-clinic-")
