"""`python -m probe checkup`: what the papers would say about one model."""

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from math import nan
from pathlib import Path
from typing import Annotated, Any

import typer

from probe.checkup.experiment import known_results, run_request
from probe.checkup.measuring import (
    ASKED,
    IN_SLICES,
    Asked,
    estimate_seconds,
    figure_names,
    new_plan,
)
from probe.checkup.page import report_files, write_report
from probe.checkup.report import (
    against,
    changes_words,
    read_report,
    report_of,
    too_low,
    without_rows,
)
from probe.cli.compute import compute_run
from probe.cli.file_options import OR_HUB, labelled_and_told, local_file, takes_file
from probe.cli.options import (
    MODEL_NAME,
    InProcess,
    LabelOrder,
    LongTexts,
    PrecisionName,
    SignName,
    TaskName,
    Threads,
    opened,
    takes,
)
from probe.cli.output import check_output_files, make_folder
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions, option_words
from probe.data.hub_dataset import source_name
from probe.errors import CheckupError, write_json
from probe.models.library import full_name, that_reads
from probe.runs.experiment import Progress, Result
from probe.runs.run import Json
from probe.tasks.examples import bundled_examples
from probe.tasks.task import Task
from probe.terms import capitalised
from probe.text.duration import duration_words

ALIKE: Mapping[str, Any] = {  # Any: as typer has it
    "long": LongTexts,
    "precision": PrecisionName,
    "sign": SignName,
}
"""The options that other commands have too."""
FAILED = 1
"""The exit code of a figure on the wrong side of its limit."""


def _option(name: str) -> inspect.Parameter:
    """Return what is asked of a check-up as an option of the command."""
    facts, keyword = ASKED[name], inspect.Parameter.KEYWORD_ONLY
    help = f"{capitalised(facts.words)}."
    number = typer.Option(f"--{name.replace('_', '-')}", min=int(facts.low), help=help)
    kind = ALIKE.get(name, Annotated[int, number])
    return inspect.Parameter(name, keyword, annotation=kind, default=getattr(Asked, name))


@takes_file(texts=False)
@takes("asked", Asked, {name: _option(name) for name in ASKED})
def checkup_command(
    model: Annotated[str, typer.Argument(help=MODEL_NAME, callback=full_name)],
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help=f"Labelled, {OR_HUB}; else the bundled test set."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for report.html and report.json.")] = Path(
        "checkup"
    ),
    asked: Asked = Asked(),  # a frozen table of options, made once
    older: Annotated[
        Path | None, typer.Option("--against", help="An older report.json to compare with.")
    ] = None,
    fail_under: Annotated[
        list[str], typer.Option(help="0.8 of the score, or NAME=0.6; may be repeated.")
    ] = [],  # noqa: B006
    reference: Annotated[
        Path | None, typer.Option(help="Also write the figures alone, as assets/checkups has them.")
    ] = None,
    task: TaskName = "",
    labels: LabelOrder = "",
    in_process: InProcess = False,
    threads: Threads = 1,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Check a model up: every transform of its task, calibration, slices and HANS, in one report.

    What an interrupted call has measured is not measured again. Ends with exit code 1 where a
    figure is under its limit, or above it where less is better.
    """
    check_output_files([file], [*report_files(out), reference])
    check_output_files([older], [reference])
    import torch  # which the other commands of this group need not wait for

    torch.set_num_threads(threads)
    before = read_report(older) if older else None
    loaded = opened(model, labels, task)
    limits = dict(_limit(text, loaded.task) for text in fail_under)
    path = local_file(file) if file else None
    if path:
        examples: Sequence[Any] = labelled_and_told(path, loaded.task, reading).examples
    else:
        examples = bundled_examples(loaded.task, "test")
    make_folder(out)
    that_reads(loaded, asked.long)  # refuses what cannot be, before an hour of work
    order = loaded.order if task or labels else ()
    name, words = (source_name(path), option_words(reading.said)) if path else ("", ())
    plan = new_plan(model, loaded.task, asked, order, name, words)
    typer.echo(f"{duration_words(estimate_seconds(plan, examples, loaded))} on one core")
    request = run_request(plan, examples)  # through store and engine, as the page does
    known = partial(
        known_results, plan=plan, environment=request.environment, artefacts=request.artefacts
    )
    report = report_of(compute_run(request, known, row_text, in_process or threads > 1))
    changes = against(before, report) if before else None
    paths = write_report(report, out, changes)
    if reference:
        write_json(without_rows(report), reference)
    for line in (*report["findings"], *(changes_words(changes) if changes is not None else ())):
        typer.echo(line)
    for each in report["advice"]:
        typer.echo(f"try: {each['why']}: {each['command']}")
    typer.echo(f"written: {' and '.join(map(str, paths))}")
    if missed := too_low(report, limits):
        for line in missed:
            typer.echo(f"failed: {line}", err=True)
        raise typer.Exit(FAILED)


def row_text(key: Json, row: Progress | Result) -> str:
    """Return a part and that it has begun, or how many figures it came to and when."""
    if isinstance(row, Progress):
        return f"{key['part']:20}  measuring"
    figures = " ".join(f"{100 * each['value']:.1f} %" for each in row.values["figures"][:2])
    return f"{key['part']:20}  {figures or 'changes no text'}  {row.values['seconds']:.1f} s"


def _limit(text: str, task: Task) -> tuple[str, float]:
    """Read a limit; a number alone is that of the score.

    Raises CheckupError, also for a name that no figure of the task has; slices are known only when
    they are measured.
    """
    written, _, number = text.rpartition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = nan
    if not 0 <= limit <= 1:
        raise CheckupError(
            f"--fail-under {text!r} is neither a share from 0 to 1, such as 0.8, nor of the form "
            "NAME=0.6"
        )
    name, known = written.strip().lower() or task.measure.lower(), list(figure_names(task))
    if name not in map(str.lower, known) and IN_SLICES not in name:
        raise CheckupError(
            f"a check-up of {task.title.lower()} has no figure {name!r}; it has: {', '.join(known)}"
        )
    return name, limit
