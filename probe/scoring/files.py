"""Scoring a file: rows are scored into parts, and the parts are put together into its files."""

import gzip
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import islice
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
from probe.analysis.legibility import is_foreign
from probe.analysis.summary import Totals, fp32_sample
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.parquet import arrow_files
from probe.data.questions import BASE
from probe.data.records import NO_RECORD, Record, Tabular
from probe.data.rows import Columns
from probe.data.source import Source, form_of
from probe.data.writers import Output, Values, as_json, check_cells, check_rows, free_names
from probe.errors import reading, writing
from probe.models.classifier import Classifier, Model, Precision, resolve
from probe.models.weights import file_hash
from probe.models.windows import Long
from probe.reports.scored import (
    made_cells,
    made_columns,
    model_labels,
    scored_cells,
    scored_columns,
    summary_json,
    with_legible,
)
from probe.runs.models import hash_if_there
from probe.tasks.task import Label, Task
from probe.text.language import BEYOND_DOUBT, IN_DOUBT
from probe.text.words import listing
from probe.transforms import Options


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
