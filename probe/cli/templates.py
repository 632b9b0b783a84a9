"""`python -m probe templates`: write generated pairs to a file, row by row."""

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Annotated

import typer

from probe.cli.exit import stop
from probe.data.tables import form_of
from probe.errors import FileError, UserError
from probe.templates.generate import generate
from probe.templates.pairs import TemplatePair
from probe.templates.request import Request, read_range

COLUMNS = (
    "id",
    "premise",
    "hypothesis",
    "label",
    "kind",
    "template",
    "complexity",
    "lexical",
    "heuristic",
    "subcase",
)


def templates_command(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="dative, numerical or hans.")],
    out: Annotated[Path, typer.Option(help="A .csv, .tsv or .jsonl file.")],
    n: Annotated[int, typer.Option(help="How many pairs.")] = 1000,
    seed: int = 0,
    complexity: Annotated[str, typer.Option(help="simple, medium, complex; all if empty.")] = "",
    lexical: Annotated[str, typer.Option(help="Words of group A, B or B2; A and B if empty.")] = "",
    template: Annotated[list[str], typer.Option(help="Id; may be repeated; all if none.")] = [],  # noqa: B006
    numbers: Annotated[str, typer.Option("--range", metavar="LO-HI")] = "2-999",
    integer_strict: Annotated[
        bool, typer.Option("--integer-strict", help="Label for whole numbers.")
    ] = False,
    heuristic: Annotated[
        str, typer.Option(help="lexical_overlap, subsequence or constituent.")
    ] = "",
    subcase: Annotated[str, typer.Option(help="A sub-case of HANS.")] = "",
    balance: Annotated[
        bool, typer.Option(help="Balance the labels, or make all there are.")
    ] = True,
) -> None:
    """Write pairs made from templates."""
    try:
        low, high = read_range(numbers)
        request = Request(
            kind,
            complexity,
            lexical,
            tuple(template),
            low,
            high,
            integer_strict,
            heuristic,
            subcase,
            balance,
        )
        write_made(generate(request, n, seed), out)
    except UserError as problem:
        stop(problem)
    typer.echo(f"{n:,} pairs written to {out}")


def write_made(rows: Iterable[TemplatePair], path: Path) -> None:
    """Write rows as they come, in the form that the name says. Raises FileError."""
    form = form_of(path)
    if form not in WRITERS or path.suffix.lower() == ".gz":
        raise FileError(f"{path.name}: pairs are written row by row; name the file .csv or .jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        WRITERS[form](map(cells, rows), file)


def cells(made: TemplatePair) -> dict[str, str]:
    """Return a row of the file."""
    return {name: str(made.gold if name == "label" else getattr(made, name)) for name in COLUMNS}


def _delimited(rows: Iterable[dict[str, str]], file: IO[str]) -> None:
    _table(rows, file, ",", "\r\n")


def _tabbed(rows: Iterable[dict[str, str]], file: IO[str]) -> None:
    _table(rows, file, "\t", "\n")  # the texts hold neither tabs nor quotation marks


def _table(rows: Iterable[dict[str, str]], file: IO[str], mark: str, end: str) -> None:
    writer = csv.DictWriter(file, COLUMNS, delimiter=mark, lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)


def _json_lines(rows: Iterable[dict[str, str]], file: IO[str]) -> None:
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


WRITERS: dict[str, Callable[[Iterable[dict[str, str]], IO[str]], None]] = {
    "csv": _delimited,
    "tsv": _tabbed,
    "jsonl": _json_lines,
}
