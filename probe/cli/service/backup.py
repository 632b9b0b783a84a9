"""`python -m probe backup` and `restore`: the home, to a folder and from it."""

from pathlib import Path
from typing import Annotated

import typer

from probe.runs.backup import back_up, restore
from probe.settings import settings

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Of the back-ups.")]


def backup_command(folder: Folder) -> None:
    """Back up runs and inoculated models, also while the app is in use."""
    changed = back_up(folder)
    typer.echo(f"backed up to {folder}" if changed else "nothing has changed")


def restore_command(folder: Folder) -> None:
    """Restore the newest whole back-up into an empty home."""
    restore(folder)
    typer.echo(f"restored to {settings().home}")
