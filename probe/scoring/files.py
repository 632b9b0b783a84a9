"""Scoring a file: its rows become parts, in this process or as a run's cells, and parts files."""

import filecmp
import gzip
import hashlib
import json
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from probe.analysis.batch import (
    CHUNK_ROWS,
    Chunk,
    Row,
    VariantScore,
    score,
    variant_scores,
    variants_json,
)
from probe.analysis.summary import (
    Totals,
    fp32_sample,
    made_cells,
    made_columns,
    model_labels,
    scored_cells,
    scored_columns,
    summary_json,
    with_legible,
)
from probe.analysis.transformed import is_foreign
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.parquet import arrow_files
from probe.data.questions import ADVERSARIAL, BASE
from probe.data.rows import NO_RECORD, Columns, Record, Tabular, cell
from probe.data.source import Source, form_of, open_source
from probe.data.writers import Output, Values, as_json, check_cells, check_rows, free_names
from probe.errors import FileError, UserError, reading, writing
from probe.limits import UNBOUNDED, Bounds
from probe.models.classifier import Classifier, Model, Precision, resolve
from probe.models.library import that_reads
from probe.models.weights import file_hash
from probe.models.windows import Long
from probe.runs.experiment import CellContext, Experiment, Progress, Result
from probe.runs.models import hash_if_there, load_any_unchanged
from probe.runs.run import Json, RunRequest, StoredRun, environment
from probe.settings import settings
from probe.stopping import halt
from probe.tasks.nli import NUMBERED, Pair
from probe.tasks.task import Label, Task, task_named
from probe.text.language import BEYOND_DOUBT, IN_DOUBT
from probe.text.words import listing
from probe.transforms import Options
from probe.transforms.options import read_options


@dataclass(frozen=True)
class RowValues:
    """What is written of some rows: of each row a list, of each example that was made another."""

    scored: Sequence[Values]
    made: Sequence[Values] = ()
    variants: Sequence[VariantScore] = ()


@dataclass(frozen=True)
class ValueColumns:
    """The columns of what is written, by the model's labels, its task and the transforms."""

    labels: tuple[Label, ...]
    task: Task
    transforms: tuple[str, ...]
    long: Long = "cut"

    @cached_property
    def scored(self) -> list[str]:
        """The columns behind those of the input."""
        return scored_columns(self.labels, self.task, self.transforms, self.long)

    @cached_property
    def made(self) -> list[str]:
        """The columns of the examples that were made."""
        return made_columns(self.labels, self.task)

    def completed(self, values: RowValues) -> RowValues:
        """Return what an earlier version wrote of rows with all columns of today."""
        return replace(values, scored=[with_legible(row, self.scored) for row in values.scored])

    def values(self, rows: Sequence[Row]) -> RowValues:
        """Return what is written of rows."""
        return RowValues(
            [scored_cells(row, self.scored) for row in rows],
            [cells for row in rows for cells in made_cells(row, self.made)],
            list(variant_scores(rows)),
        )


def value_columns(model: Model, transforms: Sequence[str]) -> ValueColumns:
    """Return the columns of what is written of a model's answers."""
    long = model.long if isinstance(model, Classifier) else "cut"
    return ValueColumns(model_labels(model), model.task, tuple(transforms), long)


@dataclass(frozen=True)
class Places:
    """Where the scored file goes, and that of every example that was made, if it is wanted.

    However a place is written, it is the same one: by it an interrupted scoring is known again.
    """

    scored: Path
    pairs: Path | None = None

    def __post_init__(self) -> None:
        """Write both from the root of the disk on."""
        object.__setattr__(self, "scored", self.scored.resolve())
        object.__setattr__(self, "pairs", self.pairs and self.pairs.resolve())

    @property
    def work(self) -> Path:
        """The folder in which an unfinished scoring keeps what it needs to go on."""
        return self.scored.with_name(f"{self.scored.name}.unfinished")


