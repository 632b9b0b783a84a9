"""What the HANS profile shows: progress, a sentence for each model and heuristic, tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from probe.analysis.hans import NOTE, REPORTED, Profiled, in_heuristics, verdicts
from probe.metrics import percent
from probe.tasks.nli import ENTAILMENT
from probe.templates import subcases
from probe.ui.html.elements import join, meter, note, sheet, twin

GOLDS = {True: "entailed", False: "not entailed"}
Profiles = Mapping[str, Sequence[Profiled]]
"""The profiled sub-cases of each model."""


def progress(profiles: Profiles, models: int) -> Markup:
    """Show how many sub-cases of all models are profiled."""
    total, done = models * len(subcases()), sum(map(len, profiles.values()))
    return meter("sub-cases done", done / total) + note(f"{done} of {total} sub-cases")


def sentences(profiles: Profiles) -> Markup:
    """Say for each model and heuristic whether the published profile is there."""
    lines = join(
        Markup("<li><b>{}</b>, {}: {}.</li>").format(name, heuristic, words)
        for name, rows in profiles.items()
        for heuristic, words in verdicts(rows).items()
    )
    counts = "; ".join(
        f"{case.model} {case.correct:,} of {case.n:,} {GOLDS[case.gold == ENTAILMENT]}"
        for case in REPORTED
    )
    return Markup('<ul class="tests">{}</ul>{}').format(
        lines,
        note(f"fritz reports on HANS itself, right over all three heuristics: {counts}. {NOTE}"),
    )


def tables(profiles: Profiles) -> tuple[Markup, Markup]:
    """Return the table by heuristic and the one by sub-case, a column a model."""
    whole = {name: in_heuristics(rows) for name, rows in profiles.items()}
    cases = sheet(_table(profiles), "accuracy by sub-case")
    return sheet(_table(whole), "accuracy by heuristic"), twin("The 30 sub-cases", cases)


def _table(profiles: Profiles) -> pd.DataFrame:
    first = next(iter(profiles.values()))
    columns: dict[str, list[Any]] = {"heuristic": [row.heuristic for row in first]}
    if any(row.subcase for row in first):
        columns["sub-case"] = [row.subcase for row in first]
    columns["gold"] = [str(row.gold) for row in first]
    columns["n"] = [row.n for row in first]
    return pd.DataFrame(
        columns
        | {name: [percent(row.estimate, "–") for row in rows] for name, rows in profiles.items()}
    )
