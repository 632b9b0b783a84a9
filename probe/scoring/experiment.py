"""A file that is scored as a run: its parts are cells, computed wherever the engine computes."""

import filecmp
import json
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from probe.analysis.batch import Row
from probe.analysis.summary import Totals
from probe.data.file_options import FileOptions
from probe.data.questions import ADVERSARIAL, BASE
from probe.data.records import Record, cell
from probe.data.rows import Columns
from probe.data.source import Source, open_source
from probe.data.writers import as_json
from probe.errors import FileError, UserError, writing
from probe.limits import UNBOUNDED, Bounds
from probe.models.classifier import Precision
from probe.models.library import that_reads
from probe.runs.experiment import CellContext, Experiment, Progress, Result
from probe.runs.models import load_any_unchanged
from probe.runs.run import Json, RunRequest, StoredRun, environment
from probe.scoring.files import (
    Assembly,
    ModelFacts,
    Places,
    ScoredPart,
    ScoringRequest,
    ValueColumns,
    pack,
    packed_values,
    part_name,
    part_of,
    read_packed_values,
    scored_chunks,
    unpack,
    write_whole,
)
from probe.settings import settings
from probe.stopping import halt
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


def _folder(name: str) -> Path:
    return settings().home / "scoring" / name


def new_folder() -> str:
    """Return the name of a folder that nobody has."""
    return secrets.token_hex(8)


def input_file(folder: str, file: str) -> Path:
    """Return the place of the file that is scored."""
    return _folder(folder) / "input" / file


def keep_input(folder: str, file: Path) -> Path:
    """Keep a file as long as its run. Raises FileError."""
    if file.is_dir():
        raise FileError(
            f"{file.name} is a folder, and a run keeps one file; save it as Parquet, with "
            "to_parquet()"
        )
    place = input_file(folder, file.name)
    with writing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    return place


def write_part(folder: str, key: Json, content: bytes) -> None:
    """Keep what is to be scored of a part. Raises FileError."""
    write_whole(_folder(folder) / "parts" / part_name(key["start"]), content)


def read_part(folder: str, key: Json) -> bytes:
    """Return what is to be scored of a part, packed. Raises FileError."""
    return _read(_folder(folder) / "parts" / part_name(key["start"]))


def write_values(folder: str, key: Json, content: bytes) -> None:
    """Keep what came of a part, packed already. Raises FileError."""
    write_whole(_folder(folder) / "values" / part_name(key["start"]), content)


def read_values(folder: str, key: Json) -> bytes:
    """Return what came of a part, packed. Raises FileError."""
    return _read(_folder(folder) / "values" / part_name(key["start"]))


def remove_folder(folder: str) -> None:
    """Remove all that is kept of a run."""
    shutil.rmtree(_folder(folder), ignore_errors=True)


def remove_orphans(kept: Collection[str], before: float) -> None:
    """Remove folders that are older than a time (seconds since 1970) and none of these."""
    for folder in _folder("").glob("*"):
        if folder.name not in kept and folder.stat().st_mtime < before:
            shutil.rmtree(folder, ignore_errors=True)


def folder_bytes(folder: str) -> int:
    """Return the bytes of all that is kept of a run."""
    return sum(path.stat().st_size for path in _folder(folder).rglob("*") if path.is_file())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise FileError("the file of this run is not here any more; score it anew") from problem


BYTES = "bytes in a cell"
"""Stands for bytes, which are refused as a text; what they are is not sent."""


@dataclass(frozen=True)
class Part:
    """The rows of a part, with no more columns than are scored; they keep their numbers."""

    names: Sequence[str]
    rows: Sequence[Record]
    bounds: Bounds = UNBOUNDED

    def __len__(self) -> int:
        """Return the number behind the last row."""
        return self.rows[-1].number + 1 if self.rows else 0

    def records(self, start: int = 0) -> Iterator[Record]:
        """Yield the rows from the one of this number on."""
        return (row for row in self.rows if row.number >= start)


def write_parts(plan: ScoringPlan, source: Source) -> None:
    """Keep the parts of a file, each to be sent by itself. Raises FileError."""
    names = scored_columns(source.names, plan.request.columns)
    records = source.records()
    for key in plan.parts:
        rows = list(islice(records, key["rows"]))
        write_part(plan.folder, key, packed_part(Part(names, rows, source.bounds)))


