"""Finished runs beside the published figures: Gupta et al. 2021, tables 8, 9, 11, 12 and 18, and
Rozen et al. 2019, table 3 and the grid behind it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from finetune.trials import calibration, mitigation, transfer
from finetune.trials.generalisation import (
    GeneralisationRun,
    at_largest,
    by_label,
    chosen,
    estimate,
    generalisation_runs,
    labelled,
    on_condition,
    on_original,
    untrained,
)
from finetune.trials.transfer import Lesson, largest
from finetune.trials.transfer import Point as Taught
from probe.published import PublishedTable, published, published_for
from probe.runs.run import StoredRun
from probe.statistics import NOTHING, Estimate, interval, mean_error, wilson
from probe.tasks.nli import NLI
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


def with_interval(measured: Estimate) -> str:
    """Write a share in per cent with its interval, such as 81.5 (80.4–82.6)."""
    return f"{in_percent(measured.value)} ({interval(measured, '–')})" if measured.n else NONE


def mean_share(shares: Iterable[float], n: int) -> Estimate:
    """Return the mean of shares with Wilson's interval for n examples."""
    values = list(shares)
    return wilson(fmean(values) * n, n) if values and n else NOTHING


def _name(run: StoredRun) -> str:
    return Path(run.plan["model"]).name


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
        models.setdefault(words, []).append(f"`{_name(run)}`")
    return "; ".join(f"{listing(names)}: {words}" for words, names in models.items())


Paper = Callable[[str, str], str]
"""Writes what the paper has in a row and column beside a run, a dash where it has nothing."""
METHODS: Mapping[str, tuple[Any, Any]] = {  # Any: each kind has methods and points of its own
    calibration.KIND: (calibration.METHODS, calibration.points_of),
    mitigation.KIND: (mitigation.METHODS, mitigation.points_of),
}


def _by_method(run: StoredRun) -> Iterator[tuple[str, list[str], list[Any]]]:
    """Yield each method, how its row begins, and its points, those of the largest size."""
    (methods, points_of), rows = METHODS[run.kind], dict[str, list[Any]]()
    for point in points_of(run):
        if point.cell.size in (0, max(run.plan["sizes"])):
            rows.setdefault(point.cell.method, []).append(point)
    for method, points in rows.items():
        yield method, [f"`{_name(run)}`", methods[method].title], points


def _clean(points: Sequence[Taught] | Sequence[mitigation.Point]) -> Estimate:
    return mean_share((point.clean.share for point in points), points[0].clean.n)


def _calibrated(run: StoredRun, paper: Paper) -> Iterator[list[str]]:
    for method, begins, points in _by_method(run):
        measured = [point.calibration for point in points]
        n, error = measured[0].n, mean_error(measured)
        yield [
            *begins,
            f"{n:,}",
            with_interval(mean_share((each.accuracy for each in measured), n)),
            f"{with_interval(error.found)}, by chance {in_percent(error.chance.value)}",
            paper(method, "accuracy"),
            paper(method, "ece"),
        ]


FAMILIES: Mapping[str, str] = {
    "lexical": "lexical",
    "gradient": "gradient",
    "statistical": "PBSMT",
}
"""The families of word salad, and what the paper calls them."""


def _agreeing(run: StoredRun, paper: Paper) -> Iterator[list[str]]:
    for method, begins, points in _by_method(run):
        salad = [pair for point in points for pair in point.salad.items()]
        shares = []
        for family in FAMILIES:
            own = [each for name, each in salad if REGISTRY[name].family == family and each.n]
            n = min((each.n for each in own), default=0)
            shares.append(with_interval(mean_share((each.agree / each.n for each in own), n)))
        fewest = f"{min(each.n for _, each in salad):,}"
        yield [*begins, fewest, *shares, *(paper(method, family) for family in FAMILIES)]


def _mitigated(run: StoredRun, paper: Paper) -> Iterator[list[str]]:
    for method, begins, points in _by_method(run):
        n = min(each.n for each in points[0].found.values())
        yield [
            *begins,
            f"{points[0].clean.n:,}",
            with_interval(_clean(points)),
            f"{n:,}",
            with_interval(mean_share((point.invalid_found for point in points), n)),
            paper(method, "clean"),
            paper(method, "invalid_found"),
        ]


ONLY: Mapping[str, Lesson] = {"clean": "clean_only", "salad": "salad_only"}
"""What alone is trained on in table 11, by the row's name."""


def _only(run: StoredRun, paper: Paper) -> Iterator[list[str]]:
    plan, points = transfer.plan_from(run.plan), transfer.points_of(run)
    trained = [largest(plan, points, lesson) for lesson in ONLY.values()]
    if all(trained):
        n = f"{trained[0][0].clean.n:,}"
        shares = [with_interval(_clean(each)) for each in trained]
        yield [f"`{_name(run)}`", n, *shares, *(paper(row, "accuracy") for row in ONLY)]


@dataclass(frozen=True)
class Published:
    """A table of Gupta et al. whose rows are of all runs of a kind, and its name among theirs."""

    number: int
    name: str
    kind: str
    says: str
    heads: Sequence[str]
    rows: Callable[[StoredRun, Paper], Iterator[list[str]]]


