"""The sets of a generalisation from files that somebody names: a column gives the conditions."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from finetune.training.data import Asked, numbered_pairs
from finetune.trials.challenges import UserFiles, read_source_data, template_challenges
from finetune.trials.datasets import Examples
from finetune.trials.generalisation_plan import FILE, Plan, SourceData
from finetune.trials.inoculation_plan import InoculationRun, inoculation_runs
from probe.data.names import listed, shown
from probe.data.rows import is_missing
from probe.data.source import read_table
from probe.errors import FileQuestion
from probe.runs.run import StoredRun
from probe.tasks.nli import NLI
from probe.tasks.task import Task, in_common_classes

MAX_CONDITIONS = 12
"""Values of a column that may be conditions: each is trained on and tested."""


def read_data(
    files: UserFiles, conditions: Path | None = None, column: str = "", task: Task = NLI
) -> SourceData:
    """Return the original set, dev and test together, and a file's rows by condition.

    Nothing is chosen by the original set here, so all of it is tested. Gold labels are in the
    classes that all have. Raises ExperimentError, FileError or LabelError.
    """
    data = read_source_data(files, task)
    rows = read_conditions(conditions, column, task, files.asked) if conditions else {}
    original, *several = in_common_classes(task, (*data.dev, *data.test), *rows.values())
    return SourceData(original, dict(zip(rows, several, strict=True)), task)


def read_conditions(
    path: Path, column: str, task: Task = NLI, asked: Asked = Asked()
) -> dict[str, Examples]:
    """Return the labelled rows of a file by what a column says of them, in the file's order.

    Rows of which it says nothing are left out. Raises FileError or LabelError.
    """
    frame = read_table(path, asked.bounds, asked.options).frame
    names = {str(name).strip().lower(): name for name in frame.columns}
    if column.strip().lower() not in names:
        there = listed([str(name) for name in frame.columns])
        raise FileQuestion(
            f"no column {shown(column)} in {path.name} names each row's condition; it has: {there}",
            "--condition NAME",
        )
    cells = frame[names[column.strip().lower()]]
    values = ["" if is_missing(cell) else str(cell).strip() for cell in cells]
    rows: dict[str, list[Any]] = {}
    for number, example in numbered_pairs(path, task, asked):
        rows.setdefault(values[number], []).append(example)
    if without := rows.pop("", []):
        asked.tell(
            f"note: {path.name}: {len(without):,} rows are left out, of which {shown(column)} "
            "names no condition"
        )
    if not 2 <= len(rows) <= MAX_CONDITIONS:
        raise FileQuestion(
            f"the column {shown(column)} of {path.name} must name 2 to {MAX_CONDITIONS} conditions "
            f"of labelled rows; it names {len(rows)}",
            "--condition NAME",
        )
    return {name: tuple(examples) for name, examples in rows.items()}


def same_phenomenon(plan: Plan, runs: Iterable[StoredRun]) -> InoculationRun | None:
    """Return the first judged inoculation of the same model on the same phenomenon.

    The templates' own challenge counts, and a challenge of the phenomenon's name, such as the
    released numerical stress test.
    """
    made = {name for name, kind in template_challenges().items() if kind == plan.phenomenon}
    wanted = {plan.phenomenon} if plan.vary == FILE else {plan.phenomenon, *made}
    return next(
        (
            run
            for run in inoculation_runs(runs)
            if run.verdict and run.plan.model == plan.model and run.plan.challenge in wanted
        ),
        None,
    )
