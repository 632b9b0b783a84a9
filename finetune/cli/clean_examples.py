"""What the commands of repairs share: clean examples, how to train, the files they leave."""

import json
from pathlib import Path

import pandas as pd
import typer
from markupsafe import Markup

from finetune.experiments.further_training import Epoch
from finetune.experiments.inoculation.datasets import SourceData
from finetune.experiments.inoculation.user_data import UserFiles, read_source_data
from finetune.experiments.source_json import labelled
from finetune.report.drawing import svg_file
from probe.cli.open_models import naming_options
from probe.errors import writing
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.runs.run import Json, StoredRun
from probe.tasks.task import Task, read_labels, task_named

SIZE = "1000"
"""Examples of a training where nobody asks for another number."""
Original = typer.Option(help="Split into dev and test.")
Instead = typer.Option(help="Instead of the bundled ones.")
Pool = typer.Option(help="Examples to train on.")


def loaded(model: str, task: str, labels: str) -> Classifier:
    """Load the model of a command. Raises ModelError and LabelError."""
    with naming_options():
        asked = task_named(task) if task else None
        return load(model, read_labels(labels, asked), asked)


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


def epoch_text(epoch: Epoch) -> str:
    """Write how far a cell is."""
    return (
        f"epoch {epoch.epoch}  loss {epoch.loss:.4f}  dev {epoch.dev:.4f}  "
        f"{epoch.examples_per_second:.1f} examples/s"
    )


def write_points(frame: pd.DataFrame, out: Path) -> None:
    """Write points.csv, a row for each finished cell."""
    with writing(out):
        frame.to_csv(out / "points.csv", index=False, lineterminator="\n")


def write_summary(run: StoredRun, figures: dict[str, Markup], out: Path) -> Json:
    """Write summary.json and the figures, by the names of their files; return the summary."""
    facts = {name: run.artefacts[name] for name in ("model", "sets")}
    summary = {
        **run.verdict,
        "plan": run.plan,
        "artefacts": facts,
        "environment": run.environment,
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    with writing(out):
        (out / "summary.json").write_text(text + "\n", encoding="utf-8")
        for name, drawn in figures.items():
            (out / name).write_text(svg_file(drawn) + "\n", encoding="utf-8")
    return summary
