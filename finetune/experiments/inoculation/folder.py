"""What an inoculation leaves in a folder: points.csv, summary.json, curve.svg, cells.jsonl.

cells.jsonl holds every point whole under a key of all that it depends on, so that a second call
computes only the cells that are missing, whatever sizes, rates and seeds it asks for.
"""

import csv
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from finetune.experiments.inoculation.cell import Epoch, Point, fresh, run_cell
from finetune.experiments.inoculation.plan import Cell, Plan, cells
from finetune.experiments.inoculation.sets import Sets
from finetune.experiments.inoculation.thresholds import THRESHOLDS
from finetune.experiments.inoculation.verdict import conclude, verdict_json
from finetune.report.curves import curve, curve_frame
from probe.models.classifier import Classifier
from probe.models.hashes import model_hash, sets_facts
from probe.models.library import locate
from probe.runs.serialise import Json, environment, point_from


def key_of(plan: Plan, sets: Sets) -> str:
    """Return a digest of what a cell depends on beside its size, rate and seed.

    Raises ModelError where the model is not there.
    """
    settings = asdict(replace(plan, sizes=(), lrs=(), seeds=(), thresholds=THRESHOLDS))
    weights = model_hash(locate(plan.model)[0])
    text = json.dumps([settings, weights, sets_facts(sets)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def known(folder: Path, key: str) -> dict[Cell, Point]:
    """Return the points that are in the folder under this key."""
    path = folder / "cells.jsonl"
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    points = [point_from(row["point"]) for row in rows if row["key"] == key]
    return {point.cell: point for point in points}


def add(folder: Path, key: str, point: Point) -> None:
    """Add a point to cells.jsonl."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cells.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": key, "point": asdict(point)}) + "\n")


def run_cells(
    plan: Plan, sets: Sets, folder: Path, classifier: Classifier
) -> Iterator[tuple[Epoch | Point, bool]]:
    """Run the cells that the folder lacks; yield each row, and whether an earlier call left it.

    A point is in the folder before it is yielded. Raises ModelError.
    """
    key = key_of(plan, sets)
    there = known(folder, key)
    for cell in cells(plan):
        if cell in there:
            yield there[cell], True
            continue
        for row in run_cell(plan, sets, cell, fresh(classifier)):
            if isinstance(row, Point):
                add(folder, key, row)
            yield row, False


def write_points(folder: Path, points: Sequence[Point]) -> None:
    """Write points.csv: a row for each cell, accuracies as shares."""
    with (folder / "points.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["size", "lr", "seed", "original", "challenge"])
        for point in points:
            cell = point.cell
            writer.writerow([cell.size, cell.lr, cell.seed, point.original, point.challenge])


def write_summary(folder: Path, plan: Plan, sets: Sets, points: Sequence[Point]) -> Json:
    """Write summary.json and curve.svg from all points of a plan, and return the summary."""
    summary = {
        **verdict_json(conclude(plan, sets, points)),
        "n": {name: len(pairs) for name, pairs in vars(sets).items()},
        "plan": asdict(plan),
        "artefacts": {"model": model_hash(locate(plan.model)[0]), "sets": sets_facts(sets)},
        "environment": environment(),
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
    chart = curve(curve_frame(points), plan.sizes).properties(width=640, background="white")
    chart.save(folder / "curve.svg")
    return summary
