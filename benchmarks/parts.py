"""`python -m benchmarks.parts FILE --part NAME`: draw a measured part of a public set again.

A part holds all rows whose text in one column is chosen: MNLI's by `premise`, SQuAD's by `title`.
How these were chosen by chance was not written down, so `benchmarks/parts` lists them: the first
ten hex digits of each text's SHA-256, below the name of the column. No text stands there. With
`--write` such a list is made of a part.
"""

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.page.app_process import ROOT
from probe.data.source import read_table

FOLDER = ROOT / "benchmarks" / "parts"
DIGITS = 10


def digest(text: object) -> str:
    """Return what stands for a text in a list."""
    return hashlib.sha256(str(text).strip().encode()).hexdigest()[:DIGITS]


def main(
    file: Annotated[Path, typer.Argument(help="The public set, or with --write the part.")],
    part: Annotated[str, typer.Option(help="The name of the part.")],
    out: Annotated[Path, typer.Option(help="Where its rows go, as JSON lines.")] = Path(
        "part.jsonl"
    ),
    write: Annotated[str, typer.Option(help="Make the list, by this column.")] = "",
) -> None:
    """Draw the rows of a part in the order of the file, or list what it was chosen by."""
    frame, listed = read_table(file).frame, FOLDER / f"{part}.txt"
    if write:
        digests = sorted({digest(text) for text in frame[write]})
        listed.write_text("\n".join((write, *digests)) + "\n", encoding="utf-8")
        typer.echo(f"{len(digests):,} of {write} in {listed.name}")
        return
    column, *digests = listed.read_text(encoding="utf-8").split()
    drawn = frame[frame[column].map(digest).isin(set(digests))]
    drawn.to_json(out, orient="records", lines=True, force_ascii=False)
    typer.echo(f"{len(drawn):,} of {len(frame):,} rows, {drawn[column].nunique():,} of {column}")


if __name__ == "__main__":
    typer.run(main)
