"""Finished generalisations beside the published ones: Rozen et al. 2019, table 3, and the grid."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from finetune.experiments.generalisation.grid import (
    by_label,
    chosen,
    labelled,
    on_condition,
    on_original,
    untrained,
)
from finetune.experiments.generalisation.grid import estimate as of_all
from finetune.experiments.generalisation.point import Point
from finetune.experiments.generalisation.run import GeneralisationRun, generalisation_runs
from finetune.experiments.generalisation.verdict import at_largest
from finetune.report.markdown import NONE, MarkdownTable, in_percent, with_interval
from probe.metrics import Estimate
from probe.published import published
from probe.runs.run import StoredRun
from probe.tasks.nli import NLI

ALL = "all"
VARIED = {"lexical": "words", "range": "range of numbers"}
"""What is called otherwise than by its name in a plan."""


def generalisation_tables(runs: Iterable[StoredRun]) -> Iterator[MarkdownTable]:
    """Yield for each generalisation of NLI the accuracies before training and the final grid."""
    for run in generalisation_runs(runs):
        if run.plan.task == NLI.name:
            yield before_table(run)
            yield grid_table(run)


def _model(run: GeneralisationRun) -> str:
    return Path(run.plan.model).name


def _varied(run: GeneralisationRun) -> str:
    return VARIED.get(run.plan.vary, run.plan.vary)


def before_table(run: GeneralisationRun) -> MarkdownTable:
    """Return the accuracy before any training by condition and gold label, table 3."""
    paper = published(f"before_{run.plan.phenomenon}", NLI.name) if _has_paper(run) else None
    points = untrained(run.results)
    conditions: dict[str, dict[str, Estimate]] = {
        name: {**by_label(points, name), ALL: on_condition(points, name)}
        for name in run.plan.columns
    }
    every = [point.tests[name] for point in points for name in run.plan.columns]
    conditions[ALL] = {**labelled(every), ALL: of_all(every)}
    labels = [label for label in NLI.labels if label in conditions[ALL]]
    return MarkdownTable(
        f"`{_model(run)}` before any training on the {run.plan.phenomenon} templates: accuracy in "
        f"percent by {_varied(run)} and gold label, all repeats together; table 3.",
        (
            *(_varied(run), "n", *labels, ALL),
            *(f"paper: {label}" for label in (*labels, ALL) if paper),
        ),
        [
            [
                name,
                f"{own[ALL].n:,}",
                *(with_interval(own[label]) if label in own else NONE for label in (*labels, ALL)),
                *(in_percent(paper.value(name, label)) for label in (*labels, ALL) if paper),
            ]
            for name, own in conditions.items()
        ],
        {_model(run): run.artefacts["model"]},
    )


def _has_paper(run: GeneralisationRun) -> bool:
    return run.plan.vary == "complexity" and run.plan.phenomenon in ("dative", "numerical")


def grid_table(run: GeneralisationRun) -> MarkdownTable:
    """Return the accuracy by what was trained on and tested, and that on the original set."""
    points = at_largest(run.plan, chosen(run.results))
    rows: list[tuple[str, Sequence[Point]]] = [("nothing", untrained(run.results))]
    rows += points.items()
    return MarkdownTable(
        f"`{_model(run)}` trained on {max(run.plan.sizes):,} {run.plan.phenomenon} examples of the "
        f"row's {_varied(run)}, tested on the column's: accuracy in percent.",
        ("trained on", "n", *run.plan.columns, "n original", "original"),
        [
            [
                name,
                f"{on_condition(own, run.plan.columns[0]).n:,}",
                *(with_interval(on_condition(own, column)) for column in run.plan.columns),
                f"{on_original(own).n:,}",
                with_interval(on_original(own)),
            ]
            for name, own in rows
        ],
        {_model(run): run.artefacts["model"]},
    )