def check_forms(
    places: Places, source: Source, texts: Sequence[str], transforms: Sequence[str]
) -> None:
    """Refuse files whose forms cannot hold what may be written, before a row is scored.

    `texts` are the columns of which examples are made. Raises FileError.
    """
    scored, pairs = places.scored, places.pairs
    check_rows(scored.name, form_of(scored), len(source))
    check_cells(scored, source, source.form, source.columns)
    if pairs and transforms:
        check_rows(pairs.name, form_of(pairs), len(source) * len(transforms))
        if form_of(pairs) == "tsv":
            check_cells(pairs, source, source.form, texts)


def forms_words(forms: Mapping[str, str]) -> str:
    """Say in what form the files are, as a summary has it."""
    names = {"scored": "The scored file", "pairs": "The file of the texts that were made"}
    return " ".join(f"{names[name]} is {words}." for name, words in forms.items())


PRECISION_ROWS = "precision_rows"


def precisions_json(rows: Mapping[str, int]) -> dict[str, Any]:  # Any: JSON
    """Return what a summary says where there are several, by their rows; of one it says no more."""
    several = sorted(rows.items())
    if len(several) < 2:
        return {}
    return {"precision": listing([name for name, _ in several]), PRECISION_ROWS: dict(several)}


def precision_words(summary: Mapping[str, Any]) -> str:  # Any: JSON
    """Say in which precision a file was computed, of several also how many rows in each."""
    rows = summary.get(PRECISION_ROWS, {})
    each = [f"{name} for {count:,} row{'' if count == 1 else 's'}" for name, count in rows.items()]
    return listing(each) if each else str(summary["precision"])


PLAIN_ROWS = 1024
"""Rows that are scored together where no transform is asked for."""
FORMAT = 4
"""Of what is kept of an interrupted scoring; another one begins anew."""


@dataclass(frozen=True)
class ScoringRequest:
    """What is done with every row; `reading` says how the file is opened.

    `long` is as `probe.models.windows.LONG` has it.

    `foreign_file`: the file as a whole is not in English, so that a row in doubt is not either.
    """

    columns: Columns
    names: tuple[str, ...] = ()
    seed: int = 0
    options: Options = field(default_factory=Options)
    precision: Precision = "auto"
    guard: bool = False
    reading: FileOptions = AS_THE_FILE_TELLS
    long: Long = "cut"
    foreign_file: bool = False

    @property
    def chunk_rows(self) -> int:
        """Rows that are scored together; the batches of like length are made among them."""
        return CHUNK_ROWS if self.names else PLAIN_ROWS

    @property
    def below(self) -> float:
        """The probability of English below which a row is in another language."""
        return IN_DOUBT if self.foreign_file else BEYOND_DOUBT

    def judged(self, source: Source, task: Task) -> "ScoringRequest":
        """Return the request with what the first rows of its file say of the language of all."""
        return replace(self, foreign_file=is_foreign(source, self.columns, task))


def identity(
    path: Path, model: Model, request: ScoringRequest, places: Places
) -> Mapping[str, str]:
    """Return hashes of what must stay the same for a scoring to go on, each by its name."""
    settings = asdict(request) | {
        "precision": resolve(request.precision),
        "pairs": places.pairs,
        "format": FORMAT,
    }
    settings["columns"] = {name: _plain(value) for name, value in settings["columns"].items()}
    text = json.dumps(settings, sort_keys=True, default=str)
    return {
        "the file": "".join(file_hash(each) for each in arrow_files(path)),
        "the model": hash_if_there(model.name) or str(model.revision),
        "the settings": hashlib.sha256(text.encode()).hexdigest(),
    }


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class ScoredPart:
    """What came of some rows: their values, what they come to, and by which model."""

    values: RowValues
    totals: Mapping[str, Any]  # Any: JSON
    labels: tuple[str, ...]
    model: str
    revision: str | None
    precision: str


