"""The files of a scoring, which grow together."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
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
from probe.data.records import NO_RECORD, Record
from probe.data.rows import Columns
from probe.data.source import Source, form_of
from probe.data.writers import (
    AppendedFile,
    Output,
    Values,
    check_cells,
    check_rows,
    free_names,
    read_spool,
    spooled,
)
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

FILE = "state.json"


@dataclass(frozen=True)
class Checkpoint:
    """Rows that are done, where each file ends behind them, and what they come to together.

    `identity` names what was scored and how.
    """

    identity: Mapping[str, str]
    rows: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    totals: Mapping[str, Any] | None = None  # Any: JSON


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Store how far a scoring is. Raises FileError."""
    fresh = folder / f"{FILE}.new"
    with writing(fresh), fresh.open("w", encoding="utf-8") as file:
        json.dump(asdict(checkpoint), file)
        file.flush()
        os.fsync(file.fileno())
    with writing(folder):
        fresh.replace(folder / FILE)


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """Return how far an interrupted scoring came, None where there is none.

    Raises FileError where that cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    with reading(str(path), "how far a scoring came", "delete its folder"):
        return Checkpoint(**json.loads(path.read_text(encoding="utf-8")))


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of what has changed since."""
    return [name for name in now if before.get(name) != now[name]]


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


class ScoringFiles:
    """The scored file, that of the examples made, and the figures of variants for the summary."""

    def __init__(
        self,
        source: Source,
        columns: ValueColumns,
        model: str,
        places: Places,
        guard: bool = False,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        """`model` stands behind our names that the input has too; `sizes` are as below.

        Without them the files are begun anew. Raises FileError.
        """
        self._places, known = places, sizes or {}
        with writing(places.work):
            if not known:
                shutil.rmtree(places.work, ignore_errors=True)
            places.work.mkdir(parents=True, exist_ok=True)
        names = free_names(source.columns, columns.scored, Path(model).name)
        spool, made = places.work / "scored.spool", places.work / "pairs.spool"
        self._scored = Output(places.scored, names, spool, source, guard, known)
        self._pairs = None
        if places.pairs:
            self._pairs = Output(places.pairs, columns.made, made, None, guard, known)
        self._variants = None
        if columns.task.f1 and BASE in source.names:
            path = places.work / "variants.spool"
            self._variants = AppendedFile(path, known.get(str(path), 0))

    def add(self, records: Iterable[Record], values: RowValues) -> None:
        """Write rows and see that they are on the disk. Raises FileError."""
        self._scored.write(zip(records, values.scored, strict=True))
        if self._pairs:
            self._pairs.write((NO_RECORD, made) for made in values.made)
        if self._variants:
            self._variants.append(b"".join(map(spooled, values.variants)))

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes of each file that are on the disk, by its path."""
        files = (self._scored, self._pairs, self._variants)
        return {str(file.place): file.size for file in files if file}

    @property
    def forms(self) -> dict[str, str]:
        """In what form each file is, in words."""
        forms = {"scored": self._scored.words}
        return forms | ({"pairs": self._pairs.words} if self._pairs else {})

    def variants_json(self) -> dict[str, Any]:  # Any: JSON
        """Return what the variants of questions come to so far."""
        return variants_json(read_spool(self._variants.place)) if self._variants else {}

    def finish(self) -> None:
        """Close the files with what they hold by now. Raises FileError."""
        for output in filter(None, (self._scored, self._pairs)):
            output.finish()
        if self._variants:
            self._variants.close()

    def clean(self) -> None:
        """Remove what is needed only to go on."""
        shutil.rmtree(self._places.work, ignore_errors=True)


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
    """Say in what form the files are, as `ScoringFiles.forms` has it."""
    names = {"scored": "The scored file", "pairs": "The file of the texts that were made"}
    return " ".join(f"{names[name]} is {words}." for name, words in forms.items())


def lost(sizes: Mapping[str, int]) -> list[str]:
    """Return the names of files that do not hold any more what was written."""
    return [
        Path(place).name
        for place, size in sizes.items()
        if not Path(place).is_file() or Path(place).stat().st_size < size
    ]


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
FORMAT = 3
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


class FileScoring:
    """A file that is scored; after every chunk all that is done is on the disk.

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
        self._columns = value_columns(model, request.names)
        self.anew = ""
        begun = self._begun()
        self.start = begun.rows
        self.totals = Totals(model.task, request.names)
        if begun.totals:
            self.totals.merge(begun.totals)
        self._files = ScoringFiles(
            source, self._columns, model.name, places, request.guard, begun.sizes
        )

    def _begun(self) -> Checkpoint:
        """Return where a scoring of the same file in the same way stopped."""
        fresh = Checkpoint(self._identity or {})
        found = read_checkpoint(self._places.work) if self._identity else None
        if found is None:
            return fresh
        if different := changed(found.identity, fresh.identity):
            self.anew = f"{' and '.join(different)} changed since {found.rows:,} rows were scored"
        elif gone := lost(found.sizes):
            self.anew = f"{' and '.join(gone)} of an earlier call is not there any more"
        return fresh if self.anew else found

    def chunks(self) -> Iterator[Chunk[Row]]:
        """Score and write; whoever drives it may stop after any chunk.

        Raises FileError, and UnknownTransform or Unavailable before the first chunk.
        """
        request = self._request
        for chunk in score(
            self._source, request.columns, self._model, request.names, request.seed,
            request.options, request.precision, request.chunk_rows, self.start,
            fp32_sample(len(self._source), request.seed), request.below,
        ):  # fmt: skip
            self._files.add((row.record for row in chunk.rows), self._columns.values(chunk.rows))
            self.totals.add(chunk.rows)
            if self._identity:
                self._store(chunk.done)
            yield chunk

    def _store(self, rows: int) -> None:
        checkpoint = Checkpoint(self._identity or {}, rows, self._files.sizes, self.totals.state)
        write_checkpoint(self._places.work, checkpoint)

    def hand_over(self) -> dict[str, Any]:  # Any: JSON
        """Complete the files with the rows that are done, and return the summary of these."""
        self._files.finish()
        request = self._request
        shape = summary_json(
            self.totals.summary(), self._model, request.precision, request.seed, request.options
        )
        shape |= self._files.variants_json() | {"forms": self._files.forms}
        if self.totals.rows == len(self._source) or not self._identity:
            self._files.clean()
        return shape
