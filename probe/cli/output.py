"""What several commands write in the same way: JSON and their progress."""

import json
import sys
from pathlib import Path
from typing import Any

import typer

from probe.errors import writing


def print_json(value: Any) -> None:  # Any: JSON
    """Print a value as indented JSON."""
    typer.echo(json.dumps(value, indent=1))


def write_json(value: Any, path: Path) -> None:  # Any: JSON
    """Write a value as indented JSON and make the file's folder. Raises FileError."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def make_folder(folder: Path) -> None:
    """Make a folder before the work whose files go there. Raises FileError."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def show_progress(text: str) -> None:
    """Write how far a command is over the line that says so already."""
    print(f"\r{text} ", end="", file=sys.stderr, flush=True)


def end_progress() -> None:
    """End the line of the progress."""
    print(file=sys.stderr)
