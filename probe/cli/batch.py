"""`python -m probe batch`: score a file."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from probe.analysis.batch import Row, score
from probe.analysis.summary import Totals, summary_json
from probe.analysis.variants import variants_json
from probe.cli.example_file import OR_HUB, local_file
from probe.cli.open_models import opened
from probe.cli.options import (
    Assignments,
    ById,
    Draw,
    Guard,
    Keep,
    LabelOrder,
    LabelValues,
    ModelName,
    Pin,
    PrecisionName,
    Sign,
    TaskName,
    TextColumns,
    assignments,
    fields_of,
    transform_options,
)
from probe.cli.output import end_progress, show_progress, write_json
from probe.data.label_values import in_words, label_values, read_label_values
from probe.data.rows import choose, with_class_names
from probe.data.spreadsheets import guarded, guarded_form
from probe.data.tables import form_of, read_table, write_table
from probe.reports.frames import made_frame, scored_frame


def batch_command(
    file: Annotated[
        Path,
        typer.Argument(metavar="IN", help=f"CSV, TSV, JSONL, Parquet or SQuAD's JSON, {OR_HUB}."),
    ],
    out: Annotated[Path, typer.Option(help="Where the scored file goes.")],
    transforms: Annotated[str, typer.Option(help="Names or chains, with commas.")] = "",
    model: ModelName = "minilm",
    labels: LabelOrder = "",
    task: TaskName = "",
    summary: Annotated[Path | None, typer.Option(help="Where the summary goes, as JSON.")] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Where every pair that was made goes, one a line.")
    ] = None,
    premise: Annotated[str, typer.Option(help="Column of the premise; guessed if empty.")] = "",
    hypothesis: Annotated[str, typer.Option(help="Column of the hypothesis.")] = "",
    column: TextColumns = [],  # noqa: B006
    gold: Annotated[str, typer.Option(help="Column of the gold label.")] = "",
    label_value: LabelValues = [],  # noqa: B006
    seed: int = 0,
    keep: Keep = 0.5,
    sign: Sign = "support",
    pin: Pin = ".!?",
    by_id: ById = False,
    draw: Draw = "vocabulary",
    others: Assignments = [],  # noqa: B006
    precision: PrecisionName = "auto",
    guard: Guard = False,
) -> None:
    """Score a file; rows that cannot be scored say why in the column `error`.

    A model that answers questions takes SQuAD's JSON, or a table with context, question, answers.
    Where a table has base_id, its rows are variants of questions, of which the worst counts.
    """
    check_form = guarded_form if guard else form_of
    for path in filter(None, (out, pairs)):
        check_form(path)
    names = [name.strip() for name in transforms.split(",") if name.strip()]
    options = transform_options(keep, sign, pin, by_id, draw, others)
    path = local_file(file)
    table = read_table(path)
    classifier = opened(model, labels, task)
    answered = classifier.task
    named = fields_of(answered, "--column", column, {"premise": premise, "hypothesis": hypothesis})
    columns = with_class_names(choose(list(table.frame.columns), answered, named, gold), path)
    columns.check(list(table.frame.columns))
    meanings = assignments("--label-value", label_value)
    columns = replace(columns, values=read_label_values(answered, meanings, table, columns))
    if told := in_words(label_values(table, columns, answered)):
        typer.echo(told, err=True)
    rows, totals = list[Row](), Totals(answered, names)
    for chunk in score(table, columns, classifier, names, seed, options, precision):
        rows += chunk.rows
        totals.add(chunk.rows)
        show_progress(
            f"{chunk.done}/{chunk.total} rows, {chunk.per_second:.1f} a second, "
            f"{chunk.left:.0f} s left"
        )
    end_progress()
    scored = scored_frame(table, rows, names, classifier)
    write_table(guarded(scored) if guard else scored, out)
    if pairs:
        made = made_frame(rows, names, answered)
        write_table(guarded(made) if guard else made, pairs)
    shape = summary_json(totals.summary(), classifier, precision, seed, options)
    shape |= variants_json(table, rows)
    if summary:
        write_json(shape, summary)
    typer.echo(f"{shape['scored']} of {shape['rows']} rows scored, written to {out}")
