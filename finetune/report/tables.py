"""Finished runs beside the published figures: Gupta et al. 2021, tables 8, 9, 11, 12 and 18, and
Rozen et al. 2019, table 3 and the grid behind it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from finetune.report.generalisation import claims
from finetune.trials import calibration, mitigation, transfer
from finetune.trials.generalisation import (
    GeneralisationRun,
    at_largest,
    by_label,
    chosen,
    generalisation_runs,
    on_condition,
    on_original,
    untrained,
)
from finetune.trials.transfer import Lesson, largest
from finetune.trials.transfer import Point as Taught
from probe.analysis.tables import markdown
from probe.published import PublishedTable, published, published_for
from probe.runs.run import StoredRun
from probe.statistics import NOTHING, Estimate, interval, mean_error, mean_share
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
    return markdown(table.heads, table.rows)


def in_percent(value: float | None) -> str:
    """Write a share in per cent, a dash for none."""
    return NONE if value is None else f"{100 * value:.1f}"


def with_interval(measured: Estimate) -> str:
    """Write a share in per cent with its interval, such as 81.5 (80.4–82.6)."""
    return f"{in_percent(measured.value)} ({interval(measured, '–')})" if measured.n else NONE


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
Row = Mapping[str, str]
"""What stands under each head."""
METHODS: Mapping[str, tuple[Any, Any]] = {  # Any: each kind has methods and points of its own
    calibration.KIND: (calibration.METHODS, calibration.points_of),
    mitigation.KIND: (mitigation.METHODS, mitigation.points_of),
}


def _by_method(run: StoredRun) -> Iterator[tuple[str, Row, list[Any]]]:
    """Yield each method, how its row begins, and its points, those of the largest size."""
    (methods, points_of), rows = METHODS[run.kind], dict[str, list[Any]]()
    for point in points_of(run):
        if point.cell.size in (0, max(run.plan["sizes"])):
            rows.setdefault(point.cell.method, []).append(point)
    for method, points in rows.items():
        yield method, {"model": f"`{_name(run)}`", "method": methods[method].title}, points


def _clean(points: Sequence[Taught] | Sequence[mitigation.Point]) -> str:
    return with_interval(mean_share([each.clean.share for each in points], points[0].clean.n))


def _calibrated(run: StoredRun, paper: Paper) -> Iterator[Row]:
    for method, begins, points in _by_method(run):
        measured = [point.calibration for point in points]
        n, error = measured[0].n, mean_error(measured)
        yield {
            **begins,
            "n": f"{n:,}",
            "accuracy": with_interval(mean_share([each.accuracy for each in measured], n)),
            "error": f"{with_interval(error.found)}, by chance {in_percent(error.chance.value)}",
            "paper: accuracy": paper(method, "accuracy"),
            "paper: error": paper(method, "ece"),
        }


FAMILIES: Mapping[str, str] = {
    "lexical": "lexical",
    "gradient": "gradient",
    "statistical": "PBSMT",
}
"""The families of word salad, and what the paper calls them."""


def staying(points: Iterable[Any], family: str) -> Estimate:  # Any: each kind has its own
    """Return how many answers stay on a family's word salad, each change counting alike.

    The changes are of the same examples, of which n are the fewest.
    """
    repeats = [
        [each for name, each in point.salad.items() if REGISTRY[name].family == family and each.n]
        for point in points
    ]
    made = list(filter(None, repeats))
    n = min((each.n for own in made for each in own), default=0)
    return mean_share([fmean(each.share for each in own) for own in made], n)


def _agreeing(run: StoredRun, paper: Paper) -> Iterator[Row]:
    for method, begins, points in _by_method(run):
        n = min(each.n for point in points for each in point.salad.values())
        shares = {each: with_interval(staying(points, name)) for name, each in FAMILIES.items()}
        printed = {f"paper: {title}": paper(method, name) for name, title in FAMILIES.items()}
        yield {**begins, "n": f"{n:,}", **shares, **printed}


def _mitigated(run: StoredRun, paper: Paper) -> Iterator[Row]:
    for method, begins, points in _by_method(run):
        n = min(each.n for each in points[0].found.values())
        yield {
            **begins,
            "n": f"{points[0].clean.n:,}",
            "accuracy": _clean(points),
            "broken": f"{n:,}",
            "found": with_interval(mean_share([point.invalid_found for point in points], n)),
            "paper: accuracy": paper(method, "clean"),
            "paper: found": paper(method, "invalid_found"),
        }


ONLY: Mapping[str, Lesson] = {"whole": "clean_only", "shuffled": "salad_only"}
"""What alone the upper layers see."""


def _only(run: StoredRun, paper: Paper) -> Iterator[Row]:
    plan, points = transfer.plan_from(run.plan), transfer.points_of(run)
    trained = {head: largest(plan, points, lesson) for head, lesson in ONLY.items()}
    if all(trained.values()):
        begins = {"model": f"`{_name(run)}`", "n": f"{trained['whole'][0].clean.n:,}"}
        yield {**begins, **{head: _clean(own) for head, own in trained.items()}}


Rows = Callable[[StoredRun, Paper], Iterator[Row]]
PUBLISHED: Sequence[tuple[int, str, str, Rows, str]] = (
    (
        8,
        "calibration",
        calibration.KIND,
        _calibrated,
        "Accuracy on whole texts, and calibration error beside that of perfectly calibrated "
        "answers by chance",
    ),
    (
        9,
        "calibrated_agreement",
        calibration.KIND,
        _agreeing,
        "Agreement on word salad, the mean over a family's transforms; n is of that which "
        "changed fewest",
    ),
    (
        11,
        "salad_only",
        transfer.KIND,
        _only,
        "Accuracy on whole texts after the upper layers began anew on these or on shuffled ones, "
        "where the paper trains whole models, as `python -m benchmarks.anew shuffled` does",
    ),
    (
        12,
        "mitigation",
        mitigation.KIND,
        _mitigated,
        "Accuracy on whole texts and share of broken ones found invalid, the mean over the "
        "transforms",
    ),
)
"""Tables of Gupta et al. by number and name, whose rows are of all runs of a kind."""


def repair_tables(runs: Iterable[StoredRun]) -> Iterator[MarkdownTable]:
    """Yield the tables that there are runs for, in the paper's order."""
    known = list(runs)
    for number, name, kind, rows_of, says in PUBLISHED:
        own = [run for run in known if run.kind == kind]
        if rows := [row for run in own for row in rows_of(run, _paper(name, run))]:
            models = {_name(run): run.artefacts["model"] for run in own}
            yield _table(f"{says}; table {number}. {settings(own)}.", rows, models)
    yield from (transfer_table(run) for run in known if run.kind == transfer.KIND)


