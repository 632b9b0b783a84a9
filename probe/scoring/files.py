"""Scoring a file: its rows become parts, in this process or as a run's cells, and parts files."""

import filecmp
import gzip
import hashlib
import json
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from probe.analysis.batch import (
    CHUNK_ROWS,
    Chunk,
    Row,
    VariantScore,
    score,
    variant_scores,
    variants_json,
)
from probe.analysis.contrast_sets import Keyed, contrast_json, key_of
from probe.analysis.importance import MethodOrNone
from probe.analysis.summary import (
    EXPLAINED,
    RIGHT,
    WORD_COLUMNS,
    Totals,
    fp32_sample,
    made_cells,
    made_columns,
    model_labels,
    scored_cells,
    scored_columns,
    summary_json,
    with_legible,
    word_cells,
)
from probe.analysis.transformed import is_foreign
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.parquet import arrow_files
from probe.data.questions import ADVERSARIAL, BASE
from probe.data.rows import NO_RECORD, Columns, Form, Record, Source, cell, read_rows
from probe.data.source import FORMS, end_of, form_of, open_source
from probe.data.writers import Output, Values, as_json, check_cells, check_rows, free_names
from probe.errors import FileError, UserError, reading, write_whole, writing
from probe.limits import UNBOUNDED, Bounds
from probe.models.classifier import Classifier, Model, Named, Precision, resolve
from probe.models.library import Opened, that_reads
from probe.models.prediction_file import Predicted
from probe.models.served import Served
from probe.models.weights import file_hash
from probe.models.windows import Long
from probe.runs.experiment import CellContext, Experiment, Progress, Result
from probe.runs.models import hash_if_there, load_any_unchanged
from probe.runs.run import Json, RunRequest, StoredRun, environment
from probe.scoring.source_form import SourceForm
from probe.settings import settings
from probe.stopping import raise_if_stopped
from probe.tasks.nli import NUMBERED, Pair
from probe.tasks.task import Label, Task, task_named
from probe.text.language import BEYOND_DOUBT, IN_DOUBT
from probe.text.words import listing
from probe.transforms import Options
from probe.transforms.options import read_options


@dataclass(frozen=True)
class ValueColumns:
    """The columns of what is written, by the model's labels, its task and the transforms."""

    labels: tuple[Label, ...]
    task: Task
    transforms: tuple[str, ...]
    long: Long = "cut"
    served: bool = False
    importance: bool = False

    @cached_property
    def scored(self) -> list[str]:
        """The columns behind those of the input."""
        return scored_columns(
            self.labels, self.task, self.transforms, self.long, self.served, self.importance
        )

    @cached_property
    def made(self) -> list[str]:
        """The columns of the examples that were made."""
        return made_columns(self.labels, self.task)


class Places(NamedTuple):
    """Where the scored file goes, and if they are wanted that of every example that was made, that
    of those with a label, in the form of their source, and that of every word with its score."""

    scored: Path
    pairs: Path | None = None
    training: Path | None = None
    words: Path | None = None

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
    names = {
        "scored": "The scored file",
        "pairs": "The file of the texts that were made",
        "training": "The file to train on",
        "words": "The file of the words",
    }
    return " ".join(f"{names[name]} is {words}." for name, words in forms.items())


PRECISION_ROWS = "precision_rows"


def precision_words(summary: Mapping[str, Any]) -> str:  # Any: JSON
    """Say in which precision a file was computed, of several also how many rows in each."""
    rows = summary.get(PRECISION_ROWS, {})
    each = [f"{name} for {count:,} row{'' if count == 1 else 's'}" for name, count in rows.items()]
    return listing(each) if each else str(summary["precision"] or "answers of a file")


PLAIN_ROWS = 1024
"""Rows that are scored together where no transform is asked for."""
FORMAT = 4
"""Of what is kept of an interrupted scoring; another one begins anew."""


