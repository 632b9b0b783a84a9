"""The plan of a file that is scored as a run: its parts, and how each is scored."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from probe.data.file_options import FileOptions
from probe.data.rows import Columns
from probe.models.classifier import Precision
from probe.runs.run import Json
from probe.scoring.request import ScoringRequest
from probe.tasks.nli import NUMBERED, Pair
from probe.tasks.task import Label, Task, task_named
from probe.transforms.options import read_options

MOST_PARTS = 500
"""Parts of a run; the parts of a larger file have more chunks each."""


@dataclass(frozen=True)
class ScoringPlan:
    """A file as a run. `folder` names where the app keeps the file and what comes of it.

    `order` is that of the model's outputs where its config does not say it.
    """

    model: str
    task: Task
    request: ScoringRequest
    file: str
    rows: int
    folder: str
    order: tuple[Label, ...] = ()

    @property
    def part_rows(self) -> int:
        """The rows of a part: whole chunks, so that a row's batch is that of the command line."""
        chunk = self.request.chunk_rows
        return chunk * max(1, -(-self.rows // (chunk * MOST_PARTS)))

    @property
    def parts(self) -> list[Json]:
        """The keys of the cells: the row from 0 where a part begins, and its number of rows."""
        size = self.part_rows
        return [
            {"start": start, "rows": min(size, self.rows - start)}
            for start in range(0, self.rows, size)
        ]


def plan_json(plan: ScoringPlan) -> Json:
    """Return a plan as JSON values."""
    request = plan.request
    return {
        "model": plan.model,
        "task": plan.task.name,
        "columns": {name: _plain(value) for name, value in vars(request.columns).items()},
        "names": list(request.names),
        "seed": request.seed,
        "options": asdict(request.options),
        "precision": request.precision,
        "guard": request.guard,
        "long": request.long,
        "foreign_file": request.foreign_file,
        "file": plan.file,
        "rows": plan.rows,
        "folder": plan.folder,
        "order": list(plan.order),
        "reading": asdict(request.reading),
    }


def read_plan(values: Json) -> ScoringPlan:
    """Read a plan from JSON values. Raises OptionError."""
    precision: Precision = values["precision"]
    request = ScoringRequest(
        _columns(values["columns"], task_named(values["task"])), tuple(values["names"]),
        values["seed"], read_options(values["options"]), precision, values["guard"],
        FileOptions(**values.get("reading", {})), values.get("long", "cut"),
        values.get("foreign_file", False),
    )  # fmt: skip
    return ScoringPlan(
        values["model"], task_named(values["task"]), request, values["file"], values["rows"],
        values["folder"], tuple(values["order"]),
    )  # fmt: skip


def _columns(values: Json, task: Task) -> Columns:
    """Read columns, also of a plan that kept names of classes and read other numbers by MNLI's."""
    if "classes" not in values:
        return Columns(**values)
    known = {**(NUMBERED if task.example is Pair else {}), **values["values"]}
    classes = {value: task.read_gold(name) for value, name in values["classes"].items()}
    return Columns(values["texts"], values["gold"], {**known, **classes, **values["values"]})


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


def keys(values: Json) -> Sequence[Json]:
    """Return the keys of a plan's cells."""
    return read_plan(values).parts
