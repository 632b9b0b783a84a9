"""The files of a run that may be data sets of the hub, as commands take them."""

from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from finetune.report.repair_files import write_figure, write_points, write_summary
from finetune.training.data import Asked
from finetune.training.recipes import Mode, default_rate
from finetune.trials.base import Epoch, RepairPlan, Training, TrialKind
from finetune.trials.challenges import UserFiles, read_source_data, sources_of
from finetune.trials.datasets import SourceData, labelled
from probe.cli.compute import RowText, compute_run
from probe.cli.file_options import local_file
from probe.cli.output import make_folder
from probe.data.file_options import FileOptions
from probe.models.hardware import Precision
from probe.runs.gallery import write
from probe.runs.models import named_model_hash
from probe.runs.run import StoredRun, environment
from probe.tasks.task import Task


def told(options: FileOptions) -> Asked:
    """Return how several files are read; what a person would not expect of that is printed."""
    return Asked(replace(options, one_file=False), tell=partial(typer.echo, err=True))


def local_files(files: UserFiles) -> UserFiles:
    """Return files of this disk, those of the hub fetched. Raises FileError."""
    named: dict[str, Any] = {field.name: getattr(files, field.name) for field in fields(files)}
    paths = {name: path for name, path in named.items() if isinstance(path, Path)}
    return UserFiles(**{**named, **{name: local_file(path) for name, path in paths.items()}})


SIZE = "1000"
"""Examples of a training where nobody asks for another number."""


def read_clean(files: UserFiles, task: Task) -> SourceData:
    """Return labelled dev, test and pool. Raises as `read_source_data` does."""
    return labelled(read_source_data(files, task))


def named(text: str) -> tuple[str, ...]:
    """Read names with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def fitting(sizes: tuple[int, ...], available: int, unit: str, asked: bool) -> tuple[int, ...]:
    """Return the sizes; of those that nobody asked for, no more than there are examples."""
    if asked or all(size <= available for size in sizes):
        return sizes
    typer.echo(f"note: there are {available} {unit}s to train on, so that all are taken")
    return tuple(dict.fromkeys(min(size, available) for size in sizes))


def _made(gallery: Path | None) -> Path | None:
    """Make the folder before the run that it is to keep. Raises FileError."""
    if gallery:
        make_folder(gallery)
    return gallery


GalleryFolder = Annotated[
    Path | None,
    typer.Option(callback=_made, help="A gallery that keeps the finished run, as assets/gallery."),
]


def keep(gallery: Path | None, model: str, kind: str, run: StoredRun) -> None:
    """Write a run into a gallery, where one is asked for, and say where it lies."""
    if gallery:
        typer.echo(f"written: {write(gallery, f'{Path(model).name}-{kind}', run)}")


def training_of(
    model: str, mode: Mode, lr: float | None, epochs: int, batch: int | None, precision: Precision
) -> Training:
    """Return how to train, at the usual rate where none is given; `check_training` looks at it."""
    rate = default_rate(model, mode) if lr is None else lr
    return Training(rate, mode, epochs, batch, precision=precision)


Repair = TypeVar("Repair", bound=RepairPlan)


def compute_repair(
    kind: TrialKind[Repair, Any, Epoch, Any],  # Any: each kind has cells and points of its own
    plan: Repair,
    source: SourceData,
    files: UserFiles,
    row_text: RowText,
    in_process: bool,
    out: Path,
) -> StoredRun:
    """Compute a run as `compute_run` does, leave its files and say what it came to.

    `files` are those that the source was read from. points.csv is written after each result,
    figure and summary at the end.
    """
    make_folder(out)
    artefacts = {"model": named_model_hash(plan.model), "sources": sources_of(files)}
    request = kind.request(plan, source, environment(), artefacts)
    known = partial(kind.known_results, plan=plan, artefacts=request.artefacts)

    def write(run: StoredRun) -> None:
        write_points(run, out)

    run = compute_run(request, known, row_text, in_process, write)
    write_points(run, out)
    write_figure(run, out)
    write_summary(run, out)
    typer.echo(run.verdict["explanation"])
    return run


def epoch_text(epoch: Epoch) -> str:
    """Write how far a cell is."""
    return (
        f"epoch {epoch.epoch}  loss {epoch.loss:.4f}  dev {epoch.dev:.4f}  "
        f"{epoch.examples_per_second:.1f} examples/s"
    )
