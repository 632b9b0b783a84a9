"""`python -m benchmarks.parts FILE --part NAME`: draw a part of public sets again.

A part holds all rows whose text in one column, or texts in several, are chosen: the parts of MNLI's
dev sets by `premise`, SQuAD's by `title` or `context`, `nli_train` by `premise` and `hypothesis`.
How these were chosen by chance was not written down, so `benchmarks/parts` lists them, packed: the
first ten hex digits of each text's SHA-256, below the names of the columns. No text stands there.
With `--write` such a list is made of a part.

`nli_train` is of four sets, the training parts of MNLI (43,956 pairs) and SNLI (19,999), LingNLI
(44,932) and Textual-Entailment-New-Protocols (33,971): each is drawn from in turn. Its rows were
mixed, those drawn again have the order of their files and the labels that stand there; a training
that mixes them by a seed sees them in another order. Texts are compared as they are but for blanks
at their ends: who finds fewer rows than are listed has another edition of a set. Of
`squad_train_part` 7,515 rows have no id, so that it is drawn by paragraph, with all questions on
each: the part has 19,340 on 3,956, some of them detokenised, and of 408 answers the first of
several places; those drawn again are as published.
"""

import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.page.app_process import ROOT
from probe.data.source import read_table

FOLDER = ROOT / "benchmarks" / "parts"
DIGITS = 10


def digest(texts: Iterable[object]) -> str:
    """Return what stands for a row's texts in a list."""
    joined = "\t".join(str(text).strip() for text in texts)
    return hashlib.sha256(joined.encode()).hexdigest()[:DIGITS]


def main(
    file: Annotated[Path, typer.Argument(help="A public set, or with --write the part.")],
    part: Annotated[str, typer.Option(help="The name of the part.")],
    out: Annotated[Path, typer.Option(help="Where its rows go, as JSON lines.")] = Path(
        "part.jsonl"
    ),
    columns: Annotated[
        str, typer.Option(help="The file's columns, if named otherwise: sentence1,sentence2.")
    ] = "",
    write: Annotated[str, typer.Option(help="Make the list, by these columns.")] = "",
) -> None:
    """Draw the rows of a part in the order of the file, or list what it was chosen by."""
    frame, listed = read_table(file).frame, FOLDER / f"{part}.txt.gz"
    known = set[str]()
    if write:
        named = write.split(",")
    elif listed.is_file():
        head, *digests = gzip.decompress(listed.read_bytes()).decode().splitlines()
        named, known = columns.split(",") if columns else head.split("\t"), set(digests)
    else:
        names = ", ".join(sorted(path.name.split(".")[0] for path in FOLDER.glob("*.txt.gz")))
        raise typer.BadParameter(f"there is no list of {part!r}; there are: {names}")
    if lacking := [name for name in named if name not in frame]:
        raise typer.BadParameter(
            f"{file.name} has no column {lacking[0]!r}, but {', '.join(map(str, frame))}; "
            "name its own by --columns"
        )
    found = frame[named].apply(digest, axis=1)
    if write:
        lines = ("\t".join(named), *sorted(set(found)))
        listed.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
        typer.echo(f"{len(lines) - 1:,} of {write} in {listed.name}")
        return
    drawn = frame[found.isin(known)]
    drawn.to_json(out, orient="records", lines=True, force_ascii=False)
    typer.echo(
        f"{len(drawn):,} of {len(frame):,} rows, {found[drawn.index].nunique():,} of the "
        f"{len(known):,} that are listed by {' and '.join(named)}"
    )


if __name__ == "__main__":
    typer.run(main)
