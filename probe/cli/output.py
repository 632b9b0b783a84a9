"""What several commands write in the same way: JSON, their progress and their end."""

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from probe.data.names import is_reference
from probe.errors import FileError, writing
from probe.statistics import Estimate, percent
from probe.stopping import stopping


def print_json(value: Any) -> None:  # Any: JSON
    """Print a value as indented JSON."""
    typer.echo(json.dumps(value, indent=1))


def print_answer(as_json: bool, value: Any, lines: Iterable[str]) -> None:  # Any: JSON
    """Print what a command found: as indented JSON, or in lines for people."""
    if as_json:
        print_json(value)
    else:
        typer.echo("\n".join(lines))


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


def check_output_files(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Refuse to write over what is read, two files into one, and where no file can be.

    None stands for an option that is not given. Raises FileError.
    """
    known = [path for path in inputs if path and not is_reference(path)]
    for path in filter(None, outputs):
        for other in known:
            linked = path.exists() and other.exists() and path.samefile(other)
            if linked or os.path.realpath(path) == os.path.realpath(other):
                raise FileError(
                    f"{path.name} is named twice; the files that are written need other names"
                )
        if path.is_dir():
            raise FileError(f"{path} cannot be written: it is a folder")
        above = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
        if not above.is_dir():
            raise FileError(f"{path} cannot be written: {above} is no folder")
        known.append(path)


def estimate_words(shape: Mapping[str, Any]) -> str:  # Any: JSON
    """Write an estimate of a summary in per cent with its interval."""
    return percent(Estimate(shape["value"], shape["low"], shape["high"], shape["n"]))


TablesFile = Annotated[
    Path | None,
    typer.Option(help="Where tables of the summary go, as .csv, .md or .tex (booktabs)."),
]


def scored_words(shape: Mapping[str, Any], rows: int, then: str) -> str:  # Any: as above
    """Say how many rows are scored, what `then`, and why the first of the others is not."""
    why = shape["first_error"]
    others = f"; the first of the others is not, for this reason: {why}" if why else ""
    return f"{shape['scored']} of {rows} rows scored, {then}{others}"


def class_lines(shape: Mapping[str, Any]) -> list[str]:  # Any: as above
    """Return the macro F1 of a summary and what its classes come to, nothing without any."""
    lines = list[str]()
    for label, one in shape.get("classes", {}).items():
        told = {"right": one["recall"], "precision": one["precision"]}
        shares = (f"{name} {estimate_words(each)}" for name, each in told.items() if each["n"])
        counts = (
            f"{each['n']:,} as {each['answer']}"
            for each in shape["confusion"]
            if each["gold"] == label
        )
        lines.append(f"  {label:15} {'; '.join(shares)}; called {', '.join(counts) or 'nothing'}")
    if lines:
        lines.insert(0, f"  macro F1 {estimate_words(shape['macro_f1'])}")
    return lines


def slice_lines(shape: Mapping[str, Any]) -> list[str]:  # Any: as above
    """Return the slices of a summary over all gold labels, a line each."""
    return [
        f"{one['group'] + ': ' + one['slice']:55} n {one['n']:5}  "
        + "  ".join(map(estimate_words, (one.get("f1") or one["accuracy"]).values()))
        for one in shape["slices"]
        if one["gold"] == "all"
    ]


@contextmanager
def stopped_by_interrupt() -> Iterator[None]:
    """Let `check_stop` raise Stopped after the first Ctrl-C; a second one ends the command.

    The exception of Python's own would be lost where it comes while an object is destroyed.
    """
    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    before = signal.signal(signal.SIGINT, ask)
    try:
        with stopping(lambda: "interrupted" if asked else ""):
            yield
    finally:
        signal.signal(signal.SIGINT, before)