@dataclass(frozen=True)
class ScoringRequest:
    """What is done with every row; `reading` says how the file is opened.

    `long` is as `probe.models.windows.LONG` has it.

    `bundle` is the column that joins rows to contrast sets, if any.

    `importance` is the method by which words are scored, "" where they are not.

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
    bundle: str = ""
    importance: MethodOrNone = ""

    @property
    def chunk_rows(self) -> int:
        """Rows that are scored together; the batches of like length are made among them."""
        return CHUNK_ROWS if self.names or self.importance else PLAIN_ROWS

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
        "pairs": places.pairs and places.pairs.resolve(),
        "format": FORMAT,
    }
    del settings["bundle"]  # of the summary alone
    text = json.dumps(settings, sort_keys=True, default=str)
    files = arrow_files(path) if path.is_dir() else [path]
    return {
        "the file": "".join(map(file_hash, files)),
        "the model": hash_if_there(model.name) or str(model.revision),
        "the settings": hashlib.sha256(text.encode()).hexdigest(),
    }


@dataclass(frozen=True)
class ScoredPart:
    """What came of some rows, and by which model.

    The values of each row are a list in `scored`, of each example that was made another in `made`;
    `variants` are the scores of questions' variants, `totals` what the rows come to.
    """

    scored: Sequence[Values]
    made: Sequence[Values]
    variants: Sequence[VariantScore]
    totals: Mapping[str, Any]  # Any: JSON
    labels: tuple[Label, ...]
    model: str
    revision: str | None
    precision: str
    served: bool = False


def columns_of(part: ScoredPart, task: Task, request: ScoringRequest) -> ValueColumns:
    """Return the columns of the values of a part."""
    names, by_word = request.names, bool(request.importance)
    return ValueColumns(part.labels, task, names, request.long, part.served, by_word)


def value_columns(model: Model, request: ScoringRequest) -> ValueColumns:
    """Return the columns of what is written of a model's answers."""
    long = model.long if isinstance(model, Classifier) else "cut"
    served, by_word = isinstance(model, Served), bool(request.importance)
    return ValueColumns(model_labels(model), model.task, request.names, long, served, by_word)


def part_of(rows: Sequence[Row], model: Model, request: ScoringRequest) -> ScoredPart:
    """Return what came of rows."""
    columns, totals = value_columns(model, request), Totals(model.task, request.names)
    totals.add(rows)
    return ScoredPart(
        [scored_cells(row, columns.scored) for row in rows],
        [cells for row in rows for cells in made_cells(row, columns.made)],
        list(variant_scores(rows)), totals.state, columns.labels,
        model.name, model.revision, resolve(request.precision), columns.served,
    )  # fmt: skip


def pack(values: object, default: Callable[[object], object] = as_json) -> bytes:
    """Return JSON values as they are kept and sent; `default` makes those of what is none."""
    return gzip.compress(json.dumps(values, default=default).encode(), compresslevel=1, mtime=0)


def read_packed_values(content: bytes) -> ScoredPart:
    """Return what was packed of a part, also by a version that named its values."""
    values: dict[str, Any] = json.loads(gzip.decompress(content))  # Any: JSON
    values = values.pop("values", {}) | values
    return ScoredPart(**values | {"labels": tuple(values["labels"])})


def part_name(start: int) -> str:
    """Return the name of the file that keeps the part that begins with a row."""
    return f"{start:09}.json.gz"


def scored_chunks(
    table: Source, model: Model, request: ScoringRequest, rows: int, start: int = 0
) -> Iterator[Chunk[Row]]:
    """Score the rows of a table from one on; its whole file has so many.

    Raises FileError, and UnknownTransform or Unavailable before the first chunk.
    """
    return score(
        table, request.columns, model, request.names, request.seed, request.options,
        request.precision, request.chunk_rows, start, fp32_sample(rows, request.seed),
        request.below, request.importance or None,
    )  # fmt: skip


