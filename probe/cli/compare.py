"""`python -m probe compare`: several models on one pair or on a file."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
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
from probe.analysis.tables import check_tables_file, write_tables
from probe.analysis.transformed import notes_before
from probe.cli.batch import INTERRUPTED, score_here
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
    loaded_any,
    read_example,
)
from probe.cli.output import (
    TablesFile,
    check_output_files,
    class_lines,
    end_progress,
    estimate_words,
    make_folder,
    print_answer,
    print_json,
    scored_words,
    show_progress,
    slice_lines,
)
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions, option_words
from probe.data.rows import Columns, require_text
from probe.data.source import open_source, read_table
from probe.data.writers import check_cells, checked_form, write_table
from probe.errors import (
    ComparisonError,
    ExampleError,
    FileError,
    ModelError,
    write_json,
    write_whole,
    writing,
)
from probe.models.hardware import Precision
from probe.models.library import that_reads
from probe.models.prediction_file import AnswerFile, AnswerOptions, holds_answers, task_of_texts
from probe.models.weights import trainer_checkpoints
from probe.models.windows import Long
from probe.pictures.curves import ALONE, Panel, of_panels, style_for
from probe.pictures.svg import figure_files
from probe.scoring.files import FileScoring, Places, ScoringRequest, identity
from probe.statistics import Estimate, percent
from probe.tasks.task import Task, common_task, task_named
from probe.text.words import listing


@takes_file(texts=False, gold="own")
@takes_answers
def compare_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help=f"CSV, TSV, JSONL or Parquet, {OR_HUB}. Of several those with answers are "
            "compared, on the texts of the other or of the first.",
        ),
    ] = None,
    models: ModelNames = [],  # noqa: B006
    predictions: Annotated[
        list[Path], typer.Option("--predictions", help=f"{ANSWER_FILES} Beside models or alone.")
    ] = [],  # noqa: B006
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
    curve: Annotated[
        Path | None,
        typer.Option(
            "--curve",
            metavar="FOLDER",
            help="Instead of models: the checkpoint-* of a Trainer's FOLDER, whose accuracy on "
            "each FILE is drawn into the folder --out.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the scored file goes; of --curve a folder for all of its files."),
    ] = None,
    summary: Annotated[Path | None, typer.Option(help="Where the summary goes, as JSON.")] = None,
    tables: TablesFile = None,
    labels: LabelOrders = [],  # noqa: B006
    task: TaskName = "",
    precision: PrecisionName = "auto",
    guard: Guard = False,
    long: LongTexts = "cut",
    as_json: AsJson = False,
    bundle: BundleColumn = "",
    reading: FileOptions = AS_THE_FILE_TELLS,
    said: AnswerOptions = AnswerOptions(),
) -> None:
    """Compare models on a file, or on one pair: accuracy, disagreement, McNemar's test, slices.

    Models that answer with spans are compared by F1 and exact match, and by a paired bootstrap.
    Files of answers take the place of models: who mended what, who broke what, row by row.
    """
    if curve:
        alone = {"--model": models, "--predictions": predictions, "--summary": summary}
        alone |= {"--tables": tables, "--bundle": bundle, "--columns": columns, "--guard": guard}
        alone |= {"--premise": premise, "--hypothesis": hypothesis, "--text": texts}
        if other := next((name for name, given in alone.items() if given), ""):
            raise ComparisonError(f"--curve asks the checkpoints of its folder; leave out {other}")
        read_as = replace(reading, gold=gold, one_file=False)
        _draw_curve(curve, files or [], out, labels, task, precision, long, read_as, as_json)
        return
    check_output_files([*(files or []), *predictions], [out, summary, tables])
    check_tables_file(tables)
    file, given = _told_apart([local_file(each) for each in files or []], predictions)
    require_two([*models, *map(str, given)])
    if file is None and not given:
        if summary or out or tables:
            raise ComparisonError("--summary, --out and --tables are for a file; name one")
        named = ["--columns"] if columns else option_words(reading.said)
        if named:
            raise ComparisonError(f"{named[0]} is for a file; name one")
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
            f"{one['model']:24} {one['label']:15} "
            f"{'no confidence' if one['confidence'] is None else format(one['confidence'], '.3f')}"
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
    own = {str(each): each for each in given}
    orders = {name: order for text in labels for name, _, order in [text.rpartition("=")]}
    said = replace(said, orders={name: orders[name] for name in own if name in orders})
    form = AS_THE_FILE_TELLS if file else reading
    answers = [AnswerFile.open(each, said, reading=form, name=name) for name, each in own.items()]
    texts_of = next((each for each in answers if each.has_texts()), None) if not file else None
    if file is None and texts_of is None:
        raise ComparisonError(
            "none of these files holds the texts that it answers to; name a FILE that does, in "
            "the same order or with a column by which its rows are known"
        )
    table = texts_of.table if texts_of else read_table(file or Path(), options=reading)
    path = table.path
    if out:
        check_cells(out, table, table.form, table.columns)
    if bundle:
        check_key(table, bundle)
    left = [text for text in labels if text.rpartition("=")[0] not in own]
    classifiers = [that_reads(each, long) for each in all_opened(models, left, task)]
    known = common_task([each.task for each in classifiers]) if classifiers else None
    base = known or (task_named(task) if task else task_of_texts(table))
    asked = _with_columns(replace(reading, gold=gold), columns, base)
    if given:  # values and columns may be those of another of the files
        asked = replace(asked, one_file=False)
    asked = texts_of.asked(base, asked) if texts_of else asked
    chosen = settled(table, path, base, asked)
    compared = [*classifiers, *joined(answers, table, chosen, base, asked)]
    answered = held_to(compared)
    noted = [answered.note] if any(each.task is not answered for each in compared) else []
    noted += [] if bundle else filter(None, [offer(table.names)])
    for sentence in [*noted, *notes_before(table, chosen, answered, compared)]:
        typer.echo(f"note: {sentence}", err=True)
    rows: list[Row] = []
    names = [each.name for each in compared]
    for chunk in compare_rows(compared, read(table, chosen, answered), precision):
        rows += chunk.rows
        show_progress(f"{chunk.done}/{chunk.total} rows")
    end_progress()
    if out:
        write_table(compared_frame(table, rows, names), out, guard)
    shape = comparison_json(rows, names, precision if classifiers else None)
    if bundle:
        keys = [key_of(record.cells, bundle) for record in table.records()]
        shape["contrast_sets"] = contrast_json(keyed(rows, keys), names, bundle)
    if summary:
        write_json(shape, summary)
    if tables:
        write_tables(shape, tables)
    if not shape["scored"]:
        why = shape["first_error"]
        raise ExampleError(f"no row can be compared, the first for this reason: {why}")
    print_answer(as_json, shape, _lines(shape))


CURVE, SCORED = "curve", "scored"
"""What a curve's files are called, and the folder of what each checkpoint was asked."""
CURVE_WORDS = (
    "Each mark is a checkpoint, from left to right by the step at which it was kept;",
    "the bars are 95 % intervals. n: {}.",
)