def part_of(rows: Sequence[Row], model: Model, request: ScoringRequest) -> ScoredPart:
    """Return what came of rows."""
    columns, totals = value_columns(model, request.names), Totals(model.task, request.names)
    totals.add(rows)
    return ScoredPart(
        columns.values(rows), totals.state, columns.labels,
        model.name, model.revision, resolve(request.precision),
    )  # fmt: skip


def packed_values(part: ScoredPart) -> bytes:
    """Return what came of a part as it is kept and sent back."""
    values = vars(part) | {"values": vars(part.values)}
    return pack(json.dumps(values, default=as_json).encode())


def read_packed_values(content: bytes) -> ScoredPart:
    """Return what was kept or sent back of a part."""
    values: dict[str, Any] = json.loads(unpack(content))  # Any: JSON
    labels = tuple(values.pop("labels"))
    return ScoredPart(RowValues(**values.pop("values")), labels=labels, **values)


def pack(content: bytes) -> bytes:
    """Pack what is kept or sent."""
    return gzip.compress(content, compresslevel=1, mtime=0)


def unpack(content: bytes) -> bytes:
    """Unpack what was kept or sent."""
    return gzip.decompress(content)


def part_name(start: int) -> str:
    """Return the name of the file that keeps the part that begins with a row."""
    return f"{start:09}.json.gz"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, also where the machine stops.

    Raises FileError.
    """
    fresh = path.with_name(f"{path.name}.new")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)


def scored_chunks(
    table: Tabular, model: Model, request: ScoringRequest, rows: int, start: int = 0
) -> Iterator[Chunk[Row]]:
    """Score the rows of a table from one on; its whole file has so many.

    Raises FileError, and UnknownTransform or Unavailable before the first chunk.
    """
    return score(
        table, request.columns, model, request.names, request.seed, request.options,
        request.precision, request.chunk_rows, start, fp32_sample(rows, request.seed),
        request.below,
    )  # fmt: skip


@dataclass(frozen=True)
class ModelFacts:
    """What is told of the model by which a part was scored."""

    name: str
    revision: str | None
    task: Task


class Assembly:
    """The files that the parts of a file are put into, and what these come to together.

    Parts come in the order of the file, of which some may be left out. `variants` are the scores of
    questions' variants.
    """

    def __init__(
        self, source: Source, request: ScoringRequest, places: Places, model: ModelFacts,
        columns: ValueColumns,
    ) -> None:  # fmt: skip
        """The model's name stands behind our names that the input has too. Raises FileError."""
        self._request, self._model = request, model
        self.totals = Totals(model.task, request.names)
        self._precisions = Counter[str]()
        self._variants: list[VariantScore] | None = None
        if model.task.f1 and BASE in source.names:
            self._variants = []
        names = free_names(source.columns, columns.scored, Path(model.name).name)
        self._scored = Output(places.scored, names, source, request.guard)
        self._pairs = (
            Output(places.pairs, columns.made, None, request.guard) if places.pairs else None
        )

    def add(self, records: Sequence[Record], part: ScoredPart) -> None:
        """Write the rows of a part behind the others. Raises FileError."""
        self._scored.write(zip(records, part.values.scored, strict=True))
        if self._pairs:
            self._pairs.write((NO_RECORD, made) for made in part.values.made)
        if self._variants is not None:
            self._variants += part.values.variants
        self.totals.merge(part.totals)
        self._precisions[part.precision] += len(records)

    def finish(self) -> dict[str, Any]:  # Any: JSON
        """Complete the files with the rows that they hold; return the summary of these.

        Raises FileError.
        """
        forms = {}
        for name, output in {"scored": self._scored, "pairs": self._pairs}.items():
            if output:
                output.finish()
                forms[name] = output.words
        request = self._request
        precision: Precision = request.precision
        if self._precisions:
            precision = "bf16" if next(iter(self._precisions)) == "bf16" else "fp32"
        shape = summary_json(
            self.totals.summary(), self._model, precision, request.seed, request.options
        )
        shape |= precisions_json(self._precisions) | variants_json(self._variants or ())
        return shape | {"forms": forms}