class Assembly:
    """The files that the parts of a file are put into, and what these come to together.

    Parts come in the order of the file, of which some may be left out.
    """

    def __init__(
        self, source: Source, request: ScoringRequest, places: Places, model: Named,
        columns: ValueColumns,
    ) -> None:  # fmt: skip
        """The model's name stands behind our names that the input has too. Raises FileError."""
        self._request, self._model = request, model
        self.totals = Totals(model.task, request.names)
        self._task, self._names = model.task, source.names
        self._precisions = Counter[str]()
        self._variants = list[VariantScore]()
        self._bundled, self._right = list[Keyed](), columns.scored.index(RIGHT)
        self._served = columns.served
        self._has_variants = bool(model.task.f1) and BASE in source.names
        names = free_names(source.columns, columns.scored, Path(model.name).name)
        self._outputs = {"scored": Output(places.scored, names, source, request.guard)}
        if places.pairs:
            self._outputs["pairs"] = Output(places.pairs, columns.made, None, request.guard)
        self._columns, self._explained = columns.scored, 0
        if places.words:
            self._outputs["words"] = Output(places.words, WORD_COLUMNS, None, request.guard)
        self._training = None
        if places.training:
            self._training = SourceForm(places.training, model.task, columns.made)

    def add(self, records: Sequence[Record], part: ScoredPart) -> None:
        """Write the rows of a part behind the others. Raises FileError."""
        self._outputs["scored"].write(zip(records, part.scored, strict=True))
        if "pairs" in self._outputs:
            self._outputs["pairs"].write((NO_RECORD, made) for made in part.made)
        if self._training:
            self._training.write(records, part.made)
        if self._request.importance:
            place = self._columns.index(EXPLAINED)
            self._explained += sum(values[place] is not None for values in part.scored)
        if "words" in self._outputs:
            self._outputs["words"].write(
                (NO_RECORD, word)
                for record, values in zip(records, part.scored, strict=True)
                for word in word_cells(record.number, self._columns, values, self._task)
            )
        if self._has_variants:
            self._variants += part.variants
        if column := self._request.bundle:
            self._bundled += (
                Keyed(key_of(record.cells, column), record.number + 1, [values[self._right]])
                for record, values in zip(records, part.scored, strict=True)
            )
        older = {} if "confusion" in part.totals else {"confusion": self._confused(records, part)}
        self.totals.merge({**part.totals, **older})
        self._precisions[part.precision] += len(records)

    def _confused(self, records: Sequence[Record], part: ScoredPart) -> list[list[Any]]:
        """Count gold labels and answers of a part that an earlier version scored."""
        rows = read_rows(
            Source("csv", self._names, iter(records).__iter__), self._request.columns, self._task
        )
        told = Counter(
            (row.example.gold, values[0])
            for row, values in zip(rows, part.scored, strict=True)
            if row.example and row.example.gold and values[0] is not None
        )
        return [[*both, n] for both, n in told.items()]

    def finish(self) -> dict[str, Any]:  # Any: JSON
        """Complete the files with the rows that they hold; return the summary of these.

        Raises FileError.
        """
        outputs: dict[str, Output | SourceForm] = {**self._outputs}
        if self._training:
            outputs["training"] = self._training
        for output in outputs.values():
            output.finish()
        request, precisions = self._request, dict(sorted(self._precisions.items()))
        shape = summary_json(
            self.totals.summary(), self._model, request.precision, request.seed, request.options
        )
        if precisions:
            shape["precision"] = listing(list(precisions))
        several = {PRECISION_ROWS: precisions} if len(precisions) > 1 else {}
        if isinstance(self._model, Predicted) or self._served:  # nothing is computed here
            shape["precision"] = None
        forms = {"forms": {name: output.words for name, output in outputs.items()}}
        if column := request.bundle:
            name = self._model.name
            shape["contrast_sets"] = contrast_json(self._bundled, [name], column)
        if request.importance:
            shape["importance"] = {
                "method": request.importance,
                "sign": request.options.sign,
                "rows": self._explained,
            }
        return shape | several | variants_json(self._variants) | forms


STATE = "state.json"


