"""The options that say how a file of examples is read, alike in every command that takes one."""

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Annotated, Any, Literal

import typer

from probe.cli.options import assignments, takes
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.hub_dataset import FetchedDataset, fetch, read_reference
from probe.data.names import is_reference
from probe.data.reading import Labelled, labelled, reading_of
from probe.data.rows import NO_COLUMN, Columns, Source
from probe.errors import OptionError
from probe.models.prediction_file import AnswerFile, AnswerOptions, Predicted
from probe.tasks.task import Task


def read_options(
    premise: Annotated[str, typer.Option(help="The same as --column premise=NAME.")] = "",
    hypothesis: Annotated[str, typer.Option(help="The same as --column hypothesis=NAME.")] = "",
    column: Annotated[
        list[str],
        typer.Option(
            "--column", metavar="FIELD=NAME", help="The column of a text; else by its name."
        ),
    ] = [],  # noqa: B006
    gold: Annotated[
        str, typer.Option(help=f"Column of the gold label; {NO_COLUMN}: read without one.")
    ] = "",
    label_value: Annotated[
        list[str],
        typer.Option(
            "--label-value",
            metavar="VALUE=LABEL",
            help="The gold label that a value of the file means; empty for no gold label.",
        ),
    ] = [],  # noqa: B006
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first row names the columns."),
    ] = None,
    encoding: Annotated[
        str, typer.Option(help="In what the text is written, such as cp1250.")
    ] = "",
    sheet: Annotated[str, typer.Option(help="The sheet of a workbook, by name or number.")] = "",
    quotes: Annotated[
        bool | None,
        typer.Option("--quotes/--no-quotes", help="Whether quotes enclose the fields."),
    ] = None,
) -> FileOptions:
    """Read how a file is read. Raises OptionError for what is said twice."""
    columns = assignments("--column", column)
    for field, name in {"premise": premise, "hypothesis": hypothesis}.items():
        if name and columns.setdefault(field, name) != name:
            raise OptionError(f"{field} is given twice, by --{field} and by --column")
    values = assignments("--label-value", label_value)
    return FileOptions(header, encoding, sheet, quotes, columns, gold, values)


def read_answers(
    prediction: Annotated[
        str, typer.Option(help="Column of the answers in a file of them; else by its name.")
    ] = "",
    scores: Annotated[
        str,
        typer.Option(
            help="Column of a list of their scores, or one a label with commas; none: without."
        ),
    ] = "",
) -> AnswerOptions:
    """Read what is said of files of answers."""
    names = tuple(name.strip() for name in scores.split(",") if name.strip())
    return AnswerOptions(prediction, names)


takes_answers = takes("said", read_answers)
ANSWER_FILES = (
    "Answers in a file in the place of a model's: eval_predictions.jsonl, samples of "
    "lm-evaluation-harness, a submission to GLUE or HANS, any table."
)


def joined(
    answers: Sequence[AnswerFile], table: Source, columns: Columns, task: Task, options: FileOptions
) -> list[Predicted]:
    """Return the answers of files to a table's rows, and say how each is read.

    Raises FileError, FileQuestion.
    """
    given = [each.on(table, columns, task, options) for each in answers]
    for each in given:
        typer.echo(f"note: {each.words}", err=True)
    return given


GOLD_NEEDED: Any = Annotated[str, typer.Option(help="Column of the gold label.")]  # Any: typer's
"""In the place of that option where nothing can be done without gold labels."""


def takes_file(
    texts: bool = True, gold: Literal["if there", "needed", "own"] = "needed"
) -> Callable[[Callable[..., Any]], Any]:
    """Give a command the options of reading a file; they come as its parameter `reading`.

    Where the command has an option of its own called gold, or premise and hypothesis, those are
    left out here. A file without gold labels is offered where they are read if they are there.
    """
    options = dict(inspect.signature(read_options).parameters)
    if gold == "needed":
        options["gold"] = options["gold"].replace(annotation=GOLD_NEEDED)
    left_out = {"premise": not texts, "hypothesis": not texts, "gold": gold == "own"}
    own = {name: each for name, each in options.items() if not left_out.get(name)}
    return takes("reading", read_options, own)


def settled(
    table: Source, path: Path, task: Task, options: FileOptions = AS_THE_FILE_TELLS
) -> Columns:
    """Return the columns by which a file is read, and say how. Raises FileQuestion."""
    reading = reading_of(table, path, task, options)
    columns = reading.settled
    if reading.words:
        typer.echo(f"note: {reading.words}", err=True)
    return columns


def labelled_and_told(path: Path, task: Task, options: FileOptions) -> Labelled:
    """Return the examples with a gold label, and say how they are read. Raises FileQuestion."""
    read = labelled(path, task, options)
    if read.words:
        typer.echo(f"note: {path.name}: {read.words}", err=True)
    return read


OR_HUB = "or hub:OWNER/NAME@REVISION:CONFIG/SPLIT"
"""Ends the help of what takes such a file."""


def local_file(file: Path) -> Path:
    """Return a file, fetched first where it is a data set of the hub. Raises FileError."""
    return fetched(file).path if is_reference(file) else file


@cache
def fetched(file: Path) -> FetchedDataset:
    """Fetch a hub's data set once for this process, and say what it is. Raises FileError."""
    asked = read_reference(file)
    folder = Path(mkdtemp(dir=_folder().name))  # data sets of two owners may have one name
    dataset = fetch(asked, folder)
    typer.echo(f"fetched: {dataset.words}", err=True)
    return dataset


@cache
def _folder() -> "TemporaryDirectory[str]":
    """Return a folder that is gone when the process ends."""
    return TemporaryDirectory(prefix="nli-clinic-")