PUBLISHED = (
    Published(
        8,
        "calibration",
        calibration.KIND,
        "Accuracy on whole texts, and calibration error beside that of perfectly calibrated "
        "answers by chance",
        ("model", "method", "n", "accuracy", "error", "paper: accuracy", "paper: error"),
        _calibrated,
    ),
    Published(
        9,
        "calibrated_agreement",
        calibration.KIND,
        "Agreement on word salad, the mean over a family's transforms; n is of that which "
        "changed fewest",
        (
            *("model", "method", "n", *FAMILIES.values()),
            *(f"paper: {title}" for title in FAMILIES.values()),
        ),
        _agreeing,
    ),
    Published(
        11,
        "salad_only",
        transfer.KIND,
        "Accuracy on whole texts, trained on these or on shuffled ones",
        ("model", "n", "whole", "shuffled", "paper: whole", "paper: shuffled"),
        _only,
    ),
    Published(
        12,
        "mitigation",
        mitigation.KIND,
        "Accuracy on whole texts and share of broken ones found invalid, the mean over the "
        "transforms",
        (
            *("model", "method", "n", "accuracy", "broken", "found"),
            *("paper: accuracy", "paper: found"),
        ),
        _mitigated,
    ),
)


def repair_tables(runs: Iterable[StoredRun]) -> Iterator[MarkdownTable]:
    """Yield the tables that there are runs for, in the paper's order."""
    known = list(runs)
    for table in PUBLISHED:
        if own := [run for run in known if run.kind == table.kind]:
            yield MarkdownTable(
                f"{table.says}; table {table.number}. {settings(own)}.",
                table.heads,
                [row for run in own for row in table.rows(run, _paper(table.name, run))],
                {_name(run): run.artefacts["model"] for run in own},
            )
    yield from (transfer_table(run) for run in known if run.kind == transfer.KIND)


def _beside(name: str, run: StoredRun) -> PublishedTable | None:
    return published_for(name, run.plan["task"], _name(run))


def _paper(name: str, run: StoredRun) -> Paper:
    table = _beside(name, run)
    return lambda row, column: in_percent(table.value(row, column) if table else None)


def transfer_table(run: StoredRun) -> MarkdownTable:
    """Return what each training finds of each kind of broken text and leaves right, table 18."""
    plan, printed = transfer.plan_from(run.plan), bool(_beside("transfer", run))
    points, paper = largest(plan, transfer.points_of(run), "one"), _paper("transfer", run)
    counts = {each.n for point in points for each in point.found.values()}
    tests = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
    beside_it = "behind a stroke the paper's; table 18" if printed else "table 18 has MNLI alone"
    rows = []
    for row in plan.transforms:
        own, shares = [point for point in points if point.cell.transform == row], []
        for column in plan.transforms:
            found = [point.found[column] for point in own if column in point.found]
            share = mean_share((each.share for each in found), found[0].n if found else 0)
            shares.append(with_interval(share) + f" / {paper(row, column)}" * printed)
        rows.append([f"`{row}`", *shares, with_interval(_clean(own))])
    return MarkdownTable(
        f"Found invalid, taught the row's transform, tested on {tests} texts of the column's; "
        f"{beside_it}. {settings([run])}.",
        ("taught", *(f"`{name}`" for name in plan.transforms), "accuracy on whole texts"),
        rows,
        {_name(run): run.artefacts["model"]},
    )


ALL = "all"
VARIED = {"lexical": "words", "range": "range of numbers"}
"""What is called otherwise than by its name in a plan."""


def generalisation_tables(runs: Iterable[StoredRun]) -> Iterator[MarkdownTable]:
    """Yield for each generalisation of NLI the accuracies before training and the final grid."""
    for run in generalisation_runs(runs):
        if run.plan.task == NLI.name:
            model, varied = Path(run.plan.model).name, VARIED.get(run.plan.vary, run.plan.vary)
            for says, heads, rows in (_before(run, model, varied), _grid(run, model, varied)):
                yield MarkdownTable(says, heads, rows, {model: run.artefacts["model"]})


Parts = tuple[str, Sequence[str], Sequence[Sequence[str]]]


def _before(run: GeneralisationRun, model: str, varied: str) -> Parts:
    """Return the accuracy before any training by condition and gold label, table 3."""
    plan, points = run.plan, untrained(run.results)
    has_paper = plan.vary == "complexity" and plan.phenomenon in ("dative", "numerical")
    paper = published(f"before_{plan.phenomenon}", NLI.name) if has_paper else None
    conditions: dict[str, dict[str, Estimate]] = {
        name: {**by_label(points, name), ALL: on_condition(points, name)} for name in plan.columns
    }
    every = [point.tests[name] for point in points for name in plan.columns]
    conditions[ALL] = {**labelled(every), ALL: estimate(every)}
    labels = [*(label for label in NLI.labels if label in conditions[ALL]), ALL]
    return (
        f"Table 3: `{model}` before training, {plan.phenomenon} by {varied}.",
        (varied, "n", *labels, *(f"paper: {label}" for label in labels if paper)),
        [
            [
                name,
                f"{own[ALL].n:,}",
                *(with_interval(own[label]) if label in own else NONE for label in labels),
                *(in_percent(paper.value(name, label)) for label in labels if paper),
            ]
            for name, own in conditions.items()
        ],
    )


def _grid(run: GeneralisationRun, model: str, varied: str) -> Parts:
    """Return the accuracy by what was trained on and tested, and that on the original set."""
    plan, columns = run.plan, run.plan.columns
    rows = {"nothing": untrained(run.results), **at_largest(plan, chosen(run.results))}
    return (
        f"`{model}` after {max(plan.sizes):,} {plan.phenomenon} examples of the row's {varied}.",
        ("trained on", "n", *columns, "n original", "original"),
        [
            [
                name,
                f"{on_condition(own, columns[0]).n:,}",
                *(with_interval(on_condition(own, column)) for column in columns),
                f"{on_original(own).n:,}",
                with_interval(on_original(own)),
            ]
            for name, own in rows.items()
        ],
    )
