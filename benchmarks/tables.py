"""`python -m benchmarks.tables [--check]`: write the tables of BENCHMARKS.md from result files.

Table NAME stands between `<!--NAME-->` and `<!--/NAME-->`. It is made from
benchmarks/results/NAME.toml: the hashes of the weights, the commands and the machine that gave the
figures, and the figures, or the kind and the models of the gallery's runs that hold them. In a row
a list of three is a figure with the ends of its 95 % interval, one of two are figures side by side;
`published` names a share of assets/paper_figures.json, or TABLE/ROW/COLUMN of paper_tables.json, in
a column for the name of the row.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from benchmarks.page.app_process import ROOT
from finetune.report.inoculation import badge_of, model_name, shown_runs
from finetune.report.tables import (
    MarkdownTable,
    generalisation_tables,
    repair_tables,
    written,
)
from finetune.trials.inoculation import BASE, InoculationRun
from finetune.trials.planning import register_experiments
from probe.models.weights import weights_hash
from probe.published import published, published_shares
from probe.runs.gallery import gallery_runs
from probe.runs.models import hash_if_there
from probe.tasks.nli import NLI

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "BENCHMARKS.md"
PLACE = re.compile(r"<!--(\w+)-->\n.*?<!--/\1-->", re.DOTALL)
DIGITS = 8
"""How much of a hash a table names."""
OLDER = "(older weights)"


@dataclass(frozen=True)
class Result:
    """A result file; `rows` are figures, `gallery` is the kind of the runs that hold them."""

    commands: tuple[str, ...]
    machine: str
    weights: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[Any] = ()  # a title, or a dict of title and published figure
    rows: Sequence[Sequence[Any]] = ()  # text, counts, figures as text, lists and dicts of them
    gallery: str = ""
    models: Sequence[str] = ()
    before: str = ""  # the commit that rows and columns called "before" were measured at


def result(path: Path) -> Result:
    """Read a result file; figures keep the digits that they are written with."""
    read = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)
    return Result(**read | {"commands": tuple(read["commands"])})


def results(folder: Path = RESULTS) -> dict[str, Result]:
    """Return all result files by name."""
    return {path.stem: result(path) for path in sorted(folder.glob("*.toml"))}


@cache
def current(name: str) -> str:
    """Return the hash of a shipped model's weights as a table names it, "" for no such model."""
    folder = ROOT / "assets" / "models" / name
    return weights_hash(folder)[:DIGITS] if folder.is_dir() else ""


def cell(value: Any) -> str:  # Any: as in `Result.rows`
    """Write what stands in a row."""
    match value:
        case {"published": str(name)}:
            return _rounded(share) if (share := _share(name)) is not None else "–"
        case [found, low, high]:
            return f"{cell(found)} ({cell(low)} to {cell(high)})"
        case [one, other]:
            return "–" if cell(one) == "–" else f"{cell(one)} / {cell(other)}"
        case int():
            return f"{value:,}"
    return str(value) or "–"


def _share(name: str) -> float | None:
    """Return a published share, None where no paper has it."""
    if name in published_shares():
        return published_shares()[name].share
    table, *place = name.split("/")
    found = published(table, NLI.name) if place else None
    return found.value(*place) if found else None


def _rounded(share: float) -> str:
    """Write a share in percent, halves upwards as the papers do."""
    return str((100 * Decimal(str(share))).quantize(Decimal("0.1"), ROUND_HALF_UP))


def row_of(columns: Sequence[Any], values: Sequence[Any]) -> list[str]:
    """Write a row, which may leave out the columns of published figures."""
    if len(values) < len(columns):
        name, rest = values[0].strip("`"), iter(values)
        values = [
            _published(column["published"], name) if isinstance(column, dict) else next(rest)
            for column in columns
        ]
    return [cell(value) for value in values]


def _published(form: str | list[str], name: str) -> Any:  # Any: as in `Result.rows`
    if isinstance(form, str):
        return {"published": form.format(name)}
    return [_published(each, name) for each in form]


def measured(found: Result) -> MarkdownTable:
    """Return the table of a file's own figures."""
    titles = [column["title"] if isinstance(column, dict) else column for column in found.columns]
    rows = [row_of(found.columns, values) for values in found.rows]
    return MarkdownTable("", titles, rows, found.weights)


