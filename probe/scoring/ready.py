"""The bundled examples as each task's first model scored them before: shown before any press.

`python -m recipes.scored` made them: a run without its parts, and beside it these, packed.
"""

import gzip
import json
import shutil
from pathlib import Path

from probe.errors import write_whole
from probe.runs.gallery import OWNER, gallery_runs
from probe.runs.run import StoredRun
from probe.scoring.files import input_file, kept_file, pack
from probe.settings import ASSETS
from probe.tasks.task import Task

FOLDER = ASSETS / "scored"


def ready_run(task: Task) -> StoredRun | None:
    """Return the run over a task's bundled examples, None where the app comes with none."""
    ready = {run.id: run for run in gallery_runs(FOLDER)}
    return ready.get(f"{OWNER}-{task.name}")


def is_ready_made(run: StoredRun) -> bool:
    """Whether a run came with the app."""
    return run.owner == OWNER


def unpack_ready(run: StoredRun, file: Path) -> None:
    """Put the parts of such a run, and the file of its examples, where those of others are."""
    parts = json.loads(gzip.decompress((FOLDER / f"{run.plan['task']}.gz").read_bytes()))
    for cell, part in zip(run.cells, parts, strict=True):
        write_whole(kept_file(run.plan, "values", cell.key), pack(part))
    place = input_file(run.plan["folder"], run.plan["file"])
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, place)
