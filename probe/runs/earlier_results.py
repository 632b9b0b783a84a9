"""What earlier runs came to, for the cells of a new one."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from probe.runs.run import Json, StoredRun

SAME = ("model", "sets")
"""The hashes that a result depends on."""
Cell = TypeVar("Cell", bound=Hashable)


def earlier_results(
    runs: Iterable[StoredRun],
    kind: str,
    artefacts: Json,
    same_settings: Callable[[Json], bool],
    cells: Sequence[Cell],
    cell_from: Callable[[Json], Cell],
    keeps_model: Callable[[Cell], bool] = lambda cell: False,
) -> dict[int, Json]:
    """Return by the numbers of the cells what runs of the same kind, model and sets came to.

    `same_settings` says of a run's plan whether all else is the same. A cell that `keeps_model` is
    computed anew: an earlier run keeps its model.
    """
    known: dict[Cell, Json] = {}
    for run in runs:
        matches = run.kind == kind and all(run.artefacts.get(n) == artefacts[n] for n in SAME)
        if matches and same_settings(run.plan):
            known |= {cell_from(cell.key): cell.result for cell in run.cells if cell.result}
    return {
        number: known[cell]
        for number, cell in enumerate(cells)
        if cell in known and not keeps_model(cell)
    }
