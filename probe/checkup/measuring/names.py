"""What the figures of a check-up are called, as far as it is known before anything is measured."""

from collections.abc import Iterator

from probe.baselines.registry import baselines_for
from probe.checkup.measuring.unchanged import HYPOTHESIS_ONLY, merged_name
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT
from probe.tasks.task import Task
from probe.templates import subcases
from probe.templates.request import HEURISTICS
from probe.transforms.availability import ready

IN_SLICES = ": "
"""Is in the names of slices, which depend on the examples, and in no other."""


def figure_names(task: Task) -> Iterator[str]:
    """Yield the names that figures of a task may have, but those of slices."""
    yield from (task.measure.lower(), "confidence")
    if task.merges(task.golds):
        yield merged_name(task)
    if not task.has_spans:
        yield from ("ece", "ece_by_chance", "majority")
        yield from (f"label.{gold}" for gold in task.golds or task.labels)
    if HYPOTHESIS_ONLY in baselines_for(task):
        yield HYPOTHESIS_ONLY
    for name in ready(task):
        yield from (name, f"{name}.before", f"confidence.{name}", f"confidence.{name}.before")
    if task.example is NLI.example:
        golds = (ENTAILMENT, NON_ENTAILMENT)
        yield from (f"hans.{heuristic}.{gold}" for heuristic in HEURISTICS for gold in golds)
        yield from (f"hans.{subcase}" for subcase in subcases())
