"""A run and its cells as they are read from the store, and what is needed to begin one."""

import os
import platform
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Generic, Literal, TypeVar

from probe.first_import import first_import
from probe.models.classifier import resolve

Json = dict[str, Any]  # Any: what JSON holds
State = Literal["queued", "running", "done", "cancelled", "failed"]
OPEN: tuple[State, ...] = ("queued", "running")
STOPPED: tuple[State, ...] = ("cancelled", "failed")

PlanT = TypeVar("PlanT", covariant=True)
KeyT = TypeVar("KeyT", covariant=True)
ProgressT = TypeVar("ProgressT", covariant=True)
ResultT = TypeVar("ResultT", covariant=True)


@dataclass(frozen=True)
class RunCell(Generic[KeyT, ProgressT, ResultT]):
    """A cell of a run: its latest progress while it runs, its result once it is done.

    `error` of one that is done says why its model could not be kept.
    """

    number: int
    key: KeyT
    state: State
    progress: ProgressT | None = None
    result: ResultT | None = None
    error: str = ""


@dataclass(frozen=True)
class Run(Generic[PlanT, KeyT, ProgressT, ResultT]):
    """A run with its cells in their order. Times are seconds since 1970, 0 for not yet.

    `kind` names its experiment. `verdict` and `environment` are as stored; `kept` names the model
    that is kept of it. `error` of an open run says what it waits for. `artefacts` are hashes and
    names: of the `model` that it began with, of its inputs, of the model `kept`.
    """

    id: str
    kind: str
    owner: str
    plan: PlanT
    state: State
    cancelling: bool
    error: str
    created: float
    started: float
    finished: float
    verdict: Json
    environment: Json
    kept: str
    cells: tuple[RunCell[KeyT, ProgressT, ResultT], ...]
    artefacts: Json = field(default_factory=dict)

    @property
    def results(self) -> tuple[ResultT, ...]:
        """The results that are there."""
        return tuple(cell.result for cell in self.cells if cell.result is not None)


StoredRun = Run[Json, Json, Json, Json]
AnyRun = Run[object, object, object, object]


def typed_run(
    run: StoredRun,
    plan: Callable[[Json], PlanT],
    key: Callable[[Json], KeyT],
    progress: Callable[[Json, Json], ProgressT | None],
    result: Callable[[Json, Json], ResultT],
) -> Run[PlanT, KeyT, ProgressT, ResultT]:
    """Return a stored run with its own types; what reads progress or result takes the key first."""
    cells = tuple(
        RunCell(
            cell.number,
            key(cell.key),
            cell.state,
            progress(cell.key, cell.progress) if cell.progress else None,
            result(cell.key, cell.result) if cell.result else None,
            cell.error,
        )
        for cell in run.cells
    )
    return Run(**{**vars(run), "plan": plan(run.plan), "cells": cells})


@dataclass(frozen=True)
class RunRequest:
    """A run to be stored: what it computes, what it computes on, and facts to keep with it.

    `seconds` tells about how long it takes, once that is measured; raises UserError.
    """

    kind: str
    plan: Json
    inputs: Json
    environment: Json = field(default_factory=dict)
    artefacts: Json = field(default_factory=dict)
    seconds: Callable[[], float] | None = field(default=None, compare=False)


def ended(run: AnyRun) -> bool:
    """Whether a run is done, cancelled or failed."""
    return run.state not in OPEN


def run_facts(run: Run[Json, object, object, object]) -> Json:
    """Return all of a run but its owner's token, its verdict and its cells."""
    names = ("id", "kind", "state", "error", "created", "started", "finished", "kept", "plan")
    return {name: getattr(run, name) for name in (*names, "environment", "artefacts")}


PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "captum", "nltk", "distributed")


def environment() -> Json:
    """Return versions, precision, processor and, where one computes, the graphics card."""
    with first_import:
        from probe.models.hardware import gpus

    versions = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    cards = gpus()
    return {
        "python": platform.python_version(),
        **versions,
        "precision": resolve("auto"),
        "machine": platform.machine(),
        "processor": platform.processor(),
        "cores": os.cpu_count(),
        **({"gpu": ", ".join(cards)} if cards else {}),
    }
