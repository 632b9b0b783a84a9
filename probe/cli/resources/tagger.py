"""`python -m probe tagger`: train the part-of-speech tagger."""

import gzip
from pathlib import Path
from typing import Annotated

import typer

from probe.cli.group import group
from probe.errors import FileError, writing
from probe.text.tagger import FOLDER, WEIGHTS_FILE, load
from probe.text.tagger_training import accuracy, save, train
from probe.text.treebank import held_out, read_line

app = group()


@app.callback()
def main() -> None:
    """Train the part-of-speech tagger."""


@app.command("train")
def train_command(
    file: Annotated[Path, typer.Argument(help="gzipped lines of word_TAG")],
    out: Annotated[Path, typer.Option(help="the folder for weights.json")] = FOLDER,
) -> None:
    """Measure on a tenth of the lines what the others teach, then learn from all of them."""
    text = _lines(file)
    lines = {line: read_line(line) for line in text}
    readable = [line for line in text if lines[line][0]]
    typer.echo(f"{len(readable):,} lines; {len(text) - len(readable)} left out for unknown tags")
    tested = [lines[line] for line in readable if held_out(line)]
    with writing(out):
        save(train([lines[line] for line in readable if not held_out(line)]), out)
    share, tokens = accuracy(load(out), tested), sum(len(words) for words, _ in tested)
    typer.echo(f"held out: {share:.2%} of {tokens:,} tokens right, by the weights as written")
    with writing(out):
        save(train([lines[line] for line in readable]), out)
    path = out / WEIGHTS_FILE
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB, learnt from all lines")


def _lines(file: Path) -> list[str]:
    """Return the lines that are not empty. Raises FileError."""
    try:
        with gzip.open(file, "rt", encoding="utf-8") as opened:
            return [line.strip() for line in opened if line.strip()]
    except OSError as problem:
        raise FileError(f"{file} cannot be read: {problem.strerror or problem}") from problem
