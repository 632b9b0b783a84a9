"""The commands that run trials and write all into a folder; `params` has their options."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from finetune.report import generalisation as of_generalisation
from finetune.report import inoculation as of_inoculation
from finetune.report.files import write_files, write_points
from finetune.training.data import Asked
from finetune.trials import (
    calibration,
    debiasing,
    generalisation,
    inoculation,
    mitigation,
    transfer,
)
from finetune.trials.base import Epoch, refuse
from finetune.trials.challenges import UserFiles
from finetune.trials.generalisation import same_phenomenon
from finetune.trials.params import PARAMS, REQUIRED, Param
from finetune.trials.planning import Choices, Planned, planned
from probe.cli import options
from probe.cli.compute import compute_run
from probe.cli.file_options import local_file, takes_file
from probe.cli.options import loaded, loaded_any
from probe.cli.output import make_folder
from probe.data.file_options import FileOptions
from probe.first_import import first_import
from probe.models.library import AnyModel
from probe.runs.experiment import Progress, Result
from probe.runs.gallery import gallery_runs, write
from probe.runs.models import named_model_hash
from probe.runs.run import Json, StoredRun
from probe.runs.store import Store
from probe.statistics import mean_error
from probe.text.duration import duration_words

Given = Mapping[str, Any]
"""The values of a command's options, by name.  # Any: each has a type of its own"""


def _made(gallery: Path | None) -> Path | None:
    """Make the folder before the run that it is to keep. Raises FileError."""
    if gallery:
        make_folder(gallery)
    return gallery


GALLERY = "A gallery that keeps the finished run, as assets/gallery."
SHARED: Mapping[str, Any] = {  # Any: as typer has it
    "model": options.KeptModelName,
    "task": options.TaskName,
    "labels": options.LabelOrder,
    "gallery": Annotated[Path | None, typer.Option(callback=_made, help=GALLERY)],
    "in_process": options.InProcess,
    "threads": options.Threads,
    "precision": options.PrecisionName,
}
"""The options that other commands have too."""


def _option(param: Param) -> inspect.Parameter:
    own: Any = typer.Option(help=param.help)
    if param.choices:
        own = options.choice(param.name, param.choices, param.help)
    kind = Annotated[param.type, own] if param.type else SHARED[param.name]
    default = inspect.Parameter.empty if param.default is REQUIRED else param.default
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(param.name, keyword, annotation=kind, default=default)


def takes_options(parameters: Iterable[inspect.Parameter]) -> Callable[[Any], Any]:
    """Make a command of a function that takes the values of options, by name."""

    def with_options(run: Callable[[Given], None]) -> Any:  # Any: typer takes any function
        @wraps(run)
        def called(**given: Any) -> None:
            with first_import:
                import torch  # not for the help

            torch.set_num_threads(given["threads"])
            run(given)

        called.__signature__ = inspect.Signature(list(parameters))  # type: ignore[attr-defined]  # typer reads it
        return called

    return with_options


def command(kind: str) -> Callable[[Callable[[Given], None]], Any]:
    """Make a command of a function that takes the values of a kind's parameters, by name."""
    with_options = takes_options(map(_option, PARAMS[kind]))
    return lambda run: takes_file(texts=False)(with_options(run))


def told(reading: FileOptions) -> Asked:
    """Return how several files are read; what a person would not expect of that is printed."""
    return Asked(replace(reading, one_file=False), tell=partial(typer.echo, err=True))


def local_files(files: UserFiles) -> UserFiles:
    """Return files of this disk, those of the hub fetched. Raises FileError."""
    paths: dict[str, Any] = {  # Any: as fields of several types
        name: local_file(path) for name, path in vars(files).items() if isinstance(path, Path)
    }
    return replace(files, **paths)


def _choices(kind: str, given: Given, model: AnyModel) -> Choices:
    """Return what the options choose for a model that is open. Raises FileError."""
    names = {field.name: field.name for field in fields(UserFiles)} | {
        "challenge": "challenge_file",
        "seed": "sample_seed",
    }
    own = {field: given[name] for field, name in names.items() if name in given}
    files = local_files(UserFiles(**own, asked=told(given["reading"])))
    labels = model.order if given["task"] or given["labels"] else ()
    return Choices(kind, model.task, given, files, labels, "option")


def _alone(given: Given) -> bool:
    return bool(given["in_process"] or given["threads"] > 1)