def read_unfinished(folder: Path) -> tuple[dict[str, str], list[ScoredPart]]:
    """Return identity and parts of an interrupted scoring, from the first row on, or nothing.

    Raises FileError where that cannot be read.
    """
    path, identity, parts, rows = folder / STATE, dict[str, str](), list[ScoredPart](), 0
    telling = partial(reading, form="how far a scoring came", advice="delete its folder")
    if path.is_file():
        with telling(str(path)):
            identity = dict(json.loads(path.read_text(encoding="utf-8"))["identity"])
    while (path := folder / part_name(rows)).is_file():
        with telling(str(path)):
            parts.append(read_packed_values(path.read_bytes()))
        rows += len(parts[-1].scored)
    return identity, parts


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
        begun = self._begun(dict(identity or {}))
        self._assembly = Assembly(source, request, places, model, value_columns(model, request))
        records = source.records() if begun else iter(())
        for part in begun:
            self._assembly.add(list(islice(records, len(part.scored))), part)

    def _begun(self, known: Mapping[str, str]) -> list[ScoredPart]:
        """Return what a scoring of the same file in the same way did before it stopped."""
        work = self._places.work
        found, parts = read_unfinished(work) if known else ({}, [])
        if found:
            rows = sum(len(part.scored) for part in parts)
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
                write_whole(self._places.work / name, pack(vars(part)))
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

    `order` is that of the model's outputs where its config does not say it, `form` that of the
    rows, in which scored ones are written. A model that a person brought is read from `address`,
    and with the `template`.
    """

    model: str
    task: Task
    request: ScoringRequest
    file: str
    rows: int
    folder: str
    order: tuple[Label, ...] = ()
    form: Form = "csv"
    address: str = ""
    template: str = ""

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
    values = {**vars(plan), **asdict(plan.request), "task": plan.task.name}
    del values["request"]
    return dict(json.loads(json.dumps(values)))


def read_plan(values: Json) -> ScoringPlan:
    """Read a plan from JSON values. Raises OptionError."""
    task = task_named(values["task"])
    known = {each.name: values[each.name] for each in fields(ScoringRequest) if each.name in values}
    known |= {
        "columns": _columns(values["columns"], task),
        "names": tuple(values["names"]),
        "options": read_options(values["options"]),
        "reading": FileOptions(**values.get("reading", {})),
    }
    named = {name: values[name] for name in ("model", "file", "rows", "folder")}
    named |= {name: values.get(name, "") for name in ("address", "template")}
    request = ScoringRequest(**known)
    form = values.get("form") or FORMS.get(end_of(Path(values["file"])), "parquet")
    return ScoringPlan(task=task, request=request, order=tuple(values["order"]), form=form, **named)


def _columns(values: Json, task: Task) -> Columns:
    """Read columns, also of a plan that kept names of classes and read other numbers by MNLI's."""
    if "classes" not in values:
        return Columns(**values)
    known = {**(NUMBERED if task.example is Pair else {}), **values["values"]}
    classes = {value: task.read_gold(name) for value, name in values["classes"].items()}
    return Columns(values["texts"], values["gold"], {**known, **classes, **values["values"]})


def _folder(name: str) -> Path:
    return settings().home / "scoring" / name


def input_file(folder: str, file: str) -> Path:
    """Return the place of the file that is scored."""
    return _folder(folder) / "input" / file


def kept_file(plan: Json, kind: Literal["parts", "values"], key: Json) -> Path:
    """Return the place of what is to be scored of a part, or of what came of it, packed."""
    return _folder(plan["folder"]) / kind / part_name(key["start"])


