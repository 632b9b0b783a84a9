"""Training and test examples from files, and texts that are changed before they are learnt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.errors import FileError, TrainingError
from probe.limits import UNBOUNDED, Bounds
from probe.tasks.nli import NLI
from probe.tasks.task import Example, Task

if TYPE_CHECKING:
    from probe.transforms import Options


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


CHANGED_TOGETHER = 2048
"""Examples that are changed at a time: each keeps its lineage until their texts are taken."""


def read_change(text: str, task: Task) -> tuple[str, "Options"]:
    """Read NAME or NAME:OPTION=VALUE,…, a transform or chain that needs no model, and its options.

    Raises TrainingError, UnknownTransform, Unavailable or OptionError.
    """
    from probe.transforms import chain  # with what the families read
    from probe.transforms.registry import read_task_options, ready, require_ready

    name, _, given = text.partition(":")
    links = chain(name)
    if asking := next((link.name for link in links if "model" in link.needs), ""):
        able = ", ".join(each for each in ready(task) if "model" not in chain(each)[0].needs)
        raise TrainingError(
            f"{asking} asks a model which tokens matter, and before a training there is none; "
            f"choose of: {able}"
        )
    require_ready(name, task)
    parts = [part.partition("=") for part in given.split(",") if part]
    values = {option.strip(): value for option, _, value in parts}
    options, read = read_task_options(task, values), {each for it in links for each in it.options}
    if others := sorted(values.keys() - read):
        known = ", ".join(sorted(read)) or "none"
        raise TrainingError(f"{name} does not read the option {others[0]}; it reads: {known}")
    return name, options


def changed_texts(
    examples: Sequence[Any], task: Task, change: str, seed: int
) -> tuple[tuple[Any, ...], str]:  # Any: the task's own dataclass
    """Return what a transform makes of examples, with the labels they had, and how many it is.

    Those that it leaves as they are, or does not apply to, are left out, so that no whole text is
    learnt (Gupta et al. 2021, table 11). Raises as `read_change`.
    """
    from probe.transforms import apply

    (name, options), made, other = read_change(change, task), list[Example](), 0
    for start in range(0, len(examples), CHANGED_TOGETHER):
        part = examples[start : start + CHANGED_TOGETHER]
        for result, *_ in apply(name, part, task, seed, options, lambda unread: []):
            if result.changed:
                made.append(replace(result.example, gold=result.original.gold))
                other += result.gold not in (None, result.original.gold)
    words = f"{len(made):,} of {len(examples):,} {task.unit}s are changed by {change}"
    if other:
        words += f", {other:,} with the label that they had where the rule of {name} says another"
    return tuple(made), f"{words}; the others are left out"
