"""The words of transfer for the glossary."""

from finetune.experiments.transfer.plan import LESSONS
from probe.tasks.task import Task
from probe.terms import Titled


def transfer_terms(task: Task) -> dict[str, Titled]:
    """Return the terms by id; they are the same for every task."""
    return {"transfer": LESSONS["one"], "salad-only": LESSONS["salad_only"]}
