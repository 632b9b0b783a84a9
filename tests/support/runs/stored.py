"""A run of any kind of trial as it is stored, with known results."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from finetune.trials.base import TrialKind, row_json
from probe.runs.run import Run, RunCell, StoredRun


def stored(
    kind: TrialKind[Any, Any, Any, Any], plan: Any, points: Sequence[Any], **fields: Any
) -> StoredRun:  # Any: each kind has plans, cells, data and points of its own
    """Return a run of these points; it is running where cells without a result are queued."""
    results, cells = {point.cell: row_json(point) for point in points}, kind.cells(plan)
    done = len(results) == len(cells)
    run: StoredRun = Run(
        kind.name, kind.name, "somebody", asdict(plan), "done" if done else "running", False, "",
        1000.0, 1000.0, 1060.0, {}, {"torch": "2.8"}, "",
        tuple(
            RunCell(at, vars(cell), "done", result=results[cell])
            if cell in results
            else RunCell(at, vars(cell), "queued")
            for at, cell in enumerate(cells)
        ),
        {"model": "ab12"},
    )  # fmt: skip
    return replace(run, **fields)
