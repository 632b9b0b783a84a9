"""About how long a mitigation takes here."""

from finetune.trials.datasets import SourceData
from finetune.trials.mitigation import Cell, Plan, cells, transforms_of
from finetune.trials.mitigation_trial import WITH_THRESHOLD
from finetune.trials.word_salad import gradient_names
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
    """Return what a cell does; the model with one more class prepares its texts anew."""
    names = transforms_of(plan, source.task)
    dev, test = clean_texts(source, "dev"), clean_texts(source, "test")
    work = Work()
    if cell.size:
        drawn = drawn_texts(source, cell.size, cell.seed)
        broken = _broken(plan, source, drawn)
        learnt = joined(drawn, *(salad_texts(salad) for salad in broken))
        work += Work(salads=broken) + training(learnt, dev, plan.training.epochs)
    if cell.method in WITH_THRESHOLD:
        doubted = Salad(first_texts(source, "dev", plan.tests), names)
        work += Work(salads=(doubted,)) + answering(dev, 2) + answering(salad_texts(doubted))
    salad = Salad(first_texts(source, "test", plan.tests), names)
    work += Work(salads=(salad,)) + answering(test) + answering(salad_texts(salad))
    return of_model("invalid", work) if cell.method == "invalid" else work


def _broken(plan: Plan, source: SourceData, drawn: Texts) -> tuple[Salad, Salad]:
    names = transforms_of(plan, source.task)
    asking = tuple(name for name in gradient_names(source.task) if name in names)
    others = tuple(name for name in names if name not in asking)
    return (
        Salad(part_of(drawn, plan.share), others),
        Salad(part_of(drawn, plan.gradient_share), asking),
    )
