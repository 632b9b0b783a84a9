"""How a file is to be scored, and by what an interrupted scoring is known again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from probe.analysis.batch import CHUNK_ROWS
from probe.analysis.legibility import is_foreign
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.arrow import arrow_files
from probe.data.rows import Columns
from probe.data.source import Source
from probe.models.classifier import Model, Precision, resolve
from probe.models.weights.hashes import file_hash
from probe.models.windows import Long
from probe.runs.models import hash_if_there
from probe.scoring.files import Places
from probe.tasks.task import Task
from probe.text.language import BEYOND_DOUBT, IN_DOUBT
from probe.transforms import Options

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