HEADS = ("challenge", "model", "before", "after", "gap", "closed", "drop", "outcome", "by dev")


def inoculated(found: Result) -> Iterator[MarkdownTable]:
    """Yield what the gallery's inoculations of some models came to, and their other tests."""
    runs = [run for run in shown_runs() if model_name(run) in found.models]
    models = {model_name(run): run.artefacts["model"] for run in runs}
    yield MarkdownTable("", HEADS, [_inoculated(run) for run in runs], models)
    heads = ("challenge", "model", "other test", "before", "after", "challenge gained more")
    if others := [row for run in runs for row in _other_tests(run)]:
        yield MarkdownTable("", heads, others, models)


def _inoculated(run: InoculationRun) -> list[str]:
    base = next(point for point in run.results if point.cell == BASE)
    best, by_dev = run.verdict["oracle_lr"], run.verdict["dev_lr"]
    return [
        f"`{run.plan.challenge}`",
        f"`{model_name(run)}`",
        *(f"{_percent(each[0])} / {_percent(each[1])}" for each in (
            (base.original, base.challenge), (best["original"], best["challenge"])
        )),
        _estimate(best["gap"]),
        _estimate(best["closed"] if best["gap"]["low"] > 0 else None),
        _estimate(best["drop"]),
        badge_of(best),
        badge_of(by_dev),
    ]  # fmt: skip


def _other_tests(run: InoculationRun) -> Iterator[list[str]]:
    begins = [f"`{run.plan.challenge}`", f"`{model_name(run)}`"]
    if control := run.verdict["control"]:
        yield [*begins, "other words", *map(_percent, control.values()), "–"]
    for each in run.verdict.get("counter_tests", ()):
        scores = (_percent(each[name]) for name in ("before", "after"))
        yield [*begins, f"`{each['name']}`", *scores, _estimate(each["lead"])]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _estimate(share: Mapping[str, float] | None) -> str:
    if not share:
        return "–"
    low, high = _percent(share["low"]), _percent(share["high"])
    return f"{_percent(share['value'])} ({low} to {high})"


GALLERY: Mapping[str, Callable[[Result], Iterator[MarkdownTable]]] = {
    "inoculation": inoculated,
    "repairs": lambda found: repair_tables(gallery_runs()),
    "generalisation": lambda found: generalisation_tables(gallery_runs()),
}
"""What makes tables of the gallery's runs, by the kind that result files name."""


def made(name: str, found: Result) -> str:
    """Write the tables of a result file, each with its weights and the place of its commands."""
    register_experiments()
    link = f"[commands](benchmarks/results/{name}.toml)"
    if not found.gallery:
        return f"{written(measured(found))}\n{_weights(found.weights)}{link}"
    return "\n\n".join(
        f"{_said(table)}{written(table)}\n{gallery_weights(table.models)}{link}"
        for table in GALLERY[found.gallery](found)
    )


def _said(table: MarkdownTable) -> str:
    return f"{fill(table.says, 100)}\n\n" if table.says else ""


def gallery_weights(models: Mapping[str, str]) -> str:
    """Say of which weights the models of some runs are, given the hashes that these began with."""
    named = {model: digest for model in models if (digest := current(model))}
    older = any(hash_if_there(model) != digest for model, digest in models.items())
    return _weights(named, OLDER if older else "")


def _weights(named: Mapping[str, str], *marks: str) -> str:
    models = ", ".join(f"{model} {digest}" for model, digest in named.items())
    words = " ".join(filter(None, (models, *marks)))
    return f"Weights: {words}; " if words else ""


def page(text: str) -> str:
    """Return a page with its tables as the result files have them."""
    found = results()
    return PLACE.sub(
        lambda at: f"<!--{at[1]}-->\n\n{made(at[1], found[at[1]])}<!--/{at[1]}-->", text
    )


def main(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say what is stale.")
    ] = False,
) -> None:
    """Write the tables of BENCHMARKS.md from benchmarks/results and the gallery."""
    text = PAGE.read_text(encoding="utf-8")
    if check and page(text) != text:
        sys.exit("error: BENCHMARKS.md is stale; run python -m benchmarks.tables")
    PAGE.write_text(page(text), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
