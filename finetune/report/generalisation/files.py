"""The files of a generalisation: its points, its summary, its figure; its rows as text."""

import json
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from finetune.experiments.generalisation.point import Epoch, Point, share_right, total
from finetune.experiments.generalisation.run import GeneralisationRun
from finetune.experiments.inoculation.run import InoculationRun
from finetune.report.drawing import svg_file
from finetune.report.generalisation.figure import figure
from probe.errors import writing
from probe.runs.run import Json

ORIGINAL = "original"
"""The original set among the sets that are tested."""


def row_text(row: Epoch | Point) -> str:
    """Return a cell in words, and how far it is or what it came to."""
    key = row.cell
    trained = f"{key.train:<9} size {key.size:<5}" if key.size else f"{'untrained':<9} size 0    "
    cell = f"{trained} lr {key.lr:g}  seed {key.seed}"
    if isinstance(row, Epoch):
        return (
            f"{cell}  epoch {row.epoch}  loss {row.loss:.4f}  dev {row.dev:.4f}  "
            f"{row.examples_per_second:.1f} examples/s"
        )
    tests = "  ".join(f"{name} {share_right(scores):.4f}" for name, scores in row.tests.items())
    return (
        f"{cell}  original {share_right(row.original):.4f}  {tests}  "
        f"best epoch {row.best_epoch} of {row.epochs}  {row.seconds:.1f} s"
    )


def points_frame(run: GeneralisationRun) -> pd.DataFrame:
    """Return a row for each finished cell and tested set; accuracies are from 0 to 1."""
    plan = run.plan
    about = {
        "run": run.id,
        "model": Path(plan.model).name,
        "phenomenon": plan.phenomenon,
        "vary": plan.vary,
        "mode": plan.mode,
    }
    names = ("dev", "epochs", "best_epoch", "seconds", "precision")
    return pd.DataFrame(
        {
            **about,
            **asdict(point.cell),
            "test": tested,
            "accuracy": share_right(scores),
            "right": total(scores).right,
            "n": total(scores).n,
            **{name: getattr(point, name) for name in names},
        }
        for point in run.results
        for tested, scores in {ORIGINAL: point.original, **point.tests}.items()
    )


def write_points(run: GeneralisationRun, folder: Path) -> Path:
    """Write points.csv and return its place. Raises FileError."""
    path = folder / "points.csv"
    with writing(path):
        points_frame(run).to_csv(path, index=False, lineterminator="\n")
    return path


def write_summary(
    run: GeneralisationRun, folder: Path, inoculation: InoculationRun | None = None
) -> Json:
    """Write summary.json and figure.svg of a judged run, and return the summary.

    `before` is the table before training, by set and gold label, `inoculation` what an inoculation
    on the same phenomenon came to, null where there is none. Raises FileError.
    """
    verdict = {name: value for name, value in run.verdict.items() if name not in APART}
    summary = {
        "grid": run.verdict["grid"],
        "verdict": verdict,
        "before": run.verdict["before"],
        "inoculation": None if inoculation is None else _told(inoculation),
        "plan": asdict(run.plan),
        "artefacts": run.artefacts,
        "environment": run.environment,
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    with writing(folder):
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
    write_figure(run, folder)
    return summary


def write_figure(run: GeneralisationRun, folder: Path) -> Path:
    """Write figure.svg and return its place. Raises FileError, RunError where nothing is there."""
    path = folder / "figure.svg"
    with writing(path):
        path.write_text(svg_file(figure(run)) + "\n", encoding="utf-8")
    return path


def _told(run: InoculationRun) -> Json:
    """Return what an inoculation came to at its largest size."""
    names = ("outcome", "name", "headline", "explanation", "gap", "closed", "drop")
    about = {"run": run.id, "challenge": run.plan.challenge, "size": max(run.plan.sizes)}
    return about | {name: run.verdict[name] for name in names}


APART = ("grid", "before")
"""What a summary says beside the verdict."""
