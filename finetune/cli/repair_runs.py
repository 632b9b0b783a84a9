"""A repair computed for the command line, and the files that it leaves."""

from pathlib import Path

import typer

from finetune.experiments.further_training import Epoch, Training
from finetune.report.repair_files import write_figure, write_points, write_summary
from finetune.training.recipes import Mode, default_rate
from probe.cli.compute import Known, RowText, compute_run
from probe.runs.run import RunRequest, StoredRun


def training_of(
    model: str, mode: str, lr: float | None, epochs: int, batch: int | None, precision: str
) -> Training:
    """Return how to train, at the usual rate where none is given; `check_training` looks at it."""
    exact: Mode = mode  # type: ignore[assignment]  # typer has no Literal
    rate = default_rate(model, exact) if lr is None else lr
    return Training(rate, exact, epochs, batch, precision=precision)  # type: ignore[arg-type]  # as above


def compute_repair(
    request: RunRequest, known: Known, row_text: RowText, in_process: bool, out: Path
) -> StoredRun:
    """Compute a run as `compute_run` does, leave its files and say what it came to.

    points.csv is written after each result, figure and summary at the end.
    """

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
