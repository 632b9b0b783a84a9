"""The files of a run that may be data sets of the hub, as commands take them."""

from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from finetune.experiments.inoculation.user_data import UserFiles
from finetune.training.data import Asked
from probe.cli.example_file import local_file
from probe.data.file_options import FileOptions


def told(options: FileOptions) -> Asked:
    """Return how several files are read; what a person would not expect of that is printed."""
    return Asked(replace(options, one_file=False), tell=partial(typer.echo, err=True))


def local_files(files: UserFiles) -> UserFiles:
    """Return files of this disk, those of the hub fetched. Raises FileError."""
    named: dict[str, Any] = {field.name: getattr(files, field.name) for field in fields(files)}
    paths = {name: path for name, path in named.items() if isinstance(path, Path)}
    return UserFiles(**{**named, **{name: local_file(path) for name, path in paths.items()}})
