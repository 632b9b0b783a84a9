"""`python -m probe tagger`: train the part-of-speech tagger."""

from pathlib import Path
from typing import Annotated

import typer

from probe.cli.group import group
from probe.data.formats.encodings import text_file
from probe.errors import TrainingError, writing
from probe.limits import UNBOUNDED
from probe.text.tagger import FOLDER, WEIGHTS_FILE, held_out, load, read_line
from probe.text.tagger_training import accuracy, save, train

app = group()


@app.callback()
def main() -> None:
    """Train the part-of-speech tagger."""


@app.command("train")
def train_command(
    file: Annotated[Path, typer.Argument(help="Lines of word_TAG, maybe gzipped.")],
    out: Annotated[Path, typer.Option(help="The folder for weights.json.")] = FOLDER,
) -> None:
    """Measure on a tenth of the lines what the others teach, then learn from all of them."""
    with text_file(file, UNBOUNDED).open() as opened:
        text = [line.strip() for line in opened if line.strip()]
    lines = {line: read_line(line) for line in text}
    readable = [line for line in text if lines[line][0]]
    tested = [lines[line] for line in readable if held_out(line)]
    taught = [lines[line] for line in readable if not held_out(line)]
    if not (tested and taught):
        raise TrainingError(
            f"of the lines of {file.name} {len(taught)} are left to learn from and {len(tested)} "
            "to measure on; it takes some of each, of words with known tags, word_TAG"
        )
    typer.echo(f"{len(readable):,} lines; {len(text) - len(readable)} left out for unknown tags")
    with writing(out):
        save(train(taught), out)
    share, tokens = accuracy(load(out), tested), sum(len(words) for words, _ in tested)
    typer.echo(f"held out: {share:.2%} of {tokens:,} tokens right, by the weights as written")
    with writing(out):
        save(train([lines[line] for line in readable]), out)
    path = out / WEIGHTS_FILE
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB, learnt from all lines")