STATE = "state.json"


def read_identity(folder: Path) -> dict[str, str] | None:
    """Return the identity of an interrupted scoring, None where there is none.

    Raises FileError where that cannot be read.
    """
    path = folder / STATE
    if not path.is_file():
        return None
    with reading(str(path), "how far a scoring came", "delete its folder"):
        return dict(json.loads(path.read_text(encoding="utf-8"))["identity"])


def read_parts(folder: Path) -> list[ScoredPart]:
    """Return what an interrupted scoring kept, from the first row on. Raises FileError."""
    parts, rows = list[ScoredPart](), 0
    while (path := folder / part_name(rows)).is_file():
        with reading(str(path), "how far a scoring came", "delete its folder"):
            parts.append(read_packed_values(path.read_bytes()))
        rows += len(parts[-1].values.scored)
    return parts


class FileScoring:
    """A file that is scored in this process; every chunk is a part, kept once it is scored.

    It begins with the row `start`. `anew` says why it does not go on where an earlier one stopped,
    "" where there was none or it does.
    """

    def __init__(
        self,
        source: Source,
        model: Model,
        request: ScoringRequest,
        places: Places,
        identity: Mapping[str, str] | None = None,
    ) -> None:
        """Without an `identity` it begins anew and cannot go on later. Raises FileError."""
        check_forms(places, source, tuple(request.columns.texts.values()), request.names)
        self._source, self._model, self._places = source, model, places
        self._request = request.judged(source, model.task)
        self._identity = identity
        self.anew, self.start = "", 0
        begun = self._begun()
        self._assembly = Assembly(
            source, request, places, ModelFacts(model.name, model.revision, model.task),
            value_columns(model, request.names),
        )  # fmt: skip
        records = source.records() if begun else iter(())
        for part in begun:
            self._assembly.add(list(islice(records, len(part.values.scored))), part)

    def _begun(self) -> list[ScoredPart]:
        """Return what a scoring of the same file in the same way did before it stopped."""
        work, known = self._places.work, dict(self._identity or {})
        if known and (found := read_identity(work)) is not None:
            parts = read_parts(work)
            rows = sum(len(part.values.scored) for part in parts)
            changed = [name for name, now in known.items() if found.get(name) != now]
            if not changed:
                self.start = rows
                return parts
            if rows:
                self.anew = f"{' and '.join(changed)} changed since {rows:,} rows were scored"
        shutil.rmtree(work, ignore_errors=True)
        if known:
            write_whole(work / STATE, json.dumps({"identity": known}).encode())
        return []

    @property
    def totals(self) -> Totals:
        """What the rows that are done come to."""
        return self._assembly.totals

    def chunks(self) -> Iterator[Chunk[Row]]:
        """Score and write; whoever drives it may stop after any chunk.

        Raises as `scored_chunks` does.
        """
        source, start = self._source, self.start
        for chunk in scored_chunks(source, self._model, self._request, len(source), start):
            part = part_of(chunk.rows, self._model, self._request)
            if self._identity is not None:
                name = part_name(chunk.done - len(chunk.rows))
                write_whole(self._places.work / name, packed_values(part))
            self._assembly.add([row.record for row in chunk.rows], part)
            yield chunk

    def hand_over(self) -> dict[str, Any]:  # Any: JSON
        """Complete the files with the rows that are done, and return the summary of these."""
        shape = self._assembly.finish()
        if self.totals.rows == len(self._source):
            shutil.rmtree(self._places.work, ignore_errors=True)
        return shape


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
    names = read_columns(source.names, plan.request.columns)
    records = source.records()
    for key in plan.parts:
        rows = list(islice(records, key["rows"]))
        write_part(plan.folder, key, packed_part(Part(names, rows, source.bounds)))


def read_columns(names: Sequence[str], columns: Columns) -> list[str]:
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
