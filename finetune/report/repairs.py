"""Finished repairs beside the published ones: Gupta et al. 2021, tables 8, 9, 11, 12 and 18."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import finetune.trials.calibration as calibration
import finetune.trials.mitigation as mitigation
import finetune.trials.transfer as transfer
from finetune.report.command_line import command_line
from finetune.trials.calibration import METHODS as CALIBRATIONS
from finetune.trials.calibration import Point as Calibrated
from finetune.trials.calibration import plan_from as calibration_plan
from finetune.trials.mitigation import METHODS as REPAIRS
from finetune.trials.mitigation import Point as Repaired
from finetune.trials.mitigation import plan_from as mitigation_plan
from finetune.trials.transfer import Lesson, largest
from finetune.trials.transfer import Point as Taught
from finetune.trials.transfer import plan_from as transfer_plan
from probe.published import PublishedTable, published_for
from probe.runs.run import Json, StoredRun
from probe.statistics import NOTHING, Estimate, interval, mean_error, wilson
from probe.text.words import listing
from probe.transforms.registry import REGISTRY

NONE = "–"


@dataclass(frozen=True)
class MarkdownTable:
    """A table: what it shows in a sentence, its columns and rows.

    `models` are those that it is about, by name, with the hashes that their runs began with.
    """

    says: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    models: Mapping[str, str]


def written(table: MarkdownTable) -> str:
    """Write the rows of a table, with its columns above them."""
    head, *rows = (f"| {' | '.join(row)} |\n" for row in (table.heads, *table.rows))
    return "".join((head, f"|{'---|' * len(table.heads)}\n", *rows))


def in_percent(value: float | None) -> str:
    """Write a share in per cent, a dash for none."""
    return NONE if value is None else f"{100 * value:.1f}"


def with_interval(estimate: Estimate) -> str:
    """Write a share in per cent with its interval, such as 81.5 (80.4–82.6)."""
    return f"{in_percent(estimate.value)} ({interval(estimate, '–')})" if estimate.n else NONE


def mean_share(shares: Iterable[float], n: int) -> Estimate:
    """Return the mean of shares with Wilson's interval for n examples."""
    values = list(shares)
    if not values or not n:
        return NOTHING
    return wilson(fmean(values) * n, n)


FAMILIES: Mapping[str, str] = {
    "lexical": "lexical",
    "gradient": "gradient",
    "statistical": "PBSMT",
}
"""The families of word salad, and what the paper calls them."""
ONLY: Mapping[str, Lesson] = {"clean": "clean_only", "salad": "salad_only"}
"""What alone is trained on in table 11, by the row's name."""


def repair_tables(runs: Iterable[StoredRun]) -> Iterator[MarkdownTable]:
    """Yield the tables that there are runs for, in the paper's order."""
    by_kind: dict[str, list[StoredRun]] = {}
    for run in runs:
        by_kind.setdefault(run.kind, []).append(run)
    if calibrated := by_kind.get(calibration.KIND):
        yield calibration_table(calibrated)
        yield agreement_table(calibrated)
    if taught := by_kind.get(transfer.KIND):
        yield salad_only_table(taught)
    if repaired := by_kind.get(mitigation.KIND):
        yield mitigation_table(repaired)
    yield from (transfer_table(run) for run in taught or ())


def name_of(run: StoredRun) -> str:
    """Return the model's name without the folders of its path."""
    return Path(run.plan["model"]).name


def beside(name: str, run: StoredRun) -> PublishedTable | None:
    """Return what the paper has beside a run."""
    return published_for(name, run.plan["task"], name_of(run))


def settings(runs: Sequence[StoredRun]) -> str:
    """Say how the models were trained, once for those that were trained alike."""
    models: dict[str, list[str]] = {}
    for run in runs:
        how = run.plan["training"]
        repeats = len(set(run.plan["seeds"]))
        words = (
            f"{how['mode']} mode, {max(run.plan['sizes']):,} examples, {how['epochs']} epochs, "
            f"{repeats} repeat{'s' * (repeats > 1)}"
        )
        models.setdefault(words, []).append(f"`{name_of(run)}`")
    return "; ".join(f"{listing(names)}: {words}" for words, names in models.items())


