"""Which tables of the documentation were made with which weights, and what makes them anew.

    python -m benchmarks.figures stale                  # make figures-stale
    python -m benchmarks.figures run --data FOLDER      # make figures DATA=FOLDER

The files of benchmarks/results name the weights and the commands of BENCHMARKS.md's tables. Below
every table of a model's card stands a line such as `Weights: minilm 1a2b3c4d`, with commas between
several models, or `Weights: none`; its commands are the last block of them before it in its
section, or else the first one behind it; those that name other models alone are left out. A table
whose weights are no longer those that are shipped is stale, and so is one that says
`(older weights)`.

`run` computes and writes what each command prints and makes into a folder of its own; the figures
are put into result files and cards by hand.
"""

import hashlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.page.app_process import ROOT
from benchmarks.tables import DIGITS, OLDER, RESULTS, current, made, results

OUT = ROOT / "var" / "figures"
HEADING = re.compile(r"^(?=##)", re.MULTILINE)
TABLE = re.compile(r"(?:^\|.*\n)+(?:\nWeights: (?P<weights>.*)\n)?", re.MULTILINE)
BLOCK = re.compile(r"(?:^    .*\n)+|`(python -m [^`]*)`", re.MULTILINE)
COMMAND = re.compile(r"^    (python -m (?:.*\\\n)*.*)$", re.MULTILINE)
PLACEHOLDERS = re.compile(r"\[[^]]*\]| #.*")
"""What a command's line says to people only: options to choose, and remarks."""
MODEL = re.compile(r"--model (\S+)")
FILE = re.compile(r"assets/.+|.+\.(?:csv|tsv|jsonl?|parquet)(?:\.gz)?")
WRITTEN = ("--out", "--pairs", "--summary")
"""The options whose files a command writes."""

app = typer.Typer(add_completion=False)


@dataclass(frozen=True)
class Table:
    """A table: its place, the hash by model's name (None where it has no line), its commands."""

    path: Path
    line: int
    weights: dict[str, str] | None
    older: bool
    commands: tuple[str, ...]

    @property
    def outdated(self) -> set[str]:
        """The models that it was made with other weights of than those that are shipped."""
        weights = self.weights or {}
        return {name for name, digest in weights.items() if self.older or current(name) != digest}

    @property
    def stale(self) -> bool:
        """Whether it was made with other weights than those that are shipped."""
        return self.older or bool(self.outdated)

    @property
    def place(self) -> str:
        """Its file in the repository and its line."""
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def cards() -> list[Path]:
    """Return the models' cards."""
    return sorted((ROOT / "assets" / "models").glob("*/README.md"))


def result_tables() -> Iterator[Table]:
    """Yield the tables of the result files; those of the gallery have its runs' weights."""
    for name, found in results().items():
        weights = found.weights or {model: current(model) for model in found.models}
        older = bool(found.gallery) and OLDER in made(name, found)
        yield Table(RESULTS / f"{name}.toml", 1, dict(weights), older, found.commands)


def tables(path: Path) -> Iterator[Table]:
    """Yield the tables of a file."""
    line = 1
    for section in HEADING.split(path.read_text(encoding="utf-8")):
        blocks = list(command_blocks(section))
        for found in TABLE.finditer(section):
            place = line + section.count("\n", 0, found.start())
            before = [commands for start, commands in blocks if start < found.start()]
            behind = [commands for start, commands in blocks if start > found.start()]
            commands = (before[-1:] or behind[:1] or [()])[0]
            yield Table(path, place, *named(found["weights"]), commands)
        line += section.count("\n")


