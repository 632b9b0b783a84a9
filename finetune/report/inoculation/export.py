"""The files a person takes away: points, the figure, the report; a run's summary and curve."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.drawing import png_file, svg_file
from finetune.report.inoculation.figure import figure
from finetune.report.inoculation.html import report
from finetune.report.inoculation.sweep import points_frame
from probe.errors import writing
from probe.runs.run import Json


def export(runs: Sequence[InoculationRun], selection: Selection, folder: Path) -> list[Path]:
    """Write points.csv, figure.svg, figure.png and report.html; return their places.

    Raises RunError where no cell is finished, FileError where they cannot be written.
    """
    drawn = figure(runs, selection)
    vector, bitmap, page = (folder / name for name in ("figure.svg", "figure.png", "report.html"))
    points = write_points(runs, folder)
    with writing(folder):
        vector.write_text(svg_file(drawn), encoding="utf-8")
        bitmap.write_bytes(png_file(drawn))
        page.write_text(report(runs), encoding="utf-8")
    return [points, vector, bitmap, page]


def write_points(runs: Sequence[InoculationRun], folder: Path) -> Path:
    """Write points.csv, a row for each finished cell, and return its place."""
    path = folder / "points.csv"
    with writing(path):
        points_frame(runs).to_csv(path, index=False, lineterminator="\n")
    return path


def write_summary(run: InoculationRun, folder: Path) -> Json:
    """Write summary.json and curve.svg of a judged run, and return the summary."""
    facts = {name: run.artefacts[name] for name in ("model", "sets")}
    summary = {
        **run.verdict,
        "n": {name: fact["n"] for name, fact in facts["sets"].items()},
        "plan": asdict(run.plan),
        "artefacts": facts,
        "environment": run.environment,
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    with writing(folder):
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
        drawn = svg_file(figure([run], "oracle_lr"))
        (folder / "curve.svg").write_text(drawn + "\n", encoding="utf-8")
    return summary
