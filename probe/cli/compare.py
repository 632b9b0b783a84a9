"""`python -m probe compare`: several models on one pair or on a file."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from probe.analysis.comparison import (
    Row,
    compare_rows,
    held_to,
    keyed,
    read,
    require_two,
)
from probe.analysis.comparison_report import (
    compared_frame,
    comparison_json,
    example_comparison_json,
)
from probe.analysis.contrast_sets import check_key, contrast_json, contrast_lines, key_of, offer
from probe.analysis.transformed import notes_before
from probe.cli.file_options import OR_HUB, local_file, settled, takes_file
from probe.cli.options import (
    AsJson,
    BundleColumn,
    Guard,
    LabelOrders,
    LongTexts,
    ModelNames,
    PrecisionName,
    TaskName,
    Texts,
    all_opened,
    read_example,
)
from probe.cli.output import (
    check_output_files,
    end_progress,
    print_answer,
    show_progress,
    write_json,
)
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions, option_words
from probe.data.rows import read_rows, require_text
from probe.data.source import read_table
from probe.data.writers import check_cells, checked_form, write_table
from probe.errors import ComparisonError, ExampleError, FileError
from probe.models.library import that_reads
from probe.statistics import Estimate, percent
from probe.tasks.task import Task


@takes_file(texts=False, gold="own")
def compare_command(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help=f"CSV, TSV, JSONL or Parquet, {OR_HUB}."),
    ] = None,
    models: ModelNames = [],  # noqa: B006
    premise: Annotated[str, typer.Option(help="Compare on this pair instead of a file.")] = "",
    hypothesis: Annotated[str, typer.Option(help="The pair's hypothesis.")] = "",
    texts: Texts = [],  # noqa: B006
    answer: Annotated[str, typer.Option(help="The pair's gold label, if known.")] = "",
    gold: Annotated[
        str, typer.Option(help="Column of the file's gold label; beside --premise as --answer.")
    ] = "",
    columns: Annotated[
        str, typer.Option(help="PREMISE,HYPOTHESIS[,GOLD], the same as --column and --gold.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Where the scored file goes.")] = None,
    summary: Annotated[Path | None, typer.Option(help="Where the summary goes, as JSON.")] = None,
    labels: LabelOrders = [],  # noqa: B006
    task: TaskName = "",
    precision: PrecisionName = "auto",
    guard: Guard = False,
    long: LongTexts = "cut",
    as_json: AsJson = False,
    bundle: BundleColumn = "",
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Compare models on a file, or on one pair: accuracy, disagreement, McNemar's test, slices.

    Models that answer with spans are compared by F1 and exact match, and by a paired bootstrap.
    """
    check_output_files([file], [out, summary])
    require_two(models)
    if file is None:
        if summary or out:
            raise ComparisonError("--summary and --out are for a file; name one")
        said = ["--columns"] if columns else option_words(reading.said)
        if said:
            raise ComparisonError(f"{said[0]} is for a file; name one")
        if not (premise or hypothesis or texts):
            raise ComparisonError(
                "give a file, or --premise and --hypothesis, or --text FIELD=VALUE"
            )
        classifiers = [that_reads(each, long) for each in all_opened(models, labels, task)]
        answered = held_to(classifiers)
        example = read_example(answered, texts, premise, hypothesis, answer or gold)
        require_text(answered, example)
        shape = example_comparison_json(example, classifiers, precision)
        lines = [
            f"{one['model']:24} {one['label']:15} {one['confidence']:.3f}"
            f"{'  too long, its end is cut' if one['cut'] else ''}"
            for one in shape["models"]
        ]
        typer.echo(json.dumps(shape, ensure_ascii=False) if as_json else "\n".join(lines))
        return
    if premise or hypothesis or texts:
        raise ComparisonError("give a file, or --premise and --hypothesis (or --text), not both")
    if answer:
        raise ComparisonError("--answer is the label of a pair; --gold names a file's column")
    if out:
        checked_form(out, guard)
    path = local_file(file)
    table = read_table(path, options=reading)
    if out:
        check_cells(out, table, table.form, table.columns)
    if bundle:
        check_key(table, bundle)
    classifiers = [that_reads(each, long) for each in all_opened(models, labels, task)]
    answered = held_to(classifiers)
    asked = _with_columns(replace(reading, gold=gold), columns, answered)
    chosen = settled(table, path, answered, asked)
    said = [answered.note] if any(each.task is not answered for each in classifiers) else []
    said += [] if bundle else filter(None, [offer(table.names)])
    for sentence in [*said, *notes_before(table, chosen, answered, classifiers)]:
        typer.echo(f"note: {sentence}", err=True)
    rows: list[Row] = []
    names = [classifier.name for classifier in classifiers]
    for chunk in compare_rows(classifiers, read(table, chosen, answered), precision):
        rows += chunk.rows
        show_progress(f"{chunk.done}/{chunk.total} rows")
    end_progress()
    if out:
        write_table(compared_frame(table, rows, names), out, guard)
    shape = comparison_json(rows, names, precision)
    if bundle:
        keys = [key_of(record.cells, bundle) for record in table.records()]
        shape["contrast_sets"] = contrast_json(keyed(rows, keys), names, bundle)
    if summary:
        write_json(shape, summary)
    print_answer(as_json, shape, _lines(shape))
    if not shape["scored"]:
        first = next(read_rows(table, chosen, answered))
        raise ExampleError(f"no row can be compared, the first for this reason: {first.error}")


def _with_columns(reading: FileOptions, text: str, task: Task) -> FileOptions:
    """Return the options with the columns that --columns names. Raises FileError."""
    parts = [part.strip() for part in text.split(",")] if text else []
    if not parts:
        return reading
    count = len(task.fields)
    if len(parts) not in (count, count + 1):
        wanted = ",".join(field.upper() for field in task.fields)
        raise FileError(f"--columns wants {wanted} or {wanted},GOLD")
    named = dict(zip(task.fields, parts, strict=False))
    return replace(
        reading,
        columns={**named, **reading.columns},
        gold=reading.gold or "".join(parts[count:]),
    )


def _estimate(shape: dict[str, Any]) -> str:
    return percent(Estimate(shape["value"], shape["low"], shape["high"], shape["n"]))


def _lines(shape: dict[str, Any]) -> list[str]:
    """Return the summary as lines: accuracies or F1, tests, slices over all gold labels."""
    measure, test = ("f1", "bootstrap") if "f1" in shape else ("accuracy", "mcnemar")
    lines = [f"{shape['scored']} of {shape['rows']} rows scored, {shape['with_gold']} with gold"]
    for name, one in shape[measure].items():
        exact = f"  exact match {_estimate(shape['em'][name])}" if "em" in shape else ""
        cut = f"  {one['cut']:,} too long, cut" if one["cut"] else ""
        lines.append(f"{name:24} {'F1 ' if exact else ''}{_estimate(one)}{exact}{cut}")
    for couple in shape["pairs_of_models"]:
        lines.append(f"{couple[test]['words']} They agree on {_estimate(couple['agreement'])}")
    for one in shape["slices"]:
        if one["gold"] == "all":
            scores = "  ".join(_estimate(each) for each in one[measure].values())
            name = f"{one['group']}: {one['slice']}"
            lines.append(f"{name:55} n {one['n']:5}  {scores}")
    return lines + (contrast_lines(shape["contrast_sets"]) if "contrast_sets" in shape else [])
