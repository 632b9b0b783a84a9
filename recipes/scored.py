"""`python -m recipes.scored`: the bundled examples, scored by each task's first model in fp32."""

import gzip
import time

from probe.data.reading import reading_of
from probe.data.source import open_source
from probe.experiments import register_experiments
from probe.models.library import ModelCache
from probe.runs.access import ModelAccess
from probe.runs.gallery import OWNER, write
from probe.runs.models import named_model_hash
from probe.runs.run import Json, Run, RunCell, RunRequest, environment
from probe.runs.store import Store
from probe.scoring.files import (
    ScoringHere,
    ScoringPlan,
    ScoringRequest,
    kept_file,
    plan_json,
    read_kept,
)
from probe.scoring.ready import FOLDER
from probe.tasks.task import Task, offered_tasks
from probe.transforms.registry import first_choice
from probe.ui.measure.choice import first_models
from probe.ui.visitors.visitor_files import bundled_copy


def scored(task: Task, models: ModelAccess) -> None:
    """Score a task's bundled examples, and write the run and its parts."""
    file, (name,) = bundled_copy(task), first_models(models.names("", task))
    source = open_source(file)
    columns = reading_of(source, file, task).settled
    request = ScoringRequest(columns, tuple(first_choice(task)), precision="fp32")
    plan = ScoringPlan(
        name, task, request.judged(source, task), file.name, len(source), f"ready-{task.name}",
        form=source.form,
    )  # fmt: skip
    asked, began = RunRequest("scoring", plan_json(plan), {}), time.time()
    here = ScoringHere(source, models.get("", name, task), asked, {})
    for chunk in here.chunks():
        print(f"{task.name}: {chunk.done} of {chunk.total}", flush=True)
    cells = tuple(
        RunCell[Json, Json, Json](number, key, "done", result=here.results[number])
        for number, key in enumerate(plan.parts)
    )
    run = Run(
        "", "scoring", OWNER, asked.plan, "done", False, "", began, began, time.time(), {},
        environment(), "", cells, {"model": named_model_hash(name)},
    )  # fmt: skip
    write(FOLDER, task.name, run)
    kept = (read_kept(kept_file(asked.plan, "values", key)) for key in plan.parts)
    parts = b"[%s]" % b", ".join(map(gzip.decompress, kept))
    (FOLDER / f"{task.name}.gz").write_bytes(gzip.compress(parts, mtime=0))


if __name__ == "__main__":
    register_experiments()
    for each in offered_tasks():
        scored(each, ModelAccess(ModelCache(), Store()))
