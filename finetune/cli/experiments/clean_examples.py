"""The clean examples that repairs train on and are tested with, as commands read them."""

import typer

from finetune.experiments.inoculation.datasets import SourceData
from finetune.experiments.inoculation.user_data import UserFiles, read_source_data
from finetune.experiments.source_json import labelled
from probe.tasks.task import Task

SIZE = "1000"
"""Examples of a training where nobody asks for another number."""


def read_clean(files: UserFiles, task: Task) -> SourceData:
    """Return labelled dev, test and pool. Raises as `read_source_data` does."""
    return labelled(read_source_data(files, task))


def named(text: str) -> tuple[str, ...]:
    """Read names with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def fitting(sizes: tuple[int, ...], available: int, unit: str, asked: bool) -> tuple[int, ...]:
    """Return the sizes; of those that nobody asked for, no more than there are examples."""
    if asked or all(size <= available for size in sizes):
        return sizes
    typer.echo(f"note: there are {available} {unit}s to train on, so that all are taken")
    return tuple(dict.fromkeys(min(size, available) for size in sizes))
