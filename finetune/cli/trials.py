"""The commands that run trials and write all into a folder; `params` has their options."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from finetune.report import generalisation as of_generalisation
from finetune.report import inoculation as of_inoculation
from finetune.report.files import write_files, write_points
from finetune.training.data import Asked
from finetune.training.recipes import default_rate
from finetune.trials import calibration, mitigation, transfer
from finetune.trials import generalisation_plan as generalisation
from finetune.trials import inoculation_plan as inoculation
from finetune.trials.base import Training, TrialKind, numbers, refuse
from finetune.trials.challenges import (
    UserFiles,
    challenge_name,
    read_sets,
    read_source_data,
    sources_of,
)
from finetune.trials.datasets import Sets, labelled
from finetune.trials.duration import (
    generalisation_seconds,
    inoculation_seconds,
    overflow_note,
    repair_seconds,
)
from finetune.trials.generalisation import read_data, same_phenomenon
from finetune.trials.inoculation import fast_notes
from finetune.trials.params import PARAMS, REQUIRED, SIZE, Param
from finetune.trials.word_salad import salad_names
from probe.cli import options
from probe.cli.compute import compute_run
from probe.cli.file_options import local_file, takes_file
from probe.cli.options import loaded, loaded_any
from probe.cli.output import make_folder
from probe.data.file_options import FileOptions
from probe.data.hub_dataset import source_name
from probe.models.library import AnyModel
from probe.runs.experiment import Progress, Result
from probe.runs.gallery import gallery_runs, write
from probe.runs.models import named_model_hash
from probe.runs.run import Json, StoredRun, environment
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


def command(kind: str) -> Callable[[Callable[[Given], None]], Any]:
    """Make a command of a function that takes the values of a kind's parameters, by name."""

    def with_options(run: Callable[[Given], None]) -> Any:  # Any: typer takes any function
        @wraps(run)
        def called(**given: Any) -> None:
            torch.set_num_threads(given["threads"])
            run(given)

        called.__signature__ = inspect.Signature(list(map(_option, PARAMS[kind])))  # type: ignore[attr-defined]  # typer reads it
        return takes_file(texts=False)(called)

    return with_options


def told(reading: FileOptions) -> Asked:
    """Return how several files are read; what a person would not expect of that is printed."""
    return Asked(replace(reading, one_file=False), tell=partial(typer.echo, err=True))


def local_files(files: UserFiles) -> UserFiles:
    """Return files of this disk, those of the hub fetched. Raises FileError."""
    named: Given = {field.name: getattr(files, field.name) for field in fields(files)}
    paths = {name: path for name, path in named.items() if isinstance(path, Path)}
    return UserFiles(**{**named, **{name: local_file(path) for name, path in paths.items()}})


def _files(given: Given, *left_out: str) -> UserFiles:
    """Return the files that the options name, on this disk. Raises FileError."""
    names = {field.name: field.name for field in fields(UserFiles)} | {
        "challenge": "challenge_file",
        "seed": "sample_seed",
    }
    own = {
        field: given[name]
        for field, name in names.items()
        if name in given and name not in left_out
    }
    return local_files(UserFiles(**own, asked=told(given["reading"])))


def _outputs(given: Given, model: AnyModel) -> dict[str, Any]:  # Any: of a plan
    """Return the task of a model, and the order of its outputs where a person says either."""
    said = given["task"] or given["labels"]
    return {"task": model.task.name, "labels": model.order if said else ()}


def _rates(given: Given, usual: Callable[[float], tuple[float, ...]]) -> tuple[float, ...]:
    if given["lrs"].strip():
        return numbers("--lrs", given["lrs"], float)
    return usual(default_rate(given["model"], given["mode"]))


def _own(given: Given, plan: type[Any], *left_out: str) -> dict[str, Any]:
    """Return the values of a plan's fields that are taken as they are.  # Any: of any plan"""
    names = {field.name for field in fields(plan)} - {"task", "labels", *left_out}
    return {name: value for name, value in given.items() if name in names}


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


def compute_inoculation(
    plan: inoculation.Plan,
    sets: Sets,
    sources: Json,
    in_process: bool,
    on_result: Callable[[StoredRun], object] | None = None,
) -> StoredRun:
    """Compute an inoculation as `compute_run` does. Raises ModelError besides."""
    model = {"model": named_model_hash(plan.model)}
    request = inoculation.run_request(plan, sets, environment(), model)
    if sources:
        request.artefacts["sources"] = sources
    known = partial(inoculation.known_results, plan=plan, artefacts=request.artefacts)
    row_text = partial(_row_text, inoculation.TRIALS, of_inoculation.row_text)
    return compute_run(request, known, row_text, in_process, on_result)


