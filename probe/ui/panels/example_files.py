"""The files that come with the app to try a tab with, by the task that they are for."""

from functools import cache
from pathlib import Path

from probe.data.reading import reading_of
from probe.data.source import read_table
from probe.settings import ASSETS
from probe.tasks.task import Task, offered_tasks

FOLDER = ASSETS / "examples"


@cache
def example_files(task: Task) -> tuple[Path, ...]:
    """Return the files of a task: those that no task before it in the list fits."""
    return tuple(path for path in sorted(FOLDER.glob("*")) if _task_of(path) is task)


def _task_of(path: Path) -> Task | None:
    table = read_table(path)
    fitting = (task for task in offered_tasks() if not reading_of(table, path, task).questions)
    return next(fitting, None)
