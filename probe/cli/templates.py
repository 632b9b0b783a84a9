"""`python -m probe templates`: write generated pairs to a file, row by row."""

from pathlib import Path
from typing import Annotated

import typer

from probe.cli.output_files import check_output_files
from probe.templates.files import write_pairs
from probe.templates.generate import generate
from probe.templates.grammar import grammar
from probe.templates.request import Request, read_range


def templates_command(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="dative, numerical, hans, word_order.")
    ],
    out: Annotated[Path, typer.Option(help="A .csv, .tsv or .jsonl file.")],
    n: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 1000,
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
    check_output_files([], [out])
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
    write_pairs(generate(request, n, seed), grammar(kind).task, out)
    typer.echo(f"{n:,} pairs written to {out}")
