"""The files of a run that may be data sets of the hub, as commands take them."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from finetune.experiments.inoculation.user_data import UserFiles
from probe.cli import example_file


def local_files(files: UserFiles) -> UserFiles:
    """Return files of this disk, those of the hub fetched. Raises FileError."""
    return _with(files, example_file.local_file)


def at_commits(files: UserFiles) -> UserFiles:
    """Return the names of files, those of the hub with the commits that were fetched."""
    return _with(files, example_file.at_commit)


def _with(files: UserFiles, change: Callable[[Path], Path]) -> UserFiles:
    named: dict[str, Any] = {field.name: getattr(files, field.name) for field in fields(files)}
    paths = {name: path for name, path in named.items() if isinstance(path, Path)}
    return UserFiles(**{**named, **{name: change(path) for name, path in paths.items()}})
