"""`python -m probe batch`: score a file."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from probe.analysis.fp32_sample import fp32_words
from probe.analysis.legibility import notes_before
from probe.cli.answers.batch_run import score_as_run
from probe.cli.answers.interrupts import INTERRUPTED, stopped_by_interrupt
from probe.cli.answers.open_models import opened
from probe.cli.example_file import OR_HUB, local_file
from probe.cli.file_options import settled, takes_file
from probe.cli.options import (
    Assignments,
    ById,
    Draw,
    Guard,
    Keep,
    LabelOrder,
    LongTexts,
    ModelName,
    Pin,
    PrecisionName,
    Sign,
    TaskName,
    transform_options,
)
from probe.cli.output import end_progress, show_progress, write_json
from probe.cli.output_files import check_output_files
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.rows import read_rows
from probe.data.source import open_source
from probe.data.writers.output import checked_form
from probe.errors import ExampleError, Stopped
from probe.models.library import that_reads
from probe.scoring.experiment import scoring_request
from probe.scoring.file_scoring import FileScoring
from probe.scoring.files import Places, check_forms, forms_words
from probe.scoring.precisions import PRECISION_ROWS, precision_words
from probe.scoring.request import ScoringRequest, identity


@takes_file(gold="if there")
def batch_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="CSV, TSV, JSONL, Parquet, Excel or SQuAD's JSON, any of them .gz or .zst, "
            f"{OR_HUB}.",
        ),
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
    seed: int = 0,
    keep: Keep = 0.5,
    sign: Sign = "support",
    pin: Pin = ".!?",
    by_id: ById = False,
    draw: Draw = "vocabulary",
    others: Assignments = [],  # noqa: B006
    precision: PrecisionName = "auto",
    guard: Guard = False,
    long: LongTexts = "cut",
    as_run: Annotated[
        bool, typer.Option("--run", help="Score on worker processes, or on ENGINE's cluster.")
    ] = False,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Score a file; rows that cannot be scored say why in the column `error`.

    Rows are read, scored and written a few at a time, so that a file may be of any size; a command
    that was stopped goes on where it stopped when it is called again. A model that answers
    questions takes SQuAD's JSON, or a table with context, question, answers. Where a table has
    base_id, its rows are variants of questions, of which the worst counts.
    """
    check_output_files([file], [out, pairs, summary])
    for place in filter(None, (out, pairs)):
        checked_form(place, guard)
    names = tuple(name.strip() for name in transforms.split(",") if name.strip())
    path = local_file(file)
    source = open_source(path, options=reading)
    classifier = that_reads(opened(model, labels, task), long)
    answered = classifier.task
    options = transform_options(answered, keep, sign, pin, by_id, draw, others)
    columns = settled(source, path, answered, reading)
    before = notes_before(source, columns, answered, [classifier], names, options)
    for said in before:
        typer.echo(f"note: {said}", err=True)
    request = ScoringRequest(columns, names, seed, options, precision, guard, reading, long)
    places = Places(out, pairs)
    known = identity(path, classifier, request, places)
    if as_run:
        check_forms(places, source, tuple(columns.texts.values()), names)
        order = classifier.order if labels else ()
        asked = partial(scoring_request, path, source, model, answered, request, order, known)
        shape, stopped = score_as_run(asked, known, places)
    else:
        shape, stopped = _score(FileScoring(source, classifier, request, places, known))
    if summary:
        write_json(shape, summary)
    typer.echo(f"{shape['scored']} of {len(source)} rows scored, written to {out}")
    measure = "f1" if "f1" in shape else "accuracy"
    if n := shape[f"{measure}_n"]:
        typer.echo(f"{answered.measure} {100 * shape[measure]:.1f} % of {n}")
    if not (shape["scored"] or stopped):
        first = next(read_rows(source, columns, answered))
        raise ExampleError(f"no row can be scored, the first for this reason: {first.error}")
    if PRECISION_ROWS in shape:
        typer.echo(f"computed in {precision_words(shape)}")
    if sample := shape.get("fp32_sample"):
        typer.echo(fp32_words(sample["rows"], sample["differing"]))
    for said in shape["notes"]:
        if said not in before:  # that were of the first rows alone
            typer.echo(said)
    typer.echo(forms_words(shape["forms"]), err=True)
    if stopped:
        typer.echo("stopped; the same command goes on where this one ended", err=True)
        raise typer.Exit(INTERRUPTED)


def _score(scoring: FileScoring) -> tuple[dict[str, Any], bool]:  # Any: JSON
    """Score to the end, or until the person interrupts it; return the summary, and which it was."""
    if scoring.anew:
        typer.echo(f"note: {scoring.anew}; all rows are scored again", err=True)
    elif scoring.start:
        typer.echo(f"an earlier call scored {scoring.start:,} rows; this one goes on", err=True)
    stopped = False
    try:
        with stopped_by_interrupt():
            for chunk in scoring.chunks():
                show_progress(
                    f"{chunk.done}/{chunk.total} rows, {chunk.per_second:.1f} a second, "
                    f"{chunk.left:.0f} s left"
                )
    except Stopped:
        stopped = True
    end_progress()
    return scoring.hand_over(), stopped
