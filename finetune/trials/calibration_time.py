"""About how long a calibration takes here."""

from finetune.trials.calibration import Cell, Plan, cells
from finetune.trials.calibration_trial import LOSSES
from finetune.trials.datasets import SourceData
from finetune.trials.word_salad import salad_names
from finetune.trials.work import (
    Salad,
    Work,
    answering,
    clean_texts,
    drawn_texts,
    first_texts,
    salad_texts,
    training,
    work_seconds,
)
from probe.models.classifier import Classifier


def estimate_seconds(plan: Plan, source: SourceData, classifier: Classifier | None = None) -> float:
    """Return about how many seconds all cells take. Raises as `work_seconds` does."""
    work = [cell_work(plan, source, cell) for cell in cells(plan)]
    return work_seconds(plan, work, source, classifier)


def cell_work(plan: Plan, source: SourceData, cell: Cell) -> Work:
    """Return what a cell does; trainings of the same draw share its texts."""
    salad = Salad(first_texts(source, "test", plan.tests), salad_names(source.task))
    work = Work(salads=(salad,))
    dev = clean_texts(source, "dev")
    if cell.method in LOSSES:
        work += training(drawn_texts(source, cell.size, cell.seed), dev, plan.training.epochs)
    if cell.method == "temperature":
        work += answering(dev)
    return work + answering(clean_texts(source, "test")) + answering(salad_texts(salad))
