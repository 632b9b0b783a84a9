"""Training and test examples from files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from probe.data.rows import labelled, stream_labelled
from probe.limits import UNBOUNDED, Bounds
from probe.tasks.nli import NLI
from probe.tasks.task import Task


def read_jsonl(path: Path, task: Task = NLI) -> Iterator[Any]:  # Any: the task's own dataclass
    """Yield the labelled examples of a JSON-lines file, gzipped or not, line by line.

    Disputed rows are left out. Raises FileError where the first row has no such columns.
    """
    return stream_labelled(path, task)


def read_pairs(path: Path, task: Task = NLI, bounds: Bounds = UNBOUNDED) -> tuple[Any, ...]:
    """Read the labelled examples of a table; broken, disputed and half-empty rows are left out.

    Raises FileError, LimitError or LabelError with a sentence.
    """
    return tuple(labelled(path, task, bounds)[0])
