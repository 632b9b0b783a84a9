"""Training and test examples from files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.errors import FileError
from probe.limits import UNBOUNDED, Bounds
from probe.tasks.nli import NLI
from probe.tasks.task import Task


@dataclass(frozen=True)
class Asked:
    """How files of examples are read, and who is told what they would not expect of that."""

    options: FileOptions = AS_THE_FILE_TELLS
    bounds: Bounds = UNBOUNDED
    tell: Callable[[str], None] = lambda words: None  # of a file of the app's own


def read_pairs(
    path: Path, task: Task = NLI, asked: Asked = Asked()
) -> tuple[Any, ...]:  # Any: the task's own dataclass
    """Read the labelled examples of a table; broken, disputed and half-empty rows are left out.

    Raises FileQuestion where the labels are not clear, FileError, LimitError or LabelError.
    """
    return tuple(example for _, example in numbered_pairs(path, task, asked))


def numbered_pairs(path: Path, task: Task = NLI, asked: Asked = Asked()) -> list[tuple[int, Any]]:
    """Read the labelled examples of a table as `read_pairs` does, each with its row, from 0."""
    from probe.data.questions import question_rows, without_originals  # with pandas
    from probe.data.reading import labelled

    if not task.has_spans:
        read = labelled(path, task, asked.options, asked.bounds)
        if read.words:
            asked.tell(f"note: {path.name}: {read.words}")
        return [(int(example.id), example) for example in read.examples]
    rows = list(question_rows(path, asked.bounds, asked.options))
    questions = without_originals(rows)
    if not questions:
        raise FileError(f"{path.name} holds no question with an answer that stands in its passage")
    if others := len(rows) - len(questions):
        asked.tell(
            f"note: {path.name}: {others:,} of {len(rows):,} questions are left out: without an "
            "answer that stands in their passage, or with a variant that stands for them"
        )
    return questions
