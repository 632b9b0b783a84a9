"""`python -m probe hans`: the heuristics of HANS, by model."""

from typing import Annotated

import typer

from probe.analysis.comparison import require_different
from probe.analysis.hans import (
    NOTE,
    REPORTED,
    Profiled,
    hans_json,
    in_heuristics,
    profile,
    verdicts,
)
from probe.cli.options import AsJson, LabelOrders, PrecisionName, all_opened
from probe.cli.output import end_progress, print_answer, show_progress
from probe.statistics import percent


def hans_command(
    models: Annotated[
        list[str], typer.Option("--model", help="Name, folder or hub id; may be repeated.")
    ] = ["minilm"],  # noqa: B006
    n: Annotated[int, typer.Option("--n", min=1, help="Pairs for each of 30 sub-cases.")] = 100,
    seed: int = 0,
    labels: LabelOrders = [],  # noqa: B006
    precision: PrecisionName = "auto",
    as_json: AsJson = False,
) -> None:
    """Measure the heuristics of HANS on template pairs, entailed and other pairs apart."""
    require_different(models)
    profiles: dict[str, list[Profiled]] = {}
    for name, classifier in zip(models, all_opened(models, labels), strict=True):
        profiles[name] = []
        for row in profile(classifier, n, seed, precision):
            profiles[name].append(row)
            show_progress(f"{name}: {len(profiles[name])}/30 sub-cases")
        end_progress()
    lines = []
    for name, rows in profiles.items():
        lines.append(name)
        for row in [*in_heuristics(rows), *rows]:
            reached = percent(row.estimate)
            lines.append(f"  {row.subcase or row.heuristic:31} {row.gold:15} n {row.n:5} {reached}")
        lines += [f"  {heuristic}: {words}" for heuristic, words in verdicts(rows).items()]
    for one in REPORTED:
        counts = f"{one.correct:,} of {one.n:,} right"
        lines.append(f"HANS itself, {one.model}, {one.gold}: {counts} ({one.source})")
    print_answer(as_json, hans_json(profiles, n, seed, precision), [*lines, NOTE])