def _row_text(
    kind: TrialKind[Any, Any, Any, Any],  # Any: each kind has rows of its own
    text: Callable[[Any], str],
    key: Json,
    row: Progress | Result,
) -> str:
    read = kind.point_from if isinstance(row, Result) else kind.epoch_from
    return text(read(key, row.values))


@command(inoculation.KIND)
def inoculate_command(given: Given) -> None:
    """Fine-tune on a little of a challenge and test on both sets (Liu et al. 2019).

    Thresholds are shares from 0 to 1. Cells of earlier runs are not computed again.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """
    model = loaded_any(given["model"], given["labels"], given["task"])
    files, out = _files(given), given["out"]
    limits = {
        param.field.removeprefix("thresholds."): given[param.name]
        for param in PARAMS[inoculation.KIND]
        if param.field
    }
    plan = inoculation.Plan(
        **_own(given, inoculation.Plan, "challenge", "sizes", "lrs", "seeds"),
        challenge=given["challenge"],
        sizes=inoculation.read_sizes("--sizes", given["sizes"]),
        lrs=_rates(given, lambda rate: (rate,)),
        seeds=numbers("--seeds", given["seeds"], int),
        thresholds=inoculation.Thresholds(**limits),
        **_outputs(given, model),
    )
    if not (files.challenge or files.challenge_train):  # examples are made
        plan = replace(plan, challenge=challenge_name(plan.challenge, model.task))
    sets = read_sets(plan.challenge, files, model.task)
    plan = inoculation.resolved(plan, sets)
    inoculation.check(plan, sets)
    _say_seconds(inoculation_seconds(plan, sets, model))
    _note(*filter(None, [overflow_note(plan, sets, model)]), *fast_notes([plan]))
    make_folder(out)
    write_rows = partial(write_points, folder=out)
    stored = compute_inoculation(plan, sets, sources_of(files), _alone(given), write_rows)
    write_files([stored], out)
    run, found = inoculation.inoculation_run(stored), stored.verdict["oracle_lr"]
    typer.echo(f"{found['headline']}. {of_inoculation.meaning(found)}")
    if more := of_inoculation.missing_texts(found):
        typer.echo(more)
    if telling := of_inoculation.plan_that_tells(run, "oracle_lr"):
        wait = duration_words(inoculation_seconds(telling, sets, model))
        typer.echo(f"{of_inoculation.telling_command(run, 'oracle_lr')} ({wait} on one core)")
    _note(*run.verdict["warnings"])


@command(generalisation.KIND)
def generalise_command(given: Given) -> None:
    """Train on one kind of example and test on each: phenomenon or data set (Rozen et al. 2019)?

    Epoch and rate are chosen on held-out rows of what is trained on. Cells of earlier runs are not
    computed again.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """
    file, column, out = given["challenge_file"], given["condition"], given["out"]
    refuse(
        {
            "--condition names a column of --challenge-file; give that file too": (
                column != "condition" and file is None
            )
        }
    )
    model = loaded(given["model"], given["labels"], given["task"])
    files = _files(given, "challenge_file")
    rows = local_file(file) if file else None
    data = read_data(files, rows, column, model.task)
    plan = generalisation.Plan(
        **_own(given, generalisation.Plan, "phenomenon", "vary", "sizes", "lrs", "seeds"),
        phenomenon=given["phenomenon"] or (rows.stem if rows else "numerical"),
        vary=generalisation.FILE if rows else given["vary"],
        rows=(),
        columns=(),
        sizes=numbers("--sizes", given["sizes"], int),
        lrs=_rates(given, generalisation.usual_rates),
        seeds=numbers("--seeds", given["seeds"], int),
        thresholds=generalisation.Thresholds(given["max_loss"]),
        **_outputs(given, model),
    )
    plan = generalisation.with_conditions(plan, data)
    own = {"challenge-file": source_name(rows), "condition": column} if rows else {}
    artefacts = {"model": named_model_hash(plan.model), "sources": {**sources_of(files), **own}}
    generalisation.check(plan)
    _say_seconds(generalisation_seconds(plan, data, model))
    make_folder(out)
    request = generalisation.run_request(plan, data, environment(), artefacts)
    known = partial(generalisation.known_results, plan=plan, artefacts=request.artefacts)
    row_text = partial(_row_text, generalisation.TRIALS, of_generalisation.row_text)
    write_rows = partial(write_points, folder=out)
    run = compute_run(request, known, row_text, _alone(given), write_rows)
    beside = same_phenomenon(plan, (*gallery_runs(), *Store().runs(kind=inoculation.KIND)))
    write_files([run], out, beside)
    typer.echo(f"{run.verdict['name']}. {run.verdict['explanation']}")
    _note(*run.verdict["warnings"])
    if beside:
        typer.echo(f"inoculation on {beside.plan.challenge}: {beside.verdict['headline']}")
    _keep(given, f"{plan.phenomenon}-{plan.vary}", run)


