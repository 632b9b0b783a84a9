"""A file that is scored as a run: its parts are cells, computed wherever the engine computes."""

import filecmp
from collections.abc import Mapping
from pathlib import Path

from probe.data.source import Source
from probe.errors import UserError
from probe.runs.environment import environment
from probe.runs.experiment import Experiment
from probe.runs.run import Json, RunRequest
from probe.scoring.cell import run_cell
from probe.scoring.folder import (
    folder_bytes,
    input_file,
    keep_input,
    new_folder,
    read_part,
    remove_folder,
    remove_orphans,
    write_values,
)
from probe.scoring.parts import write_parts
from probe.scoring.plan import ScoringPlan, keys, plan_json
from probe.scoring.request import ScoringRequest
from probe.tasks.task import Label, Task


def scoring_request(
    file: Path,
    source: Source,
    model: str,
    task: Task,
    request: ScoringRequest,
    order: tuple[Label, ...] = (),
    identity: Mapping[str, str] | None = None,
) -> RunRequest:
    """Keep a file with its parts and return the run that scores it.

    `task` is the model's own, `order` that of its outputs where its config does not say it.
    `identity` is kept with the run, so that who asks for the same finds it. Raises FileError.
    """
    request = request.judged(source, task)
    plan = ScoringPlan(model, task, request, file.name, len(source), new_folder(), order)
    try:
        keep_input(plan.folder, file)
        write_parts(plan, source)
    except UserError:
        remove_folder(plan.folder)
        raise
    return RunRequest(
        "scoring", plan_json(plan), {}, environment(), {"identity": dict(identity or {})}
    )


def _title(plan: Json) -> str:
    changes = f", {len(plan['names'])} changes" if plan["names"] else ""
    return f"{plan['file']}, {plan['rows']:,} rows, {plan['model']}{changes}"


def _alike(one: Json, other: Json) -> bool:
    """Whether two plans score the same file in the same way, each from a copy of its own."""
    first, second = (input_file(plan["folder"], plan["file"]) for plan in (one, other))
    same = {**one, "folder": ""} == {**other, "folder": ""}
    return same and first.is_file() and filecmp.cmp(first, second, shallow=False)


def _brief(result: Json | None) -> Json:
    return {name: (result or {}).get(name) for name in ("rows", "scored")}


SCORING = Experiment(
    kind="scoring",
    cells=keys,
    run_cell=run_cell,
    title=_title,
    brief=_brief,
    model=lambda plan: str(plan["model"]),
    alike=_alike,
    part=lambda plan, key: read_part(plan["folder"], key),
    store_content=lambda plan, key, content: write_values(plan["folder"], key, content),
    remove=lambda plan: remove_folder(plan["folder"]),
    sweep=lambda plans, before: remove_orphans({plan["folder"] for plan in plans}, before),
    stored_bytes=lambda plan: folder_bytes(plan["folder"]),
)
