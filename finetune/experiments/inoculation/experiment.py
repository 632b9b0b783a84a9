"""Inoculation as a kind of run."""

import base64
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finetune.experiments.inoculation.plan import BASE, cells, kept_name
from finetune.experiments.inoculation.point import Point
from finetune.experiments.inoculation.run import KIND, InoculationRun, inoculation_run
from finetune.experiments.inoculation.serialise import plan_from, run_stored_cell, sets_from
from finetune.experiments.inoculation.verdict import conclude, current_verdict, verdict_json
from probe.runs.experiment import Experiment
from probe.runs.run import Json, StoredRun

BRIEF = ("original", "challenge", "dev", "dose", "seconds")
"""What is told of a point over HTTP."""
ROWS = {"original_right": "original_test", "challenge_right": "challenge_test"}
"""A point's scores of rows, and the set whose examples they belong to."""
FLOATS = "float32"
"""Names scores that are no truth values, in little-endian single precision."""


def _keys(plan: Json) -> list[Json]:
    return [asdict(cell) for cell in cells(plan_from(plan))]


def _title(plan: Json) -> str:
    return f"{plan['challenge']} on {Path(plan['model']).name}"


def _brief(result: Json | None) -> Json:
    return {name: (result or {}).get(name) for name in BRIEF}


def _model(plan: Json) -> str:
    return str(plan["model"])


def _fast(plan: Json) -> bool:
    """Return whether a worker keeps the states of frozen layers, which all cells read."""
    return plan_from(plan).mode == "fast"


def name_to_keep(stored: StoredRun, result: Json) -> str | None:
    """Return a name for the model of the largest size; of several the best on original dev.

    That of a training that diverged is not kept.
    """
    run = inoculation_run(stored)
    rivals = [point.dev for point in run.results if _is_largest(run, point) and not point.diverged]
    if result.get("diverged"):
        return None
    if run.kept and result["dev"] < max(rivals, default=0.0):
        return None
    return run.kept or kept_name(run.plan)


def verdict_of(stored: StoredRun, inputs: Json) -> Json | None:
    """Judge what there is, if the model as it was and the largest size are among it."""
    run = inoculation_run(stored)
    measured = any(point.cell == BASE for point in run.results)
    if not (measured and any(_is_largest(run, point) for point in run.results)):
        return None
    return verdict_json(conclude(run.plan, sets_from(inputs), run.results))


def _is_largest(run: InoculationRun, point: Point) -> bool:
    return point.cell.size == max(run.plan.sizes)


def pack_scores(scores: Sequence[float]) -> str | Json:
    """Write scores as base64 text: truth values eight to a byte, others under `FLOATS`."""
    if all(isinstance(score, bool) for score in scores):
        return _base64(np.packbits(np.array(scores, dtype=bool)))
    return {FLOATS: _base64(np.array(scores, dtype="<f4"))}


def unpack_scores(packed: str | Json, n: int) -> tuple[float, ...]:
    """Read n truth values back, or as many scores as there are."""
    if isinstance(packed, str):
        bits = np.frombuffer(base64.b64decode(packed), dtype=np.uint8)
        return tuple(bool(bit) for bit in np.unpackbits(bits, count=n))
    return tuple(np.frombuffer(base64.b64decode(packed[FLOATS]), dtype="<f4").tolist())


def _base64(values: NDArray[Any]) -> str:  # Any: bytes or floats
    return base64.b64encode(values.tobytes()).decode()


def _pack(result: Json) -> Json:
    counter_tests = result.get("counter_tests", {})
    return {
        **result,
        **{name: pack_scores(result[name]) for name in ROWS},
        "counter_tests": {name: pack_scores(scores) for name, scores in counter_tests.items()},
    }


def _unpack(values: Json, artefacts: Json) -> Json:
    counts = {name: each["n"] for name, each in artefacts["sets"].items()}
    counter_tests = values.get("counter_tests", {})
    return {
        **values,
        **{name: unpack_scores(values[name], counts[which]) for name, which in ROWS.items()},
        "counter_tests": {
            name: unpack_scores(packed, counts[name]) for name, packed in counter_tests.items()
        },
    }


INOCULATION = Experiment(
    kind=KIND,
    cells=_keys,
    run_cell=run_stored_cell,
    title=_title,
    brief=_brief,
    model=_model,
    keep=name_to_keep,
    conclude=verdict_of,
    current_verdict=current_verdict,
    one_worker=_fast,
    form=2,
    pack=_pack,
    unpack=_unpack,
)
