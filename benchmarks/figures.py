"""Which tables of the documentation were made with which weights, and what makes them anew.

    python -m benchmarks.figures stale      # make figures-stale
    python -m benchmarks.figures run        # make figures

Below every table of BENCHMARKS.md and of the models' cards stands a line such as
`Weights: minilm 1a2b3c4d`, with commas between several models, or `Weights: none` where a table
depends on no model. A table whose weights are no longer those that are shipped is stale, and so is
one that says `(older weights)`. The command of a table is the last one before it in its section, or
else the first one behind it.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from benchmarks.page.app_process import ROOT
from probe.models.weights.hashes import weights_hash

DIGITS = 8
"""How much of a hash a table names."""
OLDER = "(older weights)"
HEADING = re.compile(r"^(?=##)", re.MULTILINE)
TABLE = re.compile(r"(?:^\|.*\n)+(?:\nWeights: (?P<weights>.*)\n)?", re.MULTILINE)
COMMAND = re.compile(r"^    (python -m (?:.*\\\n)*.*)$|`(python -m [^`]*)`", re.MULTILINE)
PLACEHOLDERS = re.compile(r"\[[^]]*\]| #.*")
"""What a command's line says to people only: options to choose, and remarks."""

app = typer.Typer(add_completion=False)


@dataclass(frozen=True)
class Table:
    """A table: its place, the hash by model's name (None where it has no line), its command."""

    path: Path
    line: int
    weights: dict[str, str] | None
    older: bool
    command: str

    @property
    def stale(self) -> bool:
        """Whether it was made with other weights than those that are shipped."""
        now = {name: current(name) for name in self.weights or {}}
        return self.older or now != (self.weights or {})


def current(name: str) -> str:
    """Return the hash of a shipped model's weights as a table names it, "" for no such model."""
    folder = ROOT / "assets" / "models" / name
    return weights_hash(folder)[:DIGITS] if folder.is_dir() else ""


def documents() -> list[Path]:
    """Return the files that have such tables."""
    return [ROOT / "BENCHMARKS.md", *sorted((ROOT / "assets" / "models").glob("*/README.md"))]


def tables(path: Path) -> Iterator[Table]:
    """Yield the tables of a file."""
    line = 1
    for section in HEADING.split(path.read_text(encoding="utf-8")):
        commands = [(found.start(), found[1] or found[2]) for found in COMMAND.finditer(section)]
        for found in TABLE.finditer(section):
            place = line + section.count("\n", 0, found.start())
            before = [command for start, command in commands if start < found.start()]
            behind = [command for start, command in commands if start > found.start()]
            command = (before[-1:] or behind[:1] or [""])[0]
            yield Table(path, place, *named(found["weights"]), plain(command))
        line += section.count("\n")


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
    return [table for path in documents() for table in tables(path) if table.stale]


@app.command()
def stale() -> None:
    """List the stale tables, each with the command that computes it."""
    for table in stale_tables():
        typer.echo(f"{table.path.relative_to(ROOT)}:{table.line}  {table.command}")


@app.command()
def run() -> None:
    """Run the command of each stale table, in the repository; their figures are to be pasted."""
    for command in dict.fromkeys(table.command for table in stale_tables()):
        typer.echo(f"$ {command}")
        subprocess.run([sys.executable, *shlex.split(command)[1:]], cwd=ROOT, check=True)


if __name__ == "__main__":
    app()
