"""Measure a model for its check-up, part by part."""

from collections.abc import Iterator

from probe.analysis.hans import Profiled, in_heuristics, profile
from probe.checkup.figure import Figure, figure_of
from probe.checkup.measuring.changes import changed
from probe.checkup.measuring.part import Part
from probe.checkup.measuring.subject import Subject
from probe.checkup.measuring.unchanged import unchanged
from probe.metrics import NOTHING
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.transforms import REGISTRY
from probe.transforms.availability import ready

HANS_TITLES = {"entailment": "entailed", "non-entailment": "not entailed"}


def parts_of(task: Task) -> list[str]:
    """Return the names of the parts: plain, each transform that the task has here, HANS."""
    hans = ["hans"] if task.example is NLI.example else []
    return ["plain", *ready(task), *hans]


def measure_part(subject: Subject, part: str) -> Part:
    """Return what a part comes to, by its name as of `parts_of`."""
    if part == "plain":
        return unchanged(subject)
    if part == "hans":
        return Part(list(_hans(subject)))
    return changed(REGISTRY[part], subject)


def _hans(subject: Subject) -> Iterator[Figure]:
    """Yield the accuracy by heuristic and gold label, and then that of each sub-case."""
    asked = subject.asked
    rows = list(profile(subject.model, asked.per_subcase, asked.seed, asked.precision))
    for row in in_heuristics(rows):
        found = row.estimate if row.n else NOTHING
        yield figure_of(f"hans.{row.heuristic}.{row.gold}", _title(row), "hans", found)
    for row in rows:
        title = f"{_title(row)}: {row.subcase.split('_', 1)[1].replace('_', ' ')}"
        yield figure_of(f"hans.{row.subcase}", title, "subcases", row.estimate)


def _title(row: Profiled) -> str:
    return f"{row.heuristic.replace('_', ' ').capitalize()}, {HANS_TITLES[row.gold]}"
