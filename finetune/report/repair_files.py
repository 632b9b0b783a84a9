"""The files of a calibration, a mitigation or a transfer: its points, its figure, its summary."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from finetune.report.invalid_found import invalid_frame, invalid_svg
from finetune.report.panel import svg_file
from finetune.report.reliability import points_frame, reliability_svg
from finetune.report.transfer import transfer_frame, transfer_svg
from finetune.trials import calibration as calibration
from finetune.trials import mitigation as mitigation
from finetune.trials import transfer as transfer
from finetune.trials.transfer import plan_from as transfer_plan
from probe.errors import writing
from probe.runs.run import Json, StoredRun


@dataclass(frozen=True)
class Files:
    """How the points of a kind's runs are written, and how its figure is called and drawn."""

    frame: Callable[[StoredRun], pd.DataFrame]
    figure: str
    draw: Callable[[StoredRun], Markup]


FILES: Mapping[str, Files] = {
    calibration.KIND: Files(
        lambda run: points_frame(calibration.points_of(run)),
        "reliability.svg",
        lambda run: reliability_svg(calibration.points_of(run)),
    ),
    mitigation.KIND: Files(
        lambda run: invalid_frame(mitigation.points_of(run)),
        "invalid.svg",
        lambda run: invalid_svg(mitigation.points_of(run)),
    ),
    transfer.KIND: Files(
        lambda run: transfer_frame(transfer.points_of(run)),
        "transfer.svg",
        lambda run: transfer_svg(transfer_plan(run.plan), transfer.points_of(run)),
    ),
}


def repair_summary(run: StoredRun) -> Json:
    """Return what a judged run came to, its plan, its inputs' hashes and its environment."""
    return {
        **run.verdict,
        "plan": run.plan,
        "artefacts": {name: run.artefacts.get(name) for name in ("model", "sets")},
        "environment": run.environment,
    }


def write_points(run: StoredRun, folder: Path) -> Path:
    """Write points.csv and return its place. Raises FileError."""
    path = folder / "points.csv"
    with writing(folder):
        FILES[run.kind].frame(run).to_csv(path, index=False, lineterminator="\n")
    return path


def write_figure(run: StoredRun, folder: Path) -> Path:
    """Draw the figure of a run's kind and return its place. Raises FileError."""
    files = FILES[run.kind]
    return _write(folder / files.figure, svg_file(files.draw(run)))


def write_summary(run: StoredRun, folder: Path) -> Path:
    """Write summary.json of a judged run and return its place. Raises FileError."""
    text = json.dumps(repair_summary(run), indent=1, ensure_ascii=False, allow_nan=False)
    return _write(folder / "summary.json", text)


def _write(path: Path, text: str) -> Path:
    with writing(path.parent):
        path.write_text(text + "\n", encoding="utf-8")
    return path