def command_blocks(section: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield where commands stand, those of adjoining lines together, and the commands."""
    for block in BLOCK.finditer(section):
        if commands := [block[1]] if block[1] else COMMAND.findall(block[0]):
            yield block.start(), tuple(map(plain, commands))


def named(text: str | None) -> tuple[dict[str, str] | None, bool]:
    """Read what a line says: hashes by name, None for no line, and whether they are older ones."""
    if text is None:
        return None, False
    listed = text.removesuffix(OLDER).strip()
    pairs = [] if listed == "none" else [part.split() for part in listed.split(",")]
    return {name: digest for name, digest in pairs}, text.endswith(OLDER)


def plain(command: str) -> str:
    """Write a documented command on one line, as it can be run."""
    return " ".join(PLACEHOLDERS.sub("", command.replace("\\\n", " ")).split())


def stale_tables() -> list[Table]:
    """Return the tables to be made anew."""
    every = chain(result_tables(), *map(tables, cards()))
    return [table for table in every if table.stale]


def needed(stale: Sequence[Table]) -> dict[str, list[Table]]:
    """Return the commands that make stale tables anew, in their order, each with its tables."""
    outdated = {name for table in stale for name in table.outdated}
    by_command: dict[str, list[Table]] = {}
    for table in stale:
        for command in table.commands:
            models = MODEL.findall(command)
            if not (models and table.outdated) or outdated.intersection(models):
                by_command.setdefault(command, []).append(table)
    return by_command


def with_paths(words: Sequence[str], data: Path | None) -> tuple[list[str], list[str]]:
    """Return a command's words with the paths of the files that it reads, and what is missing."""
    found, missing = [], []
    for option, word in zip(["", *words], words, strict=False):
        path = None
        if FILE.fullmatch(word) and option not in WRITTEN:
            path = file_named(word, data)
            missing += [] if path else [word]
        found.append(str(path or word))
    return found, missing


def file_named(name: str, data: Path | None) -> Path | None:
    """Return a file of the checkout, or else of the folder of data and the folders in it."""
    if (ROOT / name).exists():
        return ROOT / name
    return min(data.rglob(name), default=None) if data else None


def folder_of(command: str, out: Path) -> Path:
    """Return the folder of a command's output, the same each time, so that it can go on there."""
    digest = hashlib.sha256(command.encode()).hexdigest()[:DIGITS]
    return out / f"{command.split()[2]}-{digest}"


def computed(words: Sequence[str], folder: Path) -> str:
    """Run a command in a folder, which takes what it prints; return "", or how it failed."""
    folder.mkdir(parents=True, exist_ok=True)
    errors = folder / "errors.txt"
    with (folder / "output.txt").open("wb") as output, errors.open("wb") as log:
        code = subprocess.run(
            [sys.executable, *words[1:]],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=log,
        ).returncode
    last = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    return ": ".join([f"exit code {code}", *last]) if code else ""


@app.command()
def stale() -> None:
    """List the stale tables, each with the commands that compute it."""
    for command, of in needed(stale_tables()).items():
        for table in of:
            typer.echo(f"{table.place}  {command}")


@app.command()
def run(
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            file_okay=False,
            resolve_path=True,
            help="Where files lie that commands name and the checkout does not have.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(resolve_path=True, help="Where a folder for each command goes.")
    ] = OUT,
) -> None:
    """Compute the figures of the stale tables again, to be put into their files by hand.

    Each command runs in a folder of its own in OUT, where it writes its files, output.txt and
    errors.txt. One that lacks a file is skipped, one that fails is named, and the others go on;
    the exit code is 1 where one failed.
    """
    failed = False
    for command, of in needed(stale_tables()).items():
        typer.echo(f"$ {command}\n  for {', '.join(table.place for table in of)}")
        words, missing = with_paths(shlex.split(command), data)
        if missing:
            typer.echo(f"  skipped: the checkout and --data lack {', '.join(missing)}")
            continue
        folder = folder_of(command, out)
        failure = computed(words, folder)
        typer.echo(f"  {f'failed: {failure}' if failure else 'done'}; see {folder}")
        failed = failed or bool(failure)
    raise typer.Exit(int(failed))


if __name__ == "__main__":
    app()
