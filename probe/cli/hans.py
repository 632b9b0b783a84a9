"""`python -m probe hans`: the heuristics of HANS, by model."""

import json
import sys
from typing import Annotated, get_args

import typer

from probe.analysis.hans import (
    NOTE,
    REPORTED,
    Profiled,
    hans_json,
    in_heuristics,
    profile,
    verdicts,
)
from probe.cli.compare import Json, Models, PrecisionText, percent
from probe.cli.exit import one_of, stop
from probe.cli.open_models import LabelsOf, all_opened
from probe.errors import UserError
from probe.models.classifier import Precision


def hans_command(
    models: Models = ["minilm"],  # noqa: B006
    n: Annotated[int, typer.Option("--n", min=1, help="Pairs for each of 30 sub-cases.")] = 100,
    seed: int = 0,
    labels: LabelsOf = [],  # noqa: B006
    precision: PrecisionText = "auto",
    as_json: Json = False,
) -> None:
    """Measure the heuristics of HANS on template pairs, entailed and other pairs apart."""
    exact = one_of("precision", precision, get_args(Precision))
    found: dict[str, list[Profiled]] = {}
    try:
        for name, classifier in zip(models, all_opened(models, labels), strict=True):
            found[name] = []
            for row in profile(classifier, n, seed, exact):
                found[name].append(row)
                print(f"\r{name}: {len(found[name])}/30 sub-cases ", end="", file=sys.stderr)
            print(file=sys.stderr)
    except UserError as problem:
        stop(problem)
    shape = hans_json(found, n, seed, exact)
    typer.echo(json.dumps(shape, indent=1) if as_json else _hans_text(found))


def _hans_text(found: dict[str, list[Profiled]]) -> str:
    lines = []
    for name, rows in found.items():
        lines.append(name)
        for row in [*in_heuristics(rows), *rows]:
            reached = percent(row.accuracy, row.low, row.high)
            lines.append(f"  {row.subcase or row.heuristic:31} {row.gold:15} n {row.n:5} {reached}")
        lines += [f"  {heuristic}: {words}" for heuristic, words in verdicts(rows).items()]
    for one in REPORTED:
        counts = f"{one.correct:,} of {one.n:,} right"
        lines.append(f"HANS itself, {one.model}, {one.gold}: {counts} ({one.source})")
    return "\n".join([*lines, NOTE])