def read_kept(path: Path) -> bytes:
    """Return what is kept of a part. Raises FileError."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise FileError("the file of this run is not here any more; score it anew") from problem


BYTES = "bytes in a cell"
"""Stands for bytes, which are refused as a text; what they are is not sent."""


def part(names: Sequence[str], rows: Sequence[Record], bounds: Bounds = UNBOUNDED) -> Source:
    """Return the rows of a part, with no more columns than are scored; they keep their numbers."""
    count = rows[-1].number + 1 if rows else 0
    return Source("csv", names, rows.__iter__, rows=count, bounds=bounds)


def packed_part(part: Source) -> bytes:
    """Return a part as it is sent."""
    rows = list(part.records())
    values = {
        "names": part.names,
        "start": rows[0].number,
        "cells": [[cell(row.cells, name) for name in part.names] for row in rows],
        "broken": {row.number: row.broken for row in rows if row.broken},
        "bounds": asdict(part.bounds),
    }
    return pack(
        values, lambda cell: {BYTES: len(cell)} if isinstance(cell, bytes) else as_json(cell)
    )


def read_packed_part(content: bytes) -> Source:
    """Return a part that was sent."""
    values = json.loads(
        gzip.decompress(content), object_hook=lambda cell: b"" if BYTES in cell else cell
    )
    names, broken = values["names"], values["broken"]
    rows = [
        Record(number, dict(zip(names, cells, strict=True)), broken=broken.get(str(number), ""))
        for number, cells in enumerate(values["cells"], values["start"])
    ]
    return part(names, rows, Bounds(**values["bounds"]))


def run_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Score a part chunk by chunk. Raises ModelError, FileError, Cancelled."""
    planned, rows_sent = read_plan(plan), read_packed_part(context.part)
    request = planned.request
    address = planned.address or planned.model
    loaded = load_any_unchanged(address, context.model, planned.order, planned.template)
    model = that_reads(loaded, request.long)
    rows = list[Row]()
    for chunk in scored_chunks(rows_sent, model, request, planned.rows, key["start"]):
        rows += chunk.rows
        yield Progress({"rows": chunk.done - key["start"], "seconds": chunk.seconds})
        raise_if_stopped(context.stop)
    yield Result(counts_of(rows), content=pack(vars(part_of(rows, model, request))))


