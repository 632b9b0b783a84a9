"""What an experiment is to the run system: how its cells are computed and what comes of them.

Plans, inputs, keys, progress and results are JSON here; each experiment reads its own. Packages
above register theirs, so that stores, engines and galleries need to know none.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import TypeVar

from probe.errors import ExperimentError
from probe.runs.run import Json, Run, StoredRun, run_facts
from probe.stopping import Stop, never


@dataclass(frozen=True)
class CellContext:
    """What a cell is told beside its plan, inputs and key.

    `model` is the hash of the model that the run began with, "" where it begins with none.
    `stop` is to be asked often; `raise_if_stopped` raises Cancelled where it says so. `part` is
    what the experiment sends with this cell alone.
    """

    model: str = ""
    stop: Stop = never
    part: bytes = b""


@dataclass(frozen=True)
class Progress:
    """How far a cell is."""

    values: Json


@dataclass(frozen=True)
class Result:
    """What a cell comes to, and by name the files of a model that may be kept.

    `content` is what is too large for the run's database.
    """

    values: Json
    model: Mapping[str, bytes] = field(default_factory=dict)
    content: bytes = b""


RunCell = Callable[[Json, Json, Json, CellContext], Iterator[Progress | Result]]
"""Computes a cell from plan, inputs and key: yields progress, at last the result."""


Results = Sequence[tuple[Json, Json | None]]
"""The key of each cell, and its result if there is one."""


@dataclass(frozen=True)
class Experiment:
    """A kind of run.

    `cells` gives the keys of a plan's cells in their order. `run_cell` is sent to workers by its
    module and name, so its module imports neither a page nor the store, and imports fast. `title`
    names a run for people, `brief` gives of a result (None where there is none yet) what is told
    over HTTP. `model` names the model that a plan begins with, `keep` the name under which to keep
    a result's model, None to let it go. `conclude` gives the verdict, None where there are too few
    results; `current_verdict` reads a stored one by today's rule, from plan, artefacts, itself and
    the keys and results of the cells, where these are at hand.
    `one_worker` says that one worker had better compute all cells: it keeps what they share.
    `alike` says whether two plans ask for the same. `form` is raised by one when a result gives
    more, or otherwise, than before: what has another form is computed again. `part` is read where
    the app is and sent with a cell, `store_content` puts away what a result has beside its values,
    before these are stored; `remove` removes both with the run, and `stored_bytes` counts what they
    take; `sweep` removes what was put away before a time (seconds since 1970) for plans that are
    none of these. `pack` and `unpack` write a result shorter for a file in the gallery and read it
    back with the help of the run's artefacts.
    """

    kind: str
    cells: Callable[[Json], Sequence[Json]]
    run_cell: RunCell
    title: Callable[[Json], str]
    brief: Callable[[Json | None], Json]
    model: Callable[[Json], str | None] = lambda plan: None
    keep: Callable[[StoredRun, Json], str | None] = lambda run, result: None
    conclude: Callable[[StoredRun, Json], Json | None] = lambda run, inputs: None
    current_verdict: Callable[[Json, Json, Json, Results], Json] = lambda *read: read[2]
    one_worker: Callable[[Json], bool] = lambda plan: False
    alike: Callable[[Json, Json], bool] = eq
    form: int = 1
    part: Callable[[Json, Json], bytes] = lambda plan, key: b""
    store_content: Callable[[Json, Json, bytes], None] = lambda plan, key, content: None
    remove: Callable[[Json], None] = lambda plan: None
    sweep: Callable[[Sequence[Json], float], None] | None = None
    stored_bytes: Callable[[Json], int] = lambda plan: 0
    pack: Callable[[Json], Json] = dict
    unpack: Callable[[Json, Json], Json] = lambda values, artefacts: values


EXPERIMENTS: dict[str, Experiment] = {}
"""The kinds of runs that are known, by their names."""


def register(experiment: Experiment) -> None:
    """Make a kind of run known."""
    EXPERIMENTS[experiment.kind] = experiment


def experiment_of(kind: str) -> Experiment:
    """Return the experiment of a kind. Raises ExperimentError where it is not known."""
    if kind not in EXPERIMENTS:
        known = ", ".join(EXPERIMENTS) or "none"
        raise ExperimentError(f"runs of the kind {kind!r} are not known here; known: {known}")
    return EXPERIMENTS[kind]


def current_verdict(
    kind: str, plan: Json, artefacts: Json, verdict: Json, results: Results = ()
) -> Json:
    """Return a stored verdict by today's rule; of a kind that is not known it is as it was."""
    experiment = EXPERIMENTS.get(kind)
    return experiment.current_verdict(plan, artefacts, verdict, results) if experiment else verdict


def run_json(run: StoredRun) -> Json:
    """Return a run for other programs; its owner's token stays here.

    Of a kind that is not known results are told whole.
    """
    experiment = EXPERIMENTS.get(run.kind)
    cells = [
        {
            **cell.key,
            "state": cell.state,
            "error": cell.error,
            **(experiment.brief(cell.result) if experiment else cell.result or {}),
        }
        for cell in run.cells
    ]
    return {**run_facts(run), "verdict": run.verdict or None, "cells": cells}


def run_title(run: Run[Json, object, object, object]) -> str:
    """Name a run for people."""
    experiment = EXPERIMENTS.get(run.kind)
    return experiment.title(run.plan) if experiment else run.kind


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