def _draw_curve(
    folder: Path,
    files: Sequence[Path],
    out: Path | None,
    labels: Sequence[str],
    task: str,
    precision: Precision,
    long: Long,
    reading: FileOptions,
    as_json: bool,
) -> None:
    """Score files by each checkpoint of a training, and draw and write what is right of them.

    What is scored stays in the folder `out`, so that a call that ended early goes on, and one with
    more checkpoints or files asks these alone. Raises ModelError, ComparisonError, FileError.
    """
    checkpoints = [each for each in trainer_checkpoints(folder) if each.step >= 0]
    if not checkpoints:
        raise ModelError(f"{folder} holds no checkpoint-STEP as transformers' Trainer writes them")
    if out is None or not files:
        raise ComparisonError("--curve needs a FILE or more to measure on, and a folder --out")
    paths = {file.name.partition(".")[0]: local_file(file) for file in files}
    if len(paths) < len(files):
        raise ComparisonError("two of the files have one name, by which their lines are told apart")
    orders = {name: order for text in labels for name, _, order in [text.rpartition("=")]}
    if {*orders} - {str(folder)}:
        raise ComparisonError(f"--labels of a curve is {folder}=LABELS, the same for all of them")
    places = [out / f"{CURVE}{end}" for end in (".svg", ".pdf", ".csv")]
    check_output_files(paths.values(), places)
    make_folder(out / SCORED)
    columns_of = dict[str, Columns]()
    rows, labelled = list[dict[str, Any]](), list[str]()  # Any: a table's cells
    for checkpoint in checkpoints:
        name = str(checkpoint.folder)
        model = that_reads(loaded_any(name, orders.get(str(folder), ""), task), long)
        for title, path in paths.items():
            source = open_source(path, options=reading)
            if title not in columns_of:
                columns_of[title] = settled(source, path, model.task, reading)
            columns = columns_of[title]
            if not columns.gold:
                raise ComparisonError(f"{path.name} has no gold labels, so nothing can be right")
            scored = Places(out / SCORED / f"{checkpoint.folder.name}.{title}.jsonl")
            request = ScoringRequest(columns, precision=precision, reading=reading, long=long)
            known = dict(identity(path, model, request, scored))
            kept = scored.scored.with_suffix(".json")
            before = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
            shape, stopped = before.get("summary", {}), False
            if before.get("identity") != known:
                show_progress(f"{checkpoint.folder.name}, {title}:")
                shape, stopped = score_here(FileScoring(source, model, request, scored, known))
            if stopped:
                typer.echo("stopped; the same command goes on where this one ended", err=True)
                raise typer.Exit(INTERRUPTED)
            write_whole(kept, json.dumps({"identity": known, "summary": shape}).encode())
            measure = "f1" if "f1" in shape else "accuracy"
            if not (n := shape[f"{measure}_n"]):
                raise ComparisonError(f"no row of {path.name} with a gold label can be scored")
            low, high = shape[f"{measure}_interval"]
            estimate = Estimate(shape[measure], low, high, n)
            rows.append(
                {"checkpoint": checkpoint.folder.name, "step": checkpoint.step,
                 "epoch": checkpoint.epoch, "best": checkpoint.best, "set": title,
                 "measure": measure, **vars(estimate)}
            )  # fmt: skip
            labelled.append(f"{title}, {checkpoint.folder.name}: {percent(estimate)}")
            if not as_json:
                best = f"  {checkpoint.best}" if checkpoint.best else ""
                typer.echo(f"{checkpoint.folder.name:18} {title:20} {percent(estimate)}{best}")
    frame = pd.DataFrame(rows)
    points = frame.assign(
        name=frame["set"],
        set="challenge",
        examples=frame["step"],
        **{end: 100 * frame[end] for end in ("low", "high")},
        accuracy=100 * frame["value"],
        label=labelled,
    )
    style = replace(style_for(points), size=ALONE)
    counts = ", ".join(
        f"{title} {n:,}" for title, n in frame.groupby("set", sort=False)["n"].max().items()
    )
    measured = "F1" if "f1" in set(frame["measure"]) else "accuracy"
    title = f"{folder.resolve().name}: {measured} in percent over the steps of training"
    drawn = of_panels(
        [(title, Panel(points, from_zero=False))],
        style,
        [words.format(counts) for words in CURVE_WORDS],
    )
    with writing(out):
        for name, content in figure_files(CURVE, drawn).items():
            (out / name).write_bytes(content)
        frame.to_csv(places[-1], index=False)
    if as_json:
        print_json(json.loads(frame.to_json(orient="records")))
    else:
        written = listing([str(place) for place in places])
        typer.echo(f"written: {written}, and what each answers in {out / SCORED}")