def _models(*runs: StoredRun) -> dict[str, str]:
    return {name_of(run): run.artefacts["model"] for run in runs}


def _paper(table: PublishedTable | None, row: str, column: str) -> str:
    return in_percent(table.value(row, column) if table else None)


def calibration_table(runs: Sequence[StoredRun]) -> MarkdownTable:
    """Return accuracy and calibration error by method, table 8."""
    return MarkdownTable(
        "Accuracy on whole texts, and calibration error beside that of perfectly calibrated "
        f"answers by chance; table 8. {settings(runs)}.",
        ("model", "method", "n", "accuracy", "error", "paper: accuracy", "paper: error"),
        [row for run in runs for row in _calibration_rows(run)],
        _models(*runs),
    )


def _calibration_rows(run: StoredRun) -> Iterator[list[str]]:
    paper = beside("calibration", run)
    for method, points in _calibrated(run).items():
        measured = [point.calibration for point in points]
        n, error = measured[0].n, mean_error(measured)
        yield [
            f"`{name_of(run)}`",
            CALIBRATIONS[method].title,
            f"{n:,}",
            with_interval(mean_share((each.accuracy for each in measured), n)),
            f"{with_interval(error.found)}, by chance {in_percent(error.chance.value)}",
            _paper(paper, method, "accuracy"),
            _paper(paper, method, "ece"),
        ]


def _calibrated(run: StoredRun) -> dict[str, list[Calibrated]]:
    """Return the points by method, those of trainings at the largest size."""
    rows: dict[str, list[Calibrated]] = {}
    for point in calibration.points_of(run):
        if point.cell.size in (0, max(run.plan["sizes"])):
            rows.setdefault(point.cell.method, []).append(point)
    return rows


def agreement_table(runs: Sequence[StoredRun]) -> MarkdownTable:
    """Return the agreement on word salad by method and family, table 9."""
    papers = [f"paper: {title}" for title in FAMILIES.values()]
    return MarkdownTable(
        "Agreement on word salad, the mean over a family's transforms; n is of that which "
        f"changed fewest; table 9. {settings(runs)}.",
        ("model", "method", "n", *FAMILIES.values(), *papers),
        [row for run in runs for row in _agreement_rows(run)],
        _models(*runs),
    )


def _agreement_rows(run: StoredRun) -> Iterator[list[str]]:
    paper = beside("calibrated_agreement", run)
    for method, points in _calibrated(run).items():
        yield [
            f"`{name_of(run)}`",
            CALIBRATIONS[method].title,
            f"{min(each.n for point in points for each in point.salad.values()):,}",
            *(with_interval(_agreement(points, family)) for family in FAMILIES),
            *(_paper(paper, method, family) for family in FAMILIES),
        ]


def _agreement(points: Sequence[Calibrated], family: str) -> Estimate:
    of_family = [
        each
        for point in points
        for name, each in point.salad.items()
        if REGISTRY[name].family == family and each.n
    ]
    n = min((each.n for each in of_family), default=0)
    return mean_share((each.agree / each.n for each in of_family), n)


def salad_only_table(runs: Sequence[StoredRun]) -> MarkdownTable:
    """Return what trainings on whole and on shuffled texts come to on whole ones, table 11."""
    return MarkdownTable(
        "Accuracy on whole texts, trained on these or on shuffled ones; table 11. "
        f"{settings(runs)}.",
        ("model", "n", "whole", "shuffled", "paper: whole", "paper: shuffled"),
        [row for run in runs for row in _salad_only_rows(run)],
        _models(*runs),
    )


