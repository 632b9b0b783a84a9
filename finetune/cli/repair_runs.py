"""A repair computed for the command line, and the files that it leaves."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from finetune.cli.compute import Known, RowText, compute_run
from finetune.experiments.further_training import Epoch, Training
from finetune.report.drawing import svg_file
from finetune.report.repair_summary import repair_summary, summary_text
from finetune.training.recipes import Mode, default_rate
from probe.errors import writing
from probe.runs.run import Json, RunRequest, StoredRun


def training_of(
    model: str, mode: str, lr: float | None, epochs: int, batch: int | None, precision: str
) -> Training:
    """Return how to train, at the usual rate where none is given; `check_training` looks at it."""
    exact: Mode = mode  # type: ignore[assignment]  # typer has no Literal
    rate = default_rate(model, exact) if lr is None else lr
    return Training(rate, exact, epochs, batch, precision=precision)  # type: ignore[arg-type]  # as above


def compute_repair(
    request: RunRequest,
    known: Known,
    row_text: RowText,
    in_process: bool,
    frame: Callable[[StoredRun], pd.DataFrame],
    out: Path,
) -> StoredRun:
    """Compute a run as `compute_run` does; points.csv is written after each result."""

    def write(run: StoredRun) -> None:
        with writing(out):
            frame(run).to_csv(out / "points.csv", index=False, lineterminator="\n")

    run = compute_run(request, known, row_text, in_process, write)
    write(run)
    return run


def epoch_text(epoch: Epoch) -> str:
    """Write how far a cell is."""
    return (
        f"epoch {epoch.epoch}  loss {epoch.loss:.4f}  dev {epoch.dev:.4f}  "
        f"{epoch.examples_per_second:.1f} examples/s"
    )


def write_summary(run: StoredRun, figures: dict[str, Markup], out: Path) -> Json:
    """Write summary.json and the figures, by the names of their files; return the summary."""
    summary = repair_summary(run)
    with writing(out):
        (out / "summary.json").write_text(summary_text(summary), encoding="utf-8")
        for name, drawn in figures.items():
            (out / name).write_text(svg_file(drawn) + "\n", encoding="utf-8")
    return summary
