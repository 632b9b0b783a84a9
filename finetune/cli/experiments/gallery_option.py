"""The option that keeps a finished run in a gallery, alike in all commands that have it."""

from pathlib import Path
from typing import Annotated

import typer

from probe.cli.output import make_folder
from probe.runs.gallery import write
from probe.runs.run import StoredRun


def _made(gallery: Path | None) -> Path | None:
    """Make the folder before the run that it is to keep. Raises FileError."""
    if gallery:
        make_folder(gallery)
    return gallery


GalleryFolder = Annotated[
    Path | None,
    typer.Option(callback=_made, help="A gallery that keeps the finished run, as assets/gallery."),
]


def keep(gallery: Path | None, model: str, kind: str, run: StoredRun) -> None:
    """Write a run into a gallery, where one is asked for, and say where it lies."""
    if gallery:
        typer.echo(f"written: {write(gallery, f'{Path(model).name}-{kind}', run)}")