def _told_apart(files: list[Path], predictions: list[Path]) -> tuple[Path | None, list[Path]]:
    """Return the file of texts, None for one of answers, and the files of answers.

    Of several files those with answers are told by their columns. Raises ComparisonError.
    """
    if len(files) < 2:
        return next(iter(files), None), predictions
    answers = [each for each in files if holds_answers(read_table(each).names)]
    others = [each for each in files if each not in answers]
    if len(others) > 1:
        names = " and ".join(each.name for each in others)
        raise ComparisonError(
            f"{names} have no column of answers by its name: name each that has by --predictions, "
            "its column by --prediction, and one file of texts"
        )
    return next(iter(others), None), [*answers, *predictions]


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


def _lines(shape: dict[str, Any]) -> list[str]:
    """Return the summary as lines: accuracies or F1, tests, slices over all gold labels."""
    measure, test = ("f1", "bootstrap") if "f1" in shape else ("accuracy", "mcnemar")
    lines = [scored_words(shape, shape["rows"], f"{shape['with_gold']} with gold")]
    for name, one in shape[measure].items():
        exact = f"  exact match {estimate_words(shape['em'][name])}" if "em" in shape else ""
        cut = f"  {one['cut']:,} too long, cut" if one["cut"] else ""
        lines.append(f"{name:24} {'F1 ' if exact else ''}{estimate_words(one)}{exact}{cut}")
        lines += class_lines(shape["by_model"].get(name, {}))
    for couple in shape["pairs_of_models"]:
        lines.append(f"{couple[test]['words']} They agree on {estimate_words(couple['agreement'])}")
    lines += slice_lines(shape)
    return lines + (contrast_lines(shape["contrast_sets"]) if "contrast_sets" in shape else [])
