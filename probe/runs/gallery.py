"""Finished runs that come with the app: points, settings and hashes, and none of the sentences."""

import base64
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from finetune.experiments.inoculation.cell import Point
from finetune.experiments.inoculation.plan import Plan
from finetune.experiments.inoculation.sets import Sets
from finetune.experiments.inoculation.verdict import conclude, verdict_json
from probe.models.hashes import model_hash, sets_facts
from probe.models.library import locate
from probe.runs.serialise import Json, environment, plan_from, point_from
from probe.runs.store import CellState, Run
from probe.settings import ASSETS

FOLDER = ASSETS / "gallery"
OWNER = "gallery"
MODELS = ["da", "esim", "esim_char", "minilm"]
NUMERICAL = "numerical"
"""The challenge that is the released file, not the transform of that name."""
CHALLENGES = ["word_overlap", "negation", "spelling", "length_mismatch", NUMERICAL]
"""The stress tests of Liu et al.'s figure 3."""
RIGHT = {"original_right": "original_test", "challenge_right": "challenge_test"}
"""Which set the bits of a point speak of."""


@dataclass(frozen=True)
class GalleryRun:
    """What a finished run is written from.

    `sources` are the options that draw its sets, by name; files stand without their folders.
    """

    plan: Plan
    sets: Sets
    points: Sequence[Point]
    sources: Mapping[str, str]


def pack(bits: Sequence[bool]) -> str:
    """Write truth values as base64 text, eight to a byte."""
    return base64.b64encode(np.packbits(np.array(bits, dtype=bool)).tobytes()).decode()


def unpack(text: str, n: int) -> tuple[bool, ...]:
    """Read n truth values back."""
    packed = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    return tuple(bool(bit) for bit in np.unpackbits(packed, count=n))


@cache
def runs(folder: Path = FOLDER) -> tuple[Run, ...]:
    """Return the runs of the gallery by challenge and model, none where there is no folder."""
    return tuple(sorted(map(read, folder.glob("*.json")), key=_place))


def _place(run: Run) -> tuple[int, int, str]:
    """Return where a run stands: in the orders above, others behind by name."""
    kinds = ((CHALLENGES, run.plan.challenge), (MODELS, run.plan.model))
    challenge, model = (all_.index(it) if it in all_ else len(all_) for all_, it in kinds)
    return challenge, model, run.id


def read(path: Path) -> Run:
    """Read one run of the gallery."""
    row = json.loads(path.read_text(encoding="utf-8"))
    points = [_point(point, row["artefacts"]["sets"]) for point in row["points"]]
    return Run(
        id=f"{OWNER}-{path.stem}",
        owner=OWNER,
        plan=plan_from(row["plan"]),
        state="done",
        cancelling=False,
        error="",
        created=row["created"],
        started=row["created"],
        finished=row["created"],
        verdict=row["verdict"],
        environment=row["environment"],
        kept="",
        cells=tuple(CellState(point.cell, "done", None, point, "") for point in points),
        artefacts=row["artefacts"],
    )


def write(folder: Path, exhibit: GalleryRun) -> Path:
    """Write a finished run as <model>-<challenge>.json and return the path.

    Raises ModelError where its model is gone, ValueError where points are missing.
    """
    plan, sets, points = exhibit.plan, exhibit.sets, exhibit.points
    row = {
        "plan": asdict(plan),
        "created": time.time(),
        "environment": environment(),
        "artefacts": {
            "model": model_hash(locate(plan.model)[0]),
            "sets": sets_facts(sets),
            "sources": dict(exhibit.sources),
        },
        "verdict": verdict_json(conclude(plan, sets, points)),
        "points": [_packed(point) for point in points],
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{plan.model}-{plan.challenge}.json"
    text = json.dumps(row, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def _packed(point: Point) -> Json:
    return {**asdict(point), **{name: pack(getattr(point, name)) for name in RIGHT}}


def _point(row: Mapping[str, Any], facts: Json) -> Point:
    bits = {name: unpack(row[name], facts[which]["n"]) for name, which in RIGHT.items()}
    return point_from({**row, **bits})