def scoring_request(
    file: Path,
    source: Source,
    model: str,
    task: Task,
    request: ScoringRequest,
    opened: Opened | None = None,
    identity: Mapping[str, str] | None = None,
) -> RunRequest:
    """Keep a file as long as its run, with its parts, and return the run that scores it.

    `task` is the model's own; `opened` says how one is read that is not on disk, or has no order.
    `identity` is kept with the run, so that who asks for the same finds it. Raises FileError.
    """
    if file.is_dir():
        raise FileError(
            f"{file.name} is a folder, and a run keeps one file; save it as Parquet, with "
            "to_parquet()"
        )
    request, columns = request.judged(source, task), request.columns
    folder = secrets.token_hex(8)
    address, order, template = opened or Opened(model)
    planned = ScoringPlan(
        model, task, request, file.name, len(source), folder, order or (), source.form,
        address if address != model else "", template,
    )  # fmt: skip
    plan, place = plan_json(planned), input_file(planned.folder, file.name)
    wanted = {*columns.texts.values(), columns.gold, BASE, ADVERSARIAL}
    names = [name for name in source.names if name in wanted]
    records = source.records()
    try:
        with writing(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
        for key in planned.parts:
            rows = part(names, list(islice(records, key["rows"])), source.bounds)
            write_whole(kept_file(plan, "parts", key), packed_part(rows))
    except UserError:
        SCORING.remove(plan)
        raise
    return RunRequest("scoring", plan, {}, environment(), {"identity": dict(identity or {})})


def stored_bytes(plan: Json) -> int:
    """Return the bytes of all that is kept of a run."""
    files = _folder(plan["folder"]).rglob("*")
    return sum(path.stat().st_size for path in files if path.is_file())


def _sweep(plans: Sequence[Json], before: float) -> None:
    kept = {plan["folder"] for plan in plans}
    for folder in _folder("").glob("*"):
        if folder.name not in kept and folder.stat().st_mtime < before:
            shutil.rmtree(folder, ignore_errors=True)


def _title(plan: Json) -> str:
    changes = f", {len(plan['names'])} changes" if plan["names"] else ""
    return f"{plan['file']}, {plan['rows']:,} rows, {plan['model']}{changes}"


def _alike(one: Json, other: Json) -> bool:
    """Whether two plans score the same file in the same way, each from a copy of its own."""
    first, second = (input_file(plan["folder"], plan["file"]) for plan in (one, other))
    same = {**one, "folder": ""} == {**other, "folder": ""}
    return same and first.is_file() and filecmp.cmp(first, second, shallow=False)


SCORING = Experiment(
    kind="scoring",
    cells=lambda plan: read_plan(plan).parts,
    run_cell=run_cell,
    title=_title,
    brief=lambda result: {name: (result or {}).get(name) for name in ("rows", "scored")},
    model=lambda plan: str(plan.get("address") or plan["model"]),
    alike=_alike,
    part=lambda plan, key: read_kept(kept_file(plan, "parts", key)),
    store_content=lambda plan, key, content: write_whole(kept_file(plan, "values", key), content),
    remove=lambda plan: shutil.rmtree(_folder(plan["folder"]), ignore_errors=True),
    sweep=_sweep,
    stored_bytes=stored_bytes,
)


class ScoringHere:
    """What a run is asked to score, scored in this process; each part is kept as a worker's is.

    `results` are those of the parts that are done, by the numbers of their cells.
    """

    def __init__(
        self, source: Source, model: Model, asked: RunRequest, results: dict[int, Json]
    ) -> None:
        """`model` is loaded already; `asked` is that of `scoring_request`."""
        self._source, self._model, self._asked = source, model, asked
        self.results = results

    def chunks(self) -> Iterator[Chunk[Row]]:
        """Score; whoever drives it may stop after any chunk. Raises as `scored_chunks` does."""
        plan, rows = read_plan(self._asked.plan), list[Row]()
        request, size = plan.request, plan.part_rows
        for chunk in scored_chunks(self._source, self._model, request, plan.rows):
            rows += chunk.rows
            if chunk.done % size == 0 or chunk.done == plan.rows:
                key = plan.parts[number := (chunk.done - 1) // size]
                content = pack(vars(part_of(rows, self._model, request)))
                write_whole(kept_file(self._asked.plan, "values", key), content)
                self.results[number] = counts_of(rows)
                rows = []
            yield chunk


def counts_of(rows: Sequence[Row]) -> Json:
    """Return what is stored of a part beside its values."""
    return {"rows": len(rows), "scored": sum(row.prediction is not None for row in rows)}


class ModelFacts(NamedTuple):
    """What is told of the model by which a part was scored."""

    name: str
    revision: str | None
    task: Task


def done_parts(run: StoredRun) -> list[Json]:
    """Return the keys of the parts that are scored, in their order."""
    return [cell.key for cell in run.cells if cell.state == "done"]


def assemble(
    run: StoredRun,
    places: Places,
    take: Callable[[Source, ScoredPart], None] = lambda rows, scored: None,
) -> tuple[dict[str, Any], Totals]:  # Any: JSON
    """Write the files of a run with the parts that are scored; return what these come to.

    One part at a time is in memory; `take` is given the rows of each with all columns of the file,
    and what came of them, in the order of the file. Raises FileError where there are none, or the
    run's file is gone.
    """
    plan, done = read_plan(run.plan), [key["start"] for key in done_parts(run)]
    source = open_source(input_file(plan.folder, plan.file), options=plan.request.reading)
    assembly: Assembly | None = None
    records = source.records()
    for key in plan.parts:
        rows = list(islice(records, key["rows"]))
        if key["start"] not in done:
            continue
        scored = read_packed_values(read_kept(kept_file(run.plan, "values", key)))
        columns = columns_of(scored, plan.task, plan.request)
        # with all columns of today, also where an earlier version scored it
        values = [with_legible(row, columns.scored) for row in scored.scored]
        scored = replace(scored, scored=values)
        if assembly is None:
            model = ModelFacts(scored.model, scored.revision, plan.task)
            assembly = Assembly(source, plan.request, places, model, columns)
        assembly.add(rows, scored)
        take(part(source.names, rows), scored)
    if assembly is None:
        raise FileError("no part of this file is scored yet")
    return assembly.finish(), assembly.totals