def scored_columns(names: Sequence[str], columns: Columns) -> list[str]:
    """Return the columns that are read to score a row and to sum it up."""
    wanted = {*columns.texts.values(), columns.gold, BASE, ADVERSARIAL}
    return [name for name in names if name in wanted]


def packed_part(part: Part) -> bytes:
    """Return a part as it is sent."""
    values = {
        "names": part.names,
        "start": part.rows[0].number,
        "cells": [[cell(row.cells, name) for name in part.names] for row in part.rows],
        "broken": {row.number: row.broken for row in part.rows if row.broken},
        "bounds": asdict(part.bounds),
    }
    return pack(json.dumps(values, default=_packed_cell).encode())


def _packed_cell(cell: object) -> object:
    return {BYTES: len(cell)} if isinstance(cell, bytes) else as_json(cell)


def _unpacked_cell(cell: dict[str, Any]) -> Any:  # Any: JSON
    return b"" if BYTES in cell else cell


def read_packed_part(content: bytes) -> Part:
    """Return a part that was sent."""
    values = json.loads(unpack(content), object_hook=_unpacked_cell)
    names, broken = values["names"], values["broken"]
    rows = [
        Record(number, dict(zip(names, cells, strict=True)), broken=broken.get(str(number), ""))
        for number, cells in enumerate(values["cells"], values["start"])
    ]
    return Part(names, rows, Bounds(**values["bounds"]))


def run_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Score a part chunk by chunk. Raises ModelError, FileError, Cancelled."""
    planned, part = read_plan(plan), read_packed_part(context.part)
    request = planned.request
    loaded = load_any_unchanged(planned.model, context.model, planned.order)
    model = that_reads(loaded, request.long)
    rows = list[Row]()
    for chunk in scored_chunks(part, model, request, planned.rows, key["start"]):
        rows += chunk.rows
        yield Progress({"rows": chunk.done - key["start"], "seconds": chunk.seconds})
        halt(context.stop)
    counts = {"rows": len(rows), "scored": sum(row.prediction is not None for row in rows)}
    yield Result(counts, content=packed_values(part_of(rows, model, request)))


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


NOTHING_YET = "no part of this file is scored yet"


@dataclass(frozen=True)
class DonePart:
    """The rows of a part with all columns of the file, and what came of them."""

    part: Part
    scored: ScoredPart


@dataclass(frozen=True)
class Assembled:
    """What the parts of a run come to together, and as JSON values."""

    totals: Totals
    shape: dict[str, Any]  # Any: JSON


def done_parts(run: StoredRun) -> list[Json]:
    """Return the keys of the parts that are scored, in their order."""
    return [cell.key for cell in run.cells if cell.state == "done"]


def take_nothing(part: DonePart) -> None:
    """Leave a part to the files."""


def assemble(
    run: StoredRun, places: Places, take: Callable[[DonePart], None] = take_nothing
) -> Assembled:
    """Write the files of a run with the parts that are scored; return what these come to.

    One part at a time is in memory; `take` is given each, in the order of the file. Raises
    FileError where there are none, or the run's file is gone.
    """
    plan, done = read_plan(run.plan), done_parts(run)
    if not done:
        raise FileError(NOTHING_YET)
    source = open_source(input_file(plan.folder, plan.file), options=plan.request.reading)
    parts = _parts(plan, source, done)
    first = next(parts)
    model = ModelFacts(first.scored.model, first.scored.revision, plan.task)
    columns = _columns_of(plan, first.scored)
    assembly = Assembly(source, plan.request, places, model, columns)
    for part in chain([first], parts):
        assembly.add(part.part.rows, part.scored)
        take(part)
    return Assembled(assembly.totals, assembly.finish())


def _columns_of(plan: ScoringPlan, scored: ScoredPart) -> ValueColumns:
    return ValueColumns(scored.labels, plan.task, plan.request.names, plan.request.long)


def _parts(plan: ScoringPlan, source: Source, done: Sequence[Json]) -> Iterator[DonePart]:
    """Yield the parts that are done, one at a time in memory."""
    records, known = source.records(), {key["start"] for key in done}
    for key in plan.parts:
        part = Part(source.names, list(islice(records, key["rows"])))
        if key["start"] in known:
            scored = read_packed_values(read_values(plan.folder, key))
            values = _columns_of(plan, scored).completed(scored.values)
            yield DonePart(part, replace(scored, values=values))
