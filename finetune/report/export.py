"""The files a person takes away: points, the figure, the report."""

from collections.abc import Sequence
from pathlib import Path

from finetune.experiments.inoculation.selection import Selection
from finetune.report.figure import figure, png_file, svg_file
from finetune.report.html import report
from finetune.report.sweep import points_frame
from probe.runs.store import Run


def export(runs: Sequence[Run], selection: Selection, folder: Path) -> list[Path]:
    """Write points.csv, figure.svg, figure.png and report.html; return their places.

    Raises RunError where no cell is finished.
    """
    chart = figure(runs, selection)
    names = ("points.csv", "figure.svg", "figure.png", "report.html")
    points, vector, bitmap, page = places = [folder / name for name in names]
    points_frame(runs).to_csv(points, index=False, lineterminator="\n")
    vector.write_text(svg_file(chart), encoding="utf-8")
    bitmap.write_bytes(png_file(chart))
    page.write_text(report(runs), encoding="utf-8")
    return places
