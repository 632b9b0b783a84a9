"""Options that several commands of `python -m finetune` have alike."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import typer

from finetune.training.checkpoints import CHECKPOINT, newest_checkpoint
from finetune.training.recipes import Mode
from finetune.trials.base import MAX_EPOCHS, MAX_SEED, rate_problems, refuse
from probe.cli.file_options import labelled_and_told, settled
from probe.cli.options import choice
from probe.cli.output import make_folder
from probe.data.file_options import FileOptions
from probe.data.reading import left_out
from probe.data.rows import NO_COLUMN, read_rows
from probe.data.source import read_table
from probe.errors import TrainingError
from probe.tasks.task import IN_COMMON, Task, in_common_classes

ModeName = Annotated[
    Mode, choice("mode", get_args(Mode), "full: all weights, as published; fast: the upper ones.")
]


Row = TypeVar("Row")
MIN_TOKENS = 8
"""Fewest tokens of a cut pair: the special ones of any tokenizer, and some of each text."""


def _checked_rate(rate: float | None) -> float | None:
    refuse(rate_problems([] if rate is None else [rate], "the"))
    return rate


def _checked_minutes(minutes: float) -> float:
    refuse({"--minutes must be above 0": not minutes > 0})  # NaN is not above it either
    return minutes


TrainingRate = Annotated[float, typer.Option(callback=_checked_rate)]
TrainingEpochs = Annotated[int, typer.Option(min=1, max=MAX_EPOCHS)]
TrainingBatch = Annotated[int, typer.Option(min=1)]
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED)]
TorchThreads = Annotated[int, typer.Option(min=1, help="Torch threads.")]
MaxTokens = Annotated[int, typer.Option(min=MIN_TOKENS, help="Where pairs are cut.")]
Minutes = Annotated[
    float, typer.Option(callback=_checked_minutes, help="No epoch ends later than this.")
]
Correction = Annotated[int, typer.Option(min=0, help="Rank of what is learnt on top of them.")]
Vectors = Annotated[str, typer.Option(help="Name of the vectors in assets/vectors.")]
Fall = Annotated[bool, typer.Option(help="Let the rate fall to zero, step by step.")]
PresetRate = Annotated[
    float | None, typer.Option(callback=_checked_rate, help="Instead of the preset's.")
]
PresetBatch = Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")]
PresetEpochs = Annotated[
    int | None, typer.Option(min=1, max=MAX_EPOCHS, help="Instead of the preset's.")
]


def dev_sets(
    files: Sequence[Path],
    read: Callable[[Path], Iterable[Any]],
    task: Task,
    size: int | None = None,
) -> dict[str, Sequence[Any]]:  # Any: the task's own dataclass
    """Return the first `size` examples of dev sets by their names, all where it is None.

    Gold labels are in the classes that all of a set have, which its name says where some merge
    others. Raises TrainingError for a set without any.
    """
    sets: dict[str, Sequence[Any]] = {}
    for file in files:
        name, examples = file.name.split(".")[0], list(islice(read(file), size))
        if not examples:
            raise TrainingError(f"the dev set {name} holds no example that can be measured on")
        merged = task.merges(each.gold for each in examples)
        (read_alike,) = in_common_classes(task, examples)
        sets[f"{name} {IN_COMMON}" if merged else name] = read_alike
    return sets


def examples_of(
    file: Path, task: Task, reading: FileOptions, needs_gold: bool = True
) -> Sequence[Any]:  # Any: the task's own dataclass
    """Return the examples of a file of any form, and say how it is read.

    Raises FileQuestion with the options that answer it, FileError.
    """
    reading = replace(reading, one_file=False)  # there are files to measure on too
    if not needs_gold:
        unlabelled = replace(reading, gold=NO_COLUMN, values={})
        table = read_table(file, options=unlabelled)
        rows = list(read_rows(table, settled(table, file, task, unlabelled), task))
        if words := left_out(rows, needs_gold=False):
            typer.echo(f"note: {file.name}: {words}", err=True)
        return [row.example for row in rows if row.example]
    return labelled_and_told(file, task, reading).examples


def make_model_folder(out: Path, resumes: bool) -> None:
    """Make the folder of a new model; with `resumes` a checkpoint in it is gone on from.

    Raises FileError, and TrainingError where another model lies there.
    """
    if resumes and newest_checkpoint(out):
        return
    if any((out / name).exists() for name in ("config.json", CHECKPOINT)):
        raise TrainingError(f"{out} holds a model already; name another folder with --out")
    make_folder(out)


def unless_finished(rows: Iterable[Row], out: Path) -> Iterator[Row]:
    """Yield the rows of a training; say so where there is none left."""
    row = None
    for row in rows:
        yield row
    if row is None:
        typer.echo(
            f"{out} was trained to its end before, with the same data and options: nothing is left "
            "to train; name another folder with --out to train anew"
        )
