"""About how long a transfer takes here."""

from finetune.trials.datasets import SourceData
from finetune.trials.transfer import Cell, Plan, cells
from finetune.trials.work import (
    Salad,
    Texts,
    Work,
    answering,
    clean_texts,
    drawn_texts,
    first_texts,
    joined,
    of_model,
    part_of,
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
    """Return what a cell does; those that learn the class share what their model prepared."""
    drawn = drawn_texts(source, cell.size, cell.seed)
    dev, test = clean_texts(source, "dev"), clean_texts(source, "test")
    if cell.lesson != "one":
        destroyed = (Salad(drawn, (cell.transform,)),) if cell.transform else ()
        learnt = Texts(f"{drawn.name} {cell.transform}", drawn.length)
        return (
            Work(salads=destroyed) + training(learnt, dev, plan.training.epochs) + answering(test)
        )
    broken = Salad(part_of(drawn, plan.share), (cell.transform,))
    salad = Salad(first_texts(source, "test", plan.tests), plan.transforms)
    work = Work(salads=(broken, salad))
    work += training(joined(drawn, salad_texts(broken)), dev, plan.training.epochs)
    return of_model("invalid", work + answering(test) + answering(salad_texts(salad)))
