"""`python -m probe compare`: several models on one pair or on a file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from probe.analysis.comparison import Row, compare_rows, read, require_two
from probe.analysis.transformed import require_text
from probe.cli.open_models import all_opened
from probe.cli.options import AsJson, LabelOrders, ModelNames, PrecisionName
from probe.cli.output import end_progress, print_json, show_progress, write_json
from probe.data.tables import Columns, form_of, guess, read_table, write_table
from probe.errors import ComparisonError, FileError
from probe.models.classifier import Precision
from probe.reports.comparison import compared_frame, comparison_json, pair_json
from probe.tasks.nli import NLI, Pair


def compare_command(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="CSV, TSV, JSONL or Parquet.")
    ] = None,
    models: ModelNames = [],  # noqa: B006
    premise: Annotated[str, typer.Option(help="Compare on this pair instead of a file.")] = "",
    hypothesis: Annotated[str, typer.Option(help="The pair's hypothesis.")] = "",
    gold: Annotated[str, typer.Option(help="The pair's gold label, if known.")] = "",
    columns: Annotated[
        str, typer.Option(help="PREMISE,HYPOTHESIS[,GOLD] of the file; guessed if empty.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Where the scored file goes.")] = None,
    summary: Annotated[Path | None, typer.Option(help="Where the summary goes, as JSON.")] = None,
    labels: LabelOrders = [],  # noqa: B006
    precision: PrecisionName = "auto",
    as_json: AsJson = False,
) -> None:
    """Compare models on a file, or on one pair: accuracy, disagreement, McNemar's test, slices."""
    require_two(models)
    if file is None:
        if summary or out:
            raise ComparisonError("--summary and --out are for a file; name one")
        pair = Pair(premise, hypothesis, NLI.read_gold(gold))
        require_text(pair)
        shape = pair_json(pair, all_opened(models, labels), precision)
        typer.echo(json.dumps(shape, ensure_ascii=False) if as_json else _pair_text(shape))
        return
    if premise or hypothesis:
        raise ComparisonError("give a file, or --premise and --hypothesis, not both")
    shape = _compare_file(file, models, labels, columns, out, precision)
    if summary:
        write_json(shape, summary)
    if as_json:
        print_json(shape)
    else:
        typer.echo(_text(shape))


def _compare_file(
    file: Path,
    names: Sequence[str],
    labels: Sequence[str],
    columns: str,
    out: Path | None,
    precision: Precision,
) -> dict[str, Any]:
    if out:
        form_of(out)
    table = read_table(file)
    rows: list[Row] = []
    unread = read(table, _columns(columns, list(table.frame.columns)))
    for chunk in compare_rows(all_opened(names, labels), unread, precision):
        rows += chunk.rows
        show_progress(f"{chunk.done}/{chunk.total} rows")
    end_progress()
    if out:
        write_table(compared_frame(table, rows, names), out)
    return comparison_json(rows, names, precision)


def _columns(text: str, names: Sequence[str]) -> Columns:
    """Read the named columns, guess them where none is named. Raises FileError."""
    parts = [part.strip() for part in text.split(",")] if text else []
    if not parts:
        return guess(names)
    if len(parts) not in (2, 3):
        raise FileError("--columns wants PREMISE,HYPOTHESIS or PREMISE,HYPOTHESIS,GOLD")
    return Columns(*parts)


def percent(value: float | None, low: float | None, high: float | None) -> str:
    """Write a share with its interval."""
    if value is None or low is None or high is None:
        return "–"
    return f"{100 * value:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _estimate(shape: dict[str, Any]) -> str:
    return percent(shape["value"], shape["low"], shape["high"])


def _pair_text(shape: dict[str, Any]) -> str:
    return "\n".join(
        f"{one['model']:24} {one['label']:15} {one['confidence']:.3f}" for one in shape["models"]
    )


def _text(shape: dict[str, Any]) -> str:
    """Return the summary as lines: accuracies, tests, slices over all gold labels."""
    lines = [f"{shape['scored']} of {shape['rows']} rows scored, {shape['with_gold']} with gold"]
    lines += [f"{name:24} {_estimate(one)}" for name, one in shape["accuracy"].items()]
    for couple in shape["pairs_of_models"]:
        lines.append(f"{couple['mcnemar']['words']} They agree on {_estimate(couple['agreement'])}")
    for one in shape["slices"]:
        if one["gold"] == "all":
            accuracies = "  ".join(_estimate(each) for each in one["accuracy"].values())
            name = f"{one['group']}: {one['slice']}"
            lines.append(f"{name:55} n {one['n']:5}  {accuracies}")
    return "\n".join(lines)
