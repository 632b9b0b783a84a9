"""`python -m probe batch`: score a file."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from probe.analysis.batch import Row
from probe.analysis.comparison_report import answers_json
from probe.analysis.contrast_sets import check_key, contrast_lines, offer
from probe.analysis.importance import checked, require_importance
from probe.analysis.summary import fp32_words, importance_words
from probe.analysis.tables import check_tables_file, write_tables
from probe.analysis.transformed import notes_before, require_usable
from probe.cli.file_options import (
    ANSWER_FILES,
    OR_HUB,
    joined,
    local_file,
    settled,
    takes_answers,
    takes_file,
)
from probe.cli.options import (
    BundleColumn,
    Changes,
    Guard,
    ImportanceName,
    LabelOrder,
    LongTexts,
    ModelName,
    PrecisionName,
    TaskName,
    opened,
    read_changes,
    takes_changes,
    warn,
)
from probe.cli.output import (
    TablesFile,
    check_output_files,
    class_lines,
    end_progress,
    estimate_words,
    scored_words,
    show_progress,
    slice_lines,
    stopped_by_interrupt,
)
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.source import open_source
from probe.data.writers import checked_form
from probe.errors import ExampleError, ExperimentError, FileError, OptionError, Stopped, write_json
from probe.first_import import first_import
from probe.models.classifier import Classifier, Model
from probe.models.library import AnyModel, Opened, that_reads
from probe.models.prediction_file import AnswerFile, AnswerOptions, task_of_texts
from probe.runs.experiment import Progress, Result
from probe.runs.run import RunRequest
from probe.scoring.files import (
    PRECISION_ROWS,
    FileScoring,
    Places,
    ScoringRequest,
    assemble,
    check_forms,
    done_parts,
    forms_words,
    identity,
    precision_words,
    scoring_request,
)
from probe.scoring.source_form import check_source_form
from probe.tasks.task import task_named

INTERRUPTED = 130
"""The exit status of a command that was interrupted."""


def score_as_run(
    asked: Callable[[], RunRequest], identity: Mapping[str, str], places: Places
) -> tuple[dict[str, Any], bool]:  # Any: JSON
    """Compute a run and write its files; return the summary, and whether it was interrupted.

    A run of the same that has not ended goes on. Raises StoreError, FileError, ExperimentError with
    the reason where a part fails, and Exit where it was interrupted before any was scored.
    """
    with first_import:  # SQLAlchemy, without which most files are scored
        from probe.cli.compute import run_to_its_end
        from probe.runs.access import COMMAND_LINE
        from probe.runs.engine import Engine
        from probe.runs.store import Store

    store = Store()
    same = (
        run
        for run in store.runs(COMMAND_LINE, "scoring")
        if run.artefacts.get("identity") == dict(identity) and run.state != "done"
    )
    if run := next(same, None):
        store.reopen(run.id)
        parts = f"{len(done_parts(run))} of {len(run.cells)}"
        typer.echo(f"the run {run.id} has {parts} parts of this file; it goes on", err=True)
    else:
        run = store.create(COMMAND_LINE, asked())
    began, done = time.monotonic(), {cell.number: 0 for cell in run.cells}
    earlier, rows = sum(result["rows"] for result in run.results), run.plan["rows"]

    def listen(run_id: str, number: int, row: Progress | Result) -> None:
        done[number] = row.values.get("rows", 0)  # its texts are counted before
        fresh = sum(done.values())
        speed = fresh / max(time.monotonic() - began, 1e-9)
        show_progress(f"{earlier + fresh}/{rows} rows, {speed:.1f} a second")

    stopped = False
    try:
        run_to_its_end(store, Engine(store, listener=listen), run.id)
    except KeyboardInterrupt:
        stopped = True
    end_progress()
    run = store.get(run.id)
    if run.state == "failed":
        raise ExperimentError(run.error)
    if stopped and not done_parts(run):
        typer.echo("stopped before a part was scored; the same command goes on", err=True)
        raise typer.Exit(INTERRUPTED)
    shape, _ = assemble(run, places)
    return shape, stopped


@takes_file(gold="if there")
@takes_changes
@takes_answers
def batch_command(
    out: Annotated[Path, typer.Option(help="Where the scored file goes.")],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="IN",
            help="CSV, TSV, JSONL, Parquet, Excel or SQuAD's JSON, any of them .gz or .zst, "
            f"{OR_HUB}.",
        ),
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(help=f"{ANSWER_FILES} IN may be left out where it has the texts.")
    ] = None,
    transforms: Annotated[str, typer.Option(help="Names or chains, with commas.")] = "",
    model: ModelName = "minilm",
    labels: LabelOrder = "",
    task: TaskName = "",
    summary: Annotated[Path | None, typer.Option(help="Where the summary goes, as JSON.")] = None,
    tables: TablesFile = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Where every pair that was made goes, one a line.")
    ] = None,
    training: Annotated[
        Path | None,
        typer.Option(
            help="Where the changed texts with a defined label go in the form of their source, to "
            "train on: SNLI's .jsonl, SQuAD's .json."
        ),
    ] = None,
    importance: ImportanceName = None,
    words: Annotated[
        Path | None,
        typer.Option(help="Where the words of --importance go with their scores, one a line."),
    ] = None,
    seed: int = 0,
    changes: Changes = read_changes(),
    precision: PrecisionName = "auto",
    guard: Guard = False,
    long: LongTexts = "cut",
    as_run: Annotated[
        bool, typer.Option("--run", help="Score on worker processes, or on ENGINE's cluster.")
    ] = False,
    bundle: BundleColumn = "",
    reading: FileOptions = AS_THE_FILE_TELLS,
    said: AnswerOptions = AnswerOptions(),
) -> None:
    """Score a file; rows that cannot be scored say why in the column `error`.

    Rows are read, scored and written a few at a time, so that a file may be of any size; a command
    that was stopped goes on where it stopped when it is called again. A model that answers
    questions takes SQuAD's JSON, or a table with context, question, answers. Where a table has
    base_id, its rows are variants of questions, of which the worst counts.
    """
    own = file is None  # the texts that its answers are for
    if (file := file or predictions) is None:
        raise FileError("name a file of texts IN, or one of answers by --predictions")
    check_output_files([file, predictions], [out, pairs, training, summary, tables, words])
    check_tables_file(tables)
    for place in filter(None, (out, pairs, words)):
        checked_form(place, guard)
    if words and not importance:
        raise OptionError("--words is for the words that --importance METHOD scores")
    names = tuple(name.strip() for name in transforms.split(",") if name.strip())
    path = local_file(file)
    source = open_source(path, options=reading)
    if bundle:
        check_key(source, bundle)
    classifier: Model
    if predictions:
        if as_run or long != "cut":
            raise FileError(
                f"--{'run' if as_run else 'long'} is for a model, not for --predictions"
            )
        said = replace(said, orders={str(predictions): labels} if labels else {})
        answers = AnswerFile.open(predictions, said, reading=reading if own else AS_THE_FILE_TELLS)
        base = task_named(task) if task else task_of_texts(source)
        asked = replace(reading, one_file=False)  # a value may be that of an answer
        asked = answers.asked(base, asked) if own else asked
        columns = settled(source, path, base, asked)
        (classifier,) = joined([answers], source, columns, base, asked)
        options, precision = changes(classifier.task), "fp32"
    else:
        classifier = that_reads(opened(model, labels, task), long)
        options = changes(classifier.task)
        columns = settled(source, path, classifier.task, reading)
    answered = classifier.task
    for name in names:  # before an earlier result is begun anew
        require_usable(name, classifier)
    if importance:
        require_importance(classifier, importance)
    if training:
        check_source_form(training, answered, names)
    before = notes_before(source, columns, answered, [classifier], names, options)
    offered = "" if bundle else offer(source.names)
    for sentence in filter(None, [*before, offered]):
        typer.echo(f"note: {sentence}", err=True)
    request = ScoringRequest(
        columns, names, seed, options, precision, guard, reading, long, bundle=bundle,
        importance=importance or "",
    )  # fmt: skip
    places = Places(out, pairs, training, words)
    known = identity(path, classifier, request, places)
    rows = list[Row]() if predictions else None
    if as_run:
        check_forms(places, source, tuple(columns.texts.values()), names)
        order = classifier.order if labels and isinstance(classifier, Classifier) else ()
        start = partial(
            scoring_request, path, source, model, answered, request, Opened(model, order), known
        )
        shape, stopped = score_as_run(start, known, places)
    else:
        scoring = FileScoring(source, classifier, request, places, None if predictions else known)
        shape, stopped = score_here(scoring, rows)
    if rows is not None:
        shape |= answers_json(rows, classifier.name)
    if summary:
        write_json(shape, summary)
    if tables:
        write_tables(shape, tables)
    if not (shape["scored"] or stopped):
        why = shape["first_error"]
        raise ExampleError(f"no row can be scored, the first for this reason: {why}")
    typer.echo(scored_words(shape, len(source), f"written to {out}"))
    measure = "f1" if "f1" in shape else "accuracy"
    if n := shape[f"{measure}_n"]:
        typer.echo(f"{answered.measure} {100 * shape[measure]:.1f} % of {n}")
    for line in [*class_lines(shape), *(_answer_lines(shape) if rows is not None else ())]:
        typer.echo(line)
    if PRECISION_ROWS in shape:
        typer.echo(f"computed in {precision_words(shape)}")
    for line in contrast_lines(shape["contrast_sets"]) if bundle else ():
        typer.echo(line)
    if sample := shape.get("fp32_sample"):
        typer.echo(fp32_words(sample["rows"], sample["differing"]))
    if importance:
        typer.echo(importance_words(shape["importance"]))
        if isinstance(classifier, AnyModel):
            warn(checked(classifier).sentences)
    for sentence in shape["notes"]:
        if sentence not in before:  # that were of the first rows alone
            typer.echo(sentence)
    typer.echo(forms_words(shape["forms"]), err=True)
    if stopped:
        typer.echo("stopped; the same command goes on where this one ended", err=True)
        raise typer.Exit(INTERRUPTED)


def _answer_lines(shape: Mapping[str, Any]) -> list[str]:  # Any: JSON
    """Say what the answers of a file come to beside their accuracy."""
    lines = []
    if sure := shape["calibration"]:
        told = f"{100 * sure['confidence']:.1f} % sure, {100 * sure['accuracy']:.1f} % right"
        lines.append(f"calibration error {100 * sure['ece']:.1f} % of {sure['n']:,}: {told}")
    for one in shape.get("hans", {}).get("heuristics", ()):
        found = estimate_words({**one, "value": one["accuracy"]})
        lines.append(f"{one['heuristic']}, {one['gold']}: {found}, n {one['n']}")
    return [*lines, *slice_lines(shape)]


def score_here(
    scoring: FileScoring, rows: list[Row] | None = None
) -> tuple[dict[str, Any], bool]:  # Any: JSON
    """Score to the end, or until the first Ctrl-C; return the summary, and which it was.

    A second Ctrl-C ends the command. The rows are kept where a list is given for them.
    """
    if scoring.anew:
        typer.echo(f"note: {scoring.anew}; all rows are scored again", err=True)
    elif scoring.start:
        typer.echo(f"an earlier call scored {scoring.start:,} rows; this one goes on", err=True)
    stopped = True
    with suppress(Stopped), stopped_by_interrupt():
        for chunk in scoring.chunks():
            if rows is not None:
                rows += chunk.rows
            show_progress(
                f"{chunk.done}/{chunk.total} rows, {chunk.per_second:.1f} a second, "
                f"{chunk.left:.0f} s left"
            )
        stopped = False
    end_progress()
    return scoring.hand_over(), stopped
