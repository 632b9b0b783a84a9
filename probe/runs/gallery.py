"""Finished runs as files, such as those that come with the app: without what they worked on."""

import json
import time
from functools import cache
from pathlib import Path

from probe.errors import ExperimentError, reading, writing
from probe.runs.experiment import experiment_of
from probe.runs.run import Json, Run, RunCell, StoredRun
from probe.settings import ASSETS

FOLDER = ASSETS / "gallery"
OWNER = "gallery"
FIRST_KIND = "inoculation"
"""The kind of the files that name none."""


@cache
def gallery_runs(folder: Path = FOLDER) -> tuple[StoredRun, ...]:
    """Return the runs of a gallery by the names of their files, none where there is no folder."""
    return tuple(read(path) for path in sorted(folder.glob("*.json")))


def read(path: Path) -> StoredRun:
    """Read one run of a gallery. Raises ExperimentError, also where its kind is not known."""
    with reading(path.name, "a finished run", "write it anew or remove it", ExperimentError):
        row: Json = json.loads(path.read_text(encoding="utf-8"))
        experiment, artefacts = experiment_of(row.get("kind", FIRST_KIND)), row["artefacts"]
        points = [(each.pop("cell"), experiment.unpack(each, artefacts)) for each in row["points"]]
        return Run(
            id=f"{OWNER}-{path.stem}",
            kind=experiment.kind,
            owner=OWNER,
            plan=row["plan"],
            state="done",
            cancelling=False,
            error="",
            created=row["created"],
            started=row["created"],
            finished=row["created"],
            verdict=experiment.current_verdict(row["plan"], artefacts, row["verdict"], points),
            environment=row["environment"],
            kept="",
            cells=tuple(
                RunCell(number, key, "done", result=result)
                for number, (key, result) in enumerate(points)
            ),
            artefacts=artefacts,
        )


def write(folder: Path, name: str, run: StoredRun) -> Path:
    """Write a finished run, without its model, as <name>.json; return it. Raises FileError."""
    experiment = experiment_of(run.kind)
    row = {
        "kind": run.kind,
        "plan": run.plan,
        "created": time.time(),
        "environment": run.environment,
        "artefacts": {name: hash_ for name, hash_ in run.artefacts.items() if name != "kept"},
        "verdict": run.verdict,
        "points": [
            {"cell": cell.key, **experiment.pack(cell.result)}
            for cell in run.cells
            if cell.result is not None
        ],
    }
    path = folder / f"{name}.json"
    text = json.dumps(row, indent=1, ensure_ascii=False, allow_nan=False)
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return path
