"""A cell: repair the model in one way, then count what it finds invalid and what that costs."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from finetune.training.encoded import unscaled_logits
from finetune.training.frozen_layers import Prepared, prepare
from finetune.training.invalid_class import fit_temperature, with_invalid_class
from finetune.training.losses import Loss, balanced_last, cross_entropy, entropic
from finetune.trials.base import Epoch, train_further
from finetune.trials.datasets import Examples, SourceData, drawn
from finetune.trials.inoculation_trial import fresh
from finetune.trials.mitigation import Cell, Found, Plan, Point, best_threshold, transforms_of
from finetune.trials.word_salad import Salad, destroy, gradient_names
from probe.models.classifier import Classifier
from probe.models.prediction import (
    Prediction,
    as_predictions,
    write_invalid_below,
    write_temperature,
)
from probe.stopping import Stop, never
from probe.tasks.task import INVALID, Task


def predict(ready: Prepared, examples: Examples, stop: Stop) -> list[Prediction]:
    """Return the answers, with the model's temperature and threshold. Raises Cancelled."""
    whole = ready.whole
    data = ready.encoded(examples, whole.max_tokens, stop)
    logits = unscaled_logits(ready.trained, data, ready.precision, stop)
    values = logits.double().cpu().numpy()
    return as_predictions(values, whole.labels, whole.temperature, whole.invalid_below)


def count_right(task: Task, examples: Examples, answers: Sequence[Prediction]) -> Found:
    """Count the answers that match the gold labels; invalid ones do not."""
    right = [
        task.matches(answer.label, example.gold)
        for answer, example in zip(answers, examples, strict=True)
    ]
    return Found(sum(right), len(right))


def count_invalid(answers: Sequence[Prediction]) -> Found:
    """Count the answers that call a text invalid."""
    return Found(sum(answer.label == INVALID for answer in answers), len(answers))


WITH_THRESHOLD = ("threshold", "entropic")


def changed_copy(cell: Cell, classifier: Classifier) -> Classifier:
    """Return the copy of a classifier that a cell changes."""
    return with_invalid_class(classifier) if cell.method == "invalid" else fresh(classifier)


def repair(
    plan: Plan,
    source: SourceData,
    cell: Cell,
    before: Classifier,
    changed: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | Point]:
    """Repair `changed` in place, a copy of `before`; yield each epoch and at last the Point.

    `stop` is asked before every batch. Raises Cancelled when it says so, ExperimentError where
    the model has no fast mode.
    """
    began, epochs = time.monotonic(), 0
    names = transforms_of(plan, source.task)
    ready = prepare(changed, plan.training.mode, plan.training.precision)
    if cell.size:
        clean = drawn(source.pool, cell.seed, cell.size)
        examples = (*clean, *broken(plan, cell, clean, before))
        loss = entropic(plan.weight) if cell.method == "entropic" else _class_loss(plan)
        for row in train_further(ready, plan.training, examples, source.dev, loss, cell.seed, stop):
            epochs = row.epoch
            yield row
    if cell.method in WITH_THRESHOLD:
        salad = destroy(before, source.dev[: plan.tests], names)
        _set_threshold(plan, source, ready, salad, stop)
    salad = destroy(before, source.test[: plan.tests], names)
    answers = predict(ready, source.test, stop)
    yield Point(
        cell,
        count_right(source.task, source.test, answers),
        count_invalid(answers),
        {
            name: count_invalid(predict(ready, texts, stop))
            for name, texts in salad.items()
            if texts
        },
        _commonest([answer.answer for answer in answers]),
        _commonest([str(example.gold) for example in source.test]),
        changed.invalid_below,
        changed.temperature,
        epochs,
        time.monotonic() - began,
    )


def _class_loss(plan: Plan) -> Loss:
    return balanced_last if plan.balance else cross_entropy


def broken(plan: Plan, cell: Cell, clean: Examples, before: Classifier) -> Examples:
    """Return the word salad of a training: gold `INVALID` for that class, else no gold.

    The first of the examples are destroyed, so many as the shares say.
    """
    task = before.task
    names = transforms_of(plan, task)
    asking = tuple(name for name in gradient_names(task) if name in names)
    others = tuple(name for name in names if name not in asking)
    parts = [
        destroy(before, clean[: round(share * len(clean))], chosen)
        for share, chosen in ((plan.share, others), (plan.gradient_share, asking))
    ]
    gold = INVALID if cell.method == "invalid" else None
    return tuple(
        replace(text, gold=gold) for salad in parts for texts in salad.values() for text in texts
    )


def _set_threshold(
    plan: Plan, source: SourceData, ready: Prepared, salad: Salad, stop: Stop
) -> None:
    """Fit temperature and threshold on dev, and keep them in the model's config."""
    whole = ready.whole
    dev = ready.encoded(source.dev, whole.max_tokens, stop)
    logits = unscaled_logits(ready.trained, dev, ready.precision, stop)
    write_temperature(whole.model.config, fit_temperature(logits, dev.admissible))
    write_invalid_below(whole.model.config, 0.0)
    answers = predict(ready, source.dev, stop)
    right = [
        source.task.matches(answer.label, example.gold)
        for answer, example in zip(answers, source.dev, strict=True)
    ]
    doubted = [
        answer.confidence
        for texts in salad.values()
        if texts
        for answer in predict(ready, texts, stop)
    ]
    best = best_threshold(
        np.array([answer.confidence for answer in answers]),
        np.array(right),
        np.array(doubted),
        len(whole.labels),
        plan.tolerance,
    )
    write_invalid_below(whole.model.config, best.value)


def _commonest(labels: list[str]) -> float:
    ((_, count),) = Counter(labels).most_common(1)
    return count / len(labels)