def _table(says: str, rows: Sequence[Row], models: Mapping[str, str]) -> MarkdownTable:
    return MarkdownTable(says, list(rows[0]), [list(row.values()) for row in rows], models)


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
        own, shares = [point for point in points if point.cell.transform == row], {}
        for column in plan.transforms:
            found = [point.found[column] for point in own if column in point.found]
            share = mean_share([each.share for each in found], found[0].n if found else 0)
            shares[f"`{column}`"] = with_interval(share) + f" / {paper(row, column)}" * printed
        rows.append({"taught": f"`{row}`", **shares, "accuracy on whole texts": _clean(own)})
    says = (
        f"Found invalid, taught the row's transform, tested on {tests} texts of the column's; "
        f"{beside_it}. {settings([run])}."
    )
    return _table(says, rows, {_name(run): run.artefacts["model"]})


ALL = "all"
VARIED = {"lexical": "words", "range": "range of numbers"}
"""What is called otherwise than by its name in a plan."""


def generalisation_tables(runs: Iterable[StoredRun]) -> Iterator[MarkdownTable]:
    """Yield for each generalisation of NLI the accuracies before training and the final grid.

    At the end stands which of the paper's claims they show.
    """
    known = generalisation_runs(runs)
    for run in known:
        if run.plan.task == NLI.name:
            plan, name = run.plan, Path(run.plan.model).name
            model, varied = f"`{name}`", VARIED.get(plan.vary, plan.vary)
            examples = f"{max(plan.sizes):,} {plan.phenomenon} examples"
            for says, rows in {
                f"Table 3: {model} before training, {plan.phenomenon} by {varied}.": _before,
                f"{model} after {examples} of the row's {varied}.": _grid,
            }.items():
                yield _table(says, list(rows(run, varied)), {name: run.artefacts["model"]})

    if claimed := [row for run in known for row in _claimed(run)]:
        models = {Path(run.plan.model).name: run.artefacts["model"] for run in known}
        says = "What the paper says of such runs, and which of it shows here."
        yield _table(says, claimed, models)


def _claimed(run: GeneralisationRun) -> Iterator[Row]:
    of = f"`{Path(run.plan.model).name}`, {run.plan.phenomenon} by {run.plan.vary}"
    for claim in claims(run):
        yield {"run": of, "Rozen et al.": claim.says, "here": claim.here, "": claim.shows}


def _before(run: GeneralisationRun, varied: str) -> Iterator[Row]:
    """Yield the accuracy before any training by condition and gold label, table 3."""
    plan, points = run.plan, untrained(run.results)
    has_paper = plan.vary == "complexity" and plan.phenomenon in ("dative", "numerical")
    paper = published(f"before_{plan.phenomenon}", NLI.name) if has_paper else None
    conditions: dict[str, dict[str, Estimate]] = {
        name: {**by_label(points, name), ALL: on_condition(points, name)} for name in plan.columns
    }
    if ALL not in conditions:
        of_all = {**by_label(points, *plan.columns), ALL: on_condition(points, *plan.columns)}
        conditions[ALL] = of_all
    labels = [*(label for label in NLI.labels if label in conditions[ALL]), ALL]
    for name, own in conditions.items():
        shares = {label: with_interval(own.get(label, NOTHING)) for label in labels}
        printed = paper and {f"paper: {it}": in_percent(paper.value(name, it)) for it in labels}
        yield {varied: name, "n": f"{own[ALL].n:,}", **shares, **(printed or {})}


def _grid(run: GeneralisationRun, varied: str) -> Iterator[Row]:
    """Yield the accuracy by what was trained on and tested, and that on the original set."""
    plan, columns = run.plan, run.plan.columns
    rows = {"nothing": untrained(run.results), **at_largest(plan, chosen(run.results))}
    for name, own in rows.items():
        yield {
            "trained on": name,
            "n": f"{on_condition(own, columns[0]).n:,}",
            **{column: with_interval(on_condition(own, column)) for column in columns},
            "n original": f"{on_original(own).n:,}",
            "original": with_interval(on_original(own)),
        }
