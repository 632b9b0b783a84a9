"""The files of a calibration, a mitigation or a transfer: its points, its figure, its summary."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from finetune.trials import calibration, mitigation, transfer
from probe.errors import writing
from probe.pictures.heat_map import Cell, Head, HeatMap, heat_svg, share_cell
from probe.pictures.reliability import Diagram, diagrams_svg
from probe.pictures.svg import svg_file
from probe.runs.run import StoredRun
from probe.statistics import NOTHING, Estimate, exactly, first_bin, mean_error
from probe.tasks.task import task_named

TRANSFER = "Share of broken texts found invalid: taught the row's transform, tested on the column's"
INVALID = "Clean accuracy, and the share of broken texts that is found invalid"


def reliability_svg(run: StoredRun) -> Markup:
    """Draw a diagram for each method: its point of the largest size and first seed."""
    points, plan = calibration.points_of(run), calibration.plan_from(run.plan)
    chosen = {
        point.cell.method: point
        for point in sorted(points, key=lambda point: (point.cell.size, -point.cell.seed))
    }
    stays = {
        each.method: each.agreement
        for each in sorted(calibration.outcomes(points), key=lambda one: one.size)
    }
    labels = len(plan.labels or task_named(plan.task).labels)
    drawn = []
    for method, point in chosen.items():
        measured = point.calibration
        by_chance = mean_error([measured]).chance.value
        words = f"ECE {measured.ece:.3f}, {by_chance:.3f} by chance · {stays[method]:.0%} stay"
        title, first = calibration.METHODS[method].title, first_bin(measured.bins, labels)
        is_before = method == calibration.BASE.method
        drawn.append(Diagram(measured.bins, first, (title, words), is_before))
    return diagrams_svg(drawn, "Reliability")


def transfer_svg(run: StoredRun) -> Markup:
    """Draw what each training finds of each kind, means over the seeds of the largest size."""
    plan = transfer.plan_from(run.plan)
    heads = [Head(name) for name in plan.transforms]
    cells = [
        [share_cell(NOTHING if value is None else exactly(value)) for value in row]
        for row in transfer.matrix(plan, transfer.points_of(run))
    ]
    return heat_svg(HeatMap(heads, heads, cells, "taught ↓ tested →"), TRANSFER)


def invalid_svg(run: StoredRun) -> Markup:
    """Draw a row for each method and size, means over the seeds."""
    points = mitigation.points_of(run)
    measured = mitigation.outcomes(points)
    names = list(dict.fromkeys(name for each in measured for name in each.per_transform))
    counts = {name: each.n for point in points for name, each in point.found.items()}
    rows = [
        Head(
            mitigation.METHODS[each.method].title + (f", {each.size} examples" if each.size else "")
        )
        for each in measured
    ]
    cells = [
        [
            Cell(f"{each.clean:.2f}"),
            _share(each.invalid_found, sum(counts.values())),
            *(_share(each.per_transform.get(name, 0.0), counts[name]) for name in names),
        ]
        for each in measured
    ]
    columns = [Head("clean"), Head("all broken"), *(Head(name) for name in names)]
    return heat_svg(HeatMap(rows, columns, cells), INVALID)


def _share(value: float, n: int) -> Cell:
    return share_cell(Estimate(value, value, value, n))


def _calibrated(point: calibration.Point) -> dict[str, object]:
    """Return its calibration on clean test, and agreement by transform."""
    numbers = ("n", "accuracy", "confidence", "ece", "brier", "log_loss")
    return {
        **vars(point.cell),
        **{name: getattr(point.calibration, name) for name in numbers},
        "temperature": point.temperature,
        "agreement": point.agreement,
        **{f"agreement_{name}": each.agree / each.n for name, each in point.salad.items()},
        **{f"confidence_{name}": each.confidence for name, each in point.salad.items()},
        "seconds": point.seconds,
    }


def _mitigated(point: mitigation.Point) -> dict[str, object]:
    """Return clean accuracy, and what is found, by transform."""
    return {
        **vars(point.cell),
        "n": point.clean.n,
        "clean": point.clean.share,
        "rejected": point.rejected.share,
        "invalid_found": point.invalid_found,
        **_found(point),
        "threshold": point.threshold,
        "temperature": point.temperature,
        "collapsed": mitigation.collapsed(point),
        "seconds": point.seconds,
    }


def _taught(point: transfer.Point) -> dict[str, object]:
    """Return what it was trained on, clean accuracy, and what is found."""
    return {
        "trained_on": transfer.row_of(point.cell),
        "size": point.cell.size,
        "seed": point.cell.seed,
        "n": point.clean.n,
        "clean": point.clean.share,
        **_found(point),
        "seconds": point.seconds,
    }


def _found(point: mitigation.Point | transfer.Point) -> dict[str, object]:
    return {
        **{f"found_{name}": each.share for name, each in point.found.items()},
        **{f"n_{name}": each.n for name, each in point.found.items()},
    }


@dataclass(frozen=True)
class Files:
    """How the points of a kind's runs are written, and how its figure is called and drawn."""

    rows: Callable[[StoredRun], Sequence[Mapping[str, object]]]
    figure: str
    draw: Callable[[StoredRun], Markup]


FILES: Mapping[str, Files] = {
    calibration.KIND: Files(
        lambda run: [_calibrated(point) for point in calibration.points_of(run)],
        "reliability.svg",
        reliability_svg,
    ),
    mitigation.KIND: Files(
        lambda run: [_mitigated(point) for point in mitigation.points_of(run)],
        "invalid.svg",
        invalid_svg,
    ),
    transfer.KIND: Files(
        lambda run: [_taught(point) for point in transfer.points_of(run)],
        "transfer.svg",
        transfer_svg,
    ),
}


def points_frame(run: StoredRun) -> pd.DataFrame:
    """Return a row for each finished cell."""
    return pd.DataFrame(FILES[run.kind].rows(run))


def write_points(run: StoredRun, folder: Path) -> Path:
    """Write points.csv and return its place. Raises FileError."""
    path = folder / "points.csv"
    with writing(folder):
        points_frame(run).to_csv(path, index=False, lineterminator="\n")
    return path


def write_figure(run: StoredRun, folder: Path) -> Path:
    """Draw the figure of a run's kind and return its place. Raises FileError."""
    files = FILES[run.kind]
    return _write(folder / files.figure, svg_file(files.draw(run)))


def write_summary(run: StoredRun, folder: Path) -> Path:
    """Write summary.json of a judged run and return its place. Raises FileError.

    It holds what the run came to, its plan, its inputs' hashes and its environment.
    """
    summary = {
        **run.verdict,
        "plan": run.plan,
        "artefacts": {name: run.artefacts.get(name) for name in ("model", "sets")},
        "environment": run.environment,
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    return _write(folder / "summary.json", text)


def _write(path: Path, text: str) -> Path:
    with writing(path.parent):
        path.write_text(text + "\n", encoding="utf-8")
    return path
