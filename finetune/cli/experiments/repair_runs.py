"""A repair computed for the command line, and the files that it leaves."""

from functools import partial
from pathlib import Path

import typer

from finetune.experiments.further_training import Epoch, Training
from finetune.experiments.inoculation.datasets import SourceData
from finetune.experiments.inoculation.user_data import UserFiles, sources_of
from finetune.experiments.repair_kind import Cell, Plan, Point, RepairKind
from finetune.report.repair.files import write_figure, write_points, write_summary
from finetune.training.recipes import Mode, default_rate
from probe.cli.compute import RowText, compute_run
from probe.cli.output import make_folder
from probe.models.hardware.precision import Precision
from probe.runs.environment import environment
from probe.runs.models import named_model_hash
from probe.runs.run import StoredRun


def training_of(
    model: str, mode: Mode, lr: float | None, epochs: int, batch: int | None, precision: Precision
) -> Training:
    """Return how to train, at the usual rate where none is given; `check_training` looks at it."""
    rate = default_rate(model, mode) if lr is None else lr
    return Training(rate, mode, epochs, batch, precision=precision)


def compute_repair(
    kind: RepairKind[Plan, Cell, Point],
    plan: Plan,
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
    request = kind.run_request(plan, source, environment(), artefacts)
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