def _salad_only_rows(run: StoredRun) -> Iterator[list[str]]:
    paper, plan, points = (
        beside("salad_only", run),
        transfer_plan(run.plan),
        transfer.points_of(run),
    )
    trained = {row: largest(plan, points, lesson) for row, lesson in ONLY.items()}
    if all(trained.values()):
        yield [
            f"`{name_of(run)}`",
            f"{trained['clean'][0].clean.n:,}",
            *(with_interval(_clean(each)) for each in trained.values()),
            *(_paper(paper, row, "accuracy") for row in ONLY),
        ]


def _clean(points: Sequence[Taught] | Sequence[Repaired]) -> Estimate:
    return mean_share((point.clean.share for point in points), points[0].clean.n)


def mitigation_table(runs: Sequence[StoredRun]) -> MarkdownTable:
    """Return clean accuracy and what is found invalid by method, table 12."""
    return MarkdownTable(
        "Accuracy on whole texts and share of broken ones found invalid, the mean over the "
        f"transforms; table 12. {settings(runs)}.",
        (
            "model",
            "method",
            "n",
            "accuracy",
            "broken",
            "found",
            "paper: accuracy",
            "paper: found",
        ),
        [row for run in runs for row in _mitigation_rows(run)],
        _models(*runs),
    )


def _mitigation_rows(run: StoredRun) -> Iterator[list[str]]:
    paper = beside("mitigation", run)
    rows: dict[str, list[Repaired]] = {}
    for point in mitigation.points_of(run):
        if point.cell.size in (0, max(run.plan["sizes"])):
            rows.setdefault(point.cell.method, []).append(point)
    for method, points in rows.items():
        n = min(each.n for each in points[0].found.values())
        yield [
            f"`{name_of(run)}`",
            REPAIRS[method].title,
            f"{points[0].clean.n:,}",
            with_interval(_clean(points)),
            f"{n:,}",
            with_interval(mean_share((point.invalid_found for point in points), n)),
            _paper(paper, method, "clean"),
            _paper(paper, method, "invalid_found"),
        ]


def transfer_table(run: StoredRun) -> MarkdownTable:
    """Return what each training finds of each kind of broken text and leaves right, table 18."""
    paper, plan = beside("transfer", run), transfer_plan(run.plan)
    points = largest(plan, transfer.points_of(run), "one")
    counts = {each.n for point in points for each in point.found.values()}
    tests = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
    beside_it = "behind a stroke the paper's; table 18" if paper else "table 18 has MNLI alone"
    return MarkdownTable(
        f"Found invalid, taught the row's transform, tested on {tests} texts of the column's; "
        f"{beside_it}. {settings([run])}.",
        ("taught", *(f"`{name}`" for name in plan.transforms), "accuracy on whole texts"),
        [
            [
                f"`{row}`",
                *(_transfer_cell(points, paper, row, each) for each in plan.transforms),
                with_interval(_clean([each for each in points if each.cell.transform == row])),
            ]
            for row in plan.transforms
        ],
        _models(run),
    )


def _transfer_cell(
    points: Sequence[Taught], paper: PublishedTable | None, row: str, column: str
) -> str:
    found = [
        point.found[column]
        for point in points
        if point.cell.transform == row and column in point.found
    ]
    estimate = mean_share((each.share for each in found), found[0].n if found else 0)
    printed = f" / {_paper(paper, row, column)}" if paper else ""
    return f"{with_interval(estimate)}{printed}"


PLANS: Mapping[str, tuple[str, Callable[[Json], Any]]] = {  # Any: each kind has a plan of its own
    calibration.KIND: ("calibrate", calibration_plan),
    mitigation.KIND: ("mitigate", mitigation_plan),
    transfer.KIND: ("transfer", transfer_plan),
}
"""The command of each kind of repair, and how its plan is read."""


def repair_command(run: StoredRun) -> str:
    """Return the command that repeats a calibration, a mitigation or a transfer."""
    verb, read = PLANS[run.kind]
    return command_line(verb, read(run.plan), run.artefacts, f"{run.kind}/{name_of(run)}")