def _named(text: str) -> tuple[str, ...]:
    """Read names with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _fitting(text: str, available: int, unit: str) -> tuple[int, ...]:
    """Read sizes; of those that nobody asked for, no more than there are examples."""
    sizes = numbers("--sizes", text, int)
    if text != SIZE or all(size <= available for size in sizes):
        return sizes
    typer.echo(f"note: there are {available} {unit}s to train on, so that all are taken")
    return tuple(dict.fromkeys(min(size, available) for size in sizes))


def _repair(
    kind: TrialKind[Any, Any, Any, Any],  # Any: each kind has plans, cells and points of its own
    check: Callable[[Any, Any], None],
    begins: Callable[[Json], str],
    came_to: Callable[[Any], str],
    given: Given,
    notes: Callable[[Any], str] = lambda plan: "",
    whole: Callable[[Any, tuple[str, ...]], Any] = lambda plan, known: plan,
) -> StoredRun:
    """Compute a run as `compute_run` does, leave its files and say what it came to.

    A row's text `begins` with its cell and says what its point `came_to`; `whole` is the plan with
    what was left open. points.csv is written after each result, figure and summary at the end.
    """
    model, out = loaded(given["model"], given["labels"], given["task"]), given["out"]
    files = _files(given)
    source = labelled(read_source_data(files, model.task))
    rate = given["lr"]
    if rate is None:
        rate = default_rate(given["model"], given["mode"])
    training = Training(
        rate, given["mode"], given["epochs"], given["batch"], precision=given["precision"]
    )
    own = _own(given, kind.plan, "sizes", "seeds", "methods", "transforms")
    names = {name: _named(given[name]) for name in ("methods", "transforms") if name in given}
    plan = kind.plan(
        **own,
        **names,
        training=training,
        sizes=_fitting(given["sizes"], len(source.pool), source.task.unit),
        seeds=numbers("--seeds", given["seeds"], int),
        **_outputs(given, model),
    )
    plan = whole(plan, salad_names(model.task))
    check(plan, source)
    _say_seconds(repair_seconds(plan, source, model))
    _note(*filter(None, [notes(plan)]))
    make_folder(out)
    artefacts = {"model": named_model_hash(plan.model), "sources": sources_of(files)}
    request = kind.request(plan, source, environment(), artefacts)
    known = partial(kind.known_results, plan=plan, artefacts=request.artefacts)

    def row_text(key: Json, row: Progress | Result) -> str:
        if isinstance(row, Progress):
            return f"{begins(key)}  {of_inoculation.epoch_text(kind.epoch_from(key, row.values))}"
        point = kind.point_from(key, row.values)
        return f"{begins(key)}  {came_to(point)}  {point.seconds:.1f} s"

    run = compute_run(request, known, row_text, _alone(given), partial(write_points, folder=out))
    write_files([run], out)
    typer.echo(run.verdict["explanation"])
    return run


@command(calibration.KIND)
def calibrate_command(given: Given) -> None:
    """Calibrate a model and see whether that cures word salad (Gupta et al. 2021, section 4).

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
    run = _repair(calibration.TRIALS, calibration.check, begins, came_to, given)
    typer.echo(f"the calibrated model is kept as {run.kept}")
    _keep(given, calibration.KIND, run)


@command(mitigation.KIND)
def mitigate_command(given: Given) -> None:
    """Teach a model to say when a text is no example of its task (Gupta et al. 2021, section 5).

    Fast mode trains the upper layers alone, which is ours and costs much accuracy on whole texts;
    the paper trains all weights, on whole training sets. The repaired model is kept and can be
    chosen by its name.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """

    def came_to(point: mitigation.Point) -> str:
        return (
            f"clean {point.clean.share:.4f}  rejected {point.rejected.share:.4f}  "
            f"found {point.invalid_found:.4f}  threshold {point.threshold:.3f}"
        )

    def cost(plan: mitigation.Plan) -> str:
        known = mitigation.quick_cost(plan)
        return f"{known} --mode full is slower." if known else ""

    begins = "{method:9} size {size:<4} seed {seed}".format_map
    run = _repair(mitigation.TRIALS, mitigation.check, begins, came_to, given, cost)
    _note(*run.verdict["warnings"])
    typer.echo(f"the repaired model is kept as {run.kept}")
    _keep(given, mitigation.KIND, run)


@command(transfer.KIND)
def transfer_command(given: Given) -> None:
    """Teach one kind of broken text, test on all (Gupta et al. 2021, tables 11 and 18).

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

    def whole(plan: transfer.Plan, known: tuple[str, ...]) -> transfer.Plan:
        return replace(plan, transforms=plan.transforms or known)

    run = _repair(transfer.TRIALS, transfer.check, begins, came_to, given, whole=whole)
    _keep(given, transfer.KIND, run)