def _say_seconds(seconds: float) -> None:
    typer.echo(f"{duration_words(seconds)} on one core")


def _note(*notes: str) -> None:
    for note in notes:
        typer.echo(f"note: {note}")


def _keep(given: Given, name: str, run: StoredRun) -> None:
    """Write a run into a gallery, where one is asked for, and say where it lies."""
    if gallery := given["gallery"]:
        stem = f"{Path(given['model']).name}-{name}"
        typer.echo(f"written: {write(gallery, stem, run)}")


def compute(
    asked: Planned,
    row_text: Callable[[Any], str],  # Any: each kind has rows of its own
    in_process: bool,
    folder: Path | None = None,
) -> StoredRun:
    """Compute a run as `compute_run` does; points.csv is in the folder after each result.

    Raises ModelError besides.
    """
    trials, request = asked.kind.trials, asked.request(model=named_model_hash(asked.plan.model))
    known = partial(trials.known_results, plan=asked.plan, artefacts=request.artefacts)

    def told(key: Json, row: Progress | Result) -> str:
        read = trials.point_from if isinstance(row, Result) else trials.epoch_from
        return row_text(read(key, row.values))

    write_rows = partial(write_points, folder=folder) if folder else None
    return compute_run(request, known, told, in_process, write_rows)


@command(inoculation.KIND)
def inoculate_command(given: Given) -> None:
    """Fine-tune on a little of a challenge and test on both sets (Liu et al. 2019).

    Thresholds are shares from 0 to 1. Cells of earlier runs are not computed again.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """
    with first_import:
        from finetune.trials.duration import overflow_note, run_seconds  # not for the help

    model, out = loaded_any(given["model"], given["labels"], given["task"]), given["out"]
    asked = planned(_choices(inoculation.KIND, given, model))
    plan, sets = asked.plan, asked.data
    _say_seconds(asked.seconds(model))
    _note(*filter(None, [overflow_note(plan, sets, model)]), *asked.warnings)
    make_folder(out)
    stored = compute(asked, of_inoculation.row_text, _alone(given), out)
    write_files([stored], out)
    run, found = inoculation.inoculation_run(stored), stored.verdict["oracle_lr"]
    typer.echo(f"{found['headline']}. {of_inoculation.meaning(found)}")
    if more := of_inoculation.missing_texts(found):
        typer.echo(more)
    if telling := of_inoculation.plan_that_tells(run, "oracle_lr"):
        wait = duration_words(run_seconds(telling, sets, model))
        typer.echo(f"{of_inoculation.telling_command(run, 'oracle_lr')} ({wait} on one core)")
    _note(*run.verdict["warnings"])
    if stored.kept:
        typer.echo(f"the model of the largest size is kept as {stored.kept}")


@command(generalisation.KIND)
def generalise_command(given: Given) -> None:
    """Train on one kind of example and test on each: phenomenon or data set (Rozen et al. 2019)?

    Epoch and rate are chosen on held-out rows of what is trained on. Cells of earlier runs are not
    computed again.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """
    out = given["out"]
    refuse(
        {
            "--condition names a column of --challenge-file; give that file too": (
                given["condition"] != "condition" and given["challenge_file"] is None
            )
        }
    )
    model = loaded(given["model"], given["labels"], given["task"])
    asked = planned(_choices(generalisation.KIND, given, model))
    plan = asked.plan
    _say_seconds(asked.seconds(model))
    make_folder(out)
    run = compute(asked, of_generalisation.row_text, _alone(given), out)
    beside = same_phenomenon(plan, (*gallery_runs(), *Store().runs(kind=inoculation.KIND)))
    write_files([run], out, beside)
    typer.echo(f"{run.verdict['name']}. {run.verdict['explanation']}")
    _note(*run.verdict["warnings"])
    if beside:
        typer.echo(f"inoculation on {beside.plan.challenge}: {beside.verdict['headline']}")
    _keep(given, f"{plan.phenomenon}-{plan.vary}", run)


