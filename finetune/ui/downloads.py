"""The files a person takes away: points, the figure, the report."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from finetune.figure import figure, png_file, svg_file
from finetune.report import report
from finetune.runs import Run
from finetune.selection import Selection
from finetune.sweep import points_frame
from probe.ui.batch_results import cache_folder


def write_files(runs: Sequence[Run], selection: Selection) -> list[str]:
    """Write points.csv, figure.svg, figure.png and report.html; return their places.

    Raises ValueError where no cell is finished.
    """
    chart = figure(runs, selection)
    folder = Path(tempfile.mkdtemp(prefix="nli-clinic-", dir=cache_folder()))
    points_frame(runs).to_csv(folder / "points.csv", index=False, lineterminator="\n")
    (folder / "figure.svg").write_text(svg_file(chart), encoding="utf-8")
    (folder / "figure.png").write_bytes(png_file(chart))
    (folder / "report.html").write_text(report(runs), encoding="utf-8")
    names = ("points.csv", "figure.svg", "figure.png", "report.html")
    return [str(folder / name) for name in names]
