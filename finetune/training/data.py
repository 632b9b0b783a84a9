"""Training and test examples from files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from probe.data.questions import question_rows, without_originals
from probe.data.rows import labelled, stream_examples, stream_labelled
from probe.errors import FileError
from probe.limits import UNBOUNDED, Bounds
from probe.tasks.nli import NLI
from probe.tasks.task import Task


def read_jsonl(path: Path, task: Task = NLI) -> Iterator[Any]:  # Any: the task's own dataclass
    """Yield the labelled examples of a JSON-lines file, gzipped or not, line by line.

    Disputed rows are left out. Raises FileError where the first row has no such columns.
    """
    return stream_labelled(path, task)


def read_without_labels(path: Path, task: Task = NLI) -> Iterator[Any]:
    """Yield the examples of a JSON-lines file, gzipped or not, none with its label.

    Raises FileError where the first row has no such columns.
    """
    return stream_examples(path, task, read_gold=False)


def read_pairs(path: Path, task: Task = NLI, bounds: Bounds = UNBOUNDED) -> tuple[Any, ...]:
    """Read the labelled examples of a table; broken, disputed and half-empty rows are left out.

    Raises FileError, LimitError or LabelError with a sentence.
    """
    return tuple(example for _, example in numbered_pairs(path, task, bounds))


def numbered_pairs(
    path: Path, task: Task = NLI, bounds: Bounds = UNBOUNDED
) -> list[tuple[int, Any]]:
    """Read the labelled examples of a table as `read_pairs` does, each with its row, from 0."""
    if not task.has_spans:
        return [(int(example.id), example) for example in labelled(path, task, bounds)[0]]
    questions = without_originals(question_rows(path, bounds))
    if not questions:
        raise FileError(f"{path.name} holds no question with an answer that stands in its passage")
    return questions