def _repair(
    kind: str,
    begins: Callable[[Json], str],
    came_to: Callable[[Any], str],  # Any: each kind has points of its own
    given: Given,
    notes: Callable[[Any], str] = lambda plan: "",
) -> StoredRun:
    """Compute a run as `compute_run` does, leave its files and say what it came to.

    A row's text `begins` with its cell and says what its point `came_to`. points.csv is written
    after each result, figure and summary at the end.
    """
    model, out = loaded(given["model"], given["labels"], given["task"]), given["out"]
    asked = planned(_choices(kind, given, model))
    _note(*asked.notes)
    _say_seconds(asked.seconds(model))
    _note(*filter(None, [notes(asked.plan)]))
    make_folder(out)

    def row_text(row: Any) -> str:  # Any: as above
        cell = begins(vars(row.cell))
        if isinstance(row, Epoch):
            return f"{cell}  {of_inoculation.epoch_text(row)}"
        return f"{cell}  {came_to(row)}  {row.seconds:.1f} s"

    run = compute(asked, row_text, _alone(given), out)
    write_files([run], out)
    typer.echo(run.verdict["explanation"])
    return run


@command(calibration.KIND)
def calibrate_command(given: Given) -> None:
    """Calibrate a model and see whether that cures word salad (Gupta et al. 2021, calibration).

    Fast mode trains the upper layers alone, which is ours; the paper trains all weights, on whole
    training sets. The model of the first method is kept and can be chosen by its name.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """

    def came_to(point: calibration.Point) -> str:
        measured, error = point.calibration, mean_error([point.calibration])
        return (
            f"ECE {measured.ece:.4f} ({error.beside} points)  accuracy {measured.accuracy:.4f}  "
            f"agreement {point.agreement:.4f}  temperature {point.temperature:.3f}"
        )

    begins = "{method:11} size {size:<4} seed {seed}".format_map
    run = _repair(calibration.KIND, begins, came_to, given)
    typer.echo(f"the calibrated model is kept as {run.kept}")
    _keep(given, calibration.KIND, run)


@command(mitigation.KIND)
def mitigate_command(given: Given) -> None:
    """Teach a model to say when a text is no example of its task (Gupta et al. 2021, mitigation).

    Fast mode trains the upper layers alone, which is ours and costs much accuracy on whole texts;
    the paper trains all weights, on whole training sets. The repaired model is kept and can be
    chosen by its name.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """

    def came_to(point: mitigation.Point) -> str:
        return (
            f"clean {point.clean.share:.4f}  rejected {point.rejected.share:.4f}  "
            f"found {point.invalid_found:.4f}  agreement {point.agreement:.4f}  "
            f"threshold {point.threshold:.3f}"
        )

    def cost(plan: mitigation.Plan) -> str:
        known = mitigation.quick_cost(plan)
        return f"{known} --mode full is slower." if known else ""

    begins = "{method:9} size {size:<4} seed {seed}".format_map
    run = _repair(mitigation.KIND, begins, came_to, given, cost)
    _note(*run.verdict["warnings"])
    typer.echo(f"the repaired model is kept as {run.kept}")
    _keep(given, mitigation.KIND, run)


@command(debiasing.KIND)
def debias_command(given: Given) -> None:
    """Train a model on against a short cut, or beside changed texts (Clark, Utama, He et al.).

    The trained model learns on, where the papers begin with an encoder, as `finetune train --loss
    poe --weak hypothesis` does. The model of the first method is kept and can be chosen by its
    name.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """

    def came_to(point: debiasing.Point) -> str:
        shares = debiasing.shares(point.clusters)
        return "  ".join(f"{name} {share:.4f}" for name, share in shares.items())

    begins = "{method:10} size {size:<4} seed {seed}".format_map
    run = _repair(debiasing.KIND, begins, came_to, given)
    _note(*run.verdict["warnings"])
    typer.echo(f"the debiased model is kept as {run.kept}")
    _keep(given, debiasing.KIND, run)


@command(transfer.KIND)
def transfer_command(given: Given) -> None:
    """Teach one kind of broken text, test on all (Gupta et al. 2021, table 18).

    Fast mode trains the upper layers alone, which is ours; the paper trains all weights, on whole
    training sets. Cells of earlier runs are not computed again.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """

    def begins(key: Json) -> str:
        row = transfer.row_of(transfer.TRIALS.cell_from(key))
        return f"{row:10} size {key['size']:<4} seed {key['seed']}"

    def came_to(point: transfer.Point) -> str:
        found = [f"{name} {each.share:.3f}" for name, each in point.found.items()]
        return "  ".join([f"clean {point.clean.share:.4f}", *found])

    run = _repair(transfer.KIND, begins, came_to, given)
    _keep(given, transfer.KIND, run)
