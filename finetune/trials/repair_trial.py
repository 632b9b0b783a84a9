"""A trial of a repair: change the model in one way, then measure it on clean and broken texts.

All take the model as it was `before`, and yield each epoch and at last the Point. `stop` is asked
before every batch: they raise Cancelled when it says so, and ExperimentError where the model has no
fast mode.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

import numpy as np
import torch

from finetune.training.frozen_layers import Prepared, prepare, score, unscaled_logits, upper_part
from finetune.training.invalid_class import fit_temperature, with_invalid_class
from finetune.training.loop import (
    BestEpoch,
    Schedule,
    Trainer,
    make_optimiser,
    train_epochs,
    trainable,
)
from finetune.training.losses import Loss, balanced_last, cross_entropy, entropic, focal, smoothed
from finetune.trials import calibration, mitigation, transfer
from finetune.trials.base import Epoch, Training
from finetune.trials.calibration import Agreement
from finetune.trials.datasets import Examples, SourceData, drawn
from finetune.trials.inoculation_trial import fresh
from finetune.trials.mitigation import Found, best_threshold, transforms_of
from finetune.trials.word_salad import Salad, agreeing, destroy, gradient_names, salad_names
from probe.models.classifier import Classifier
from probe.models.prediction import (
    Prediction,
    as_predictions,
    write_invalid_below,
    write_temperature,
)
from probe.statistics import calibration as calibration_of
from probe.stopping import Stop, never
from probe.tasks.task import INVALID, Task

LOSSES: Mapping[calibration.Method, Callable[[calibration.Plan], Loss]] = {
    "smoothing": lambda plan: smoothed(plan.epsilon),
    "focal": lambda plan: focal(plan.gamma),
}
WITH_THRESHOLD = ("threshold", "entropic")


def train_further(
    ready: Prepared,
    training: Training,
    examples: Examples,
    dev: Examples,
    loss: Loss,
    seed: int,
    stop: Stop = never,
) -> Generator[Epoch, None, int]:
    """Train in place, yield each epoch and return how many there were. Raises Cancelled."""
    data = ready.encoded(examples, min(training.max_tokens, ready.whole.max_tokens), stop)
    clean = ready.encoded(dev, ready.whole.max_tokens, stop)
    recipe = ready.whole.architecture.recipe
    optimiser = make_optimiser(recipe, trainable(ready.trained), training.lr)
    trainer = Trainer(ready.trained, recipe, optimiser, ready.precision, loss)
    schedule = Schedule(
        range(1, training.epochs + 1),
        training.batch or recipe.batch,
        seed,
        lambda _, __: training.lr,
        patience=training.epochs,
    )
    measure = partial(score, ready.trained, clean, ready.precision, stop)
    epochs = 0
    for row in train_epochs(trainer, data, measure, schedule, BestEpoch(), stop):
        epochs = row.epoch
        yield Epoch(row.epoch, row.loss, row.dev, row.pairs_per_second)
    return epochs


def predict(ready: Prepared, examples: Examples, stop: Stop) -> list[Prediction]:
    """Return the answers, with the model's temperature and threshold. Raises Cancelled."""
    whole = ready.whole
    data = ready.encoded(examples, whole.max_tokens, stop)
    logits = unscaled_logits(ready.trained, data, ready.precision, stop)
    values = logits.double().cpu().numpy()
    return as_predictions(values, whole.labels, whole.temperature, whole.invalid_below)


def _set_temperature(ready: Prepared, dev: Examples, stop: Stop) -> None:
    """Fit the temperature on dev, and keep it in the model's config."""
    data = ready.encoded(dev, ready.whole.max_tokens, stop)
    logits = unscaled_logits(ready.trained, data, ready.precision, stop)
    write_temperature(ready.whole.model.config, fit_temperature(logits, data.targets))


def calibrate(
    plan: calibration.Plan,
    source: SourceData,
    cell: calibration.Cell,
    before: Classifier,
    changed: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | calibration.Point]:
    """Calibrate `changed` in place, a copy of `before`."""
    began, epochs = time.monotonic(), 0
    salad = destroy(before, source.test[: plan.tests], salad_names(source.task))
    ready = prepare(changed, plan.training.mode, plan.training.precision)
    if cell.method in LOSSES:
        examples = drawn(source.pool, cell.seed, cell.size)
        loss = LOSSES[cell.method](plan)
        epochs = yield from train_further(
            ready, plan.training, examples, source.dev, loss, cell.seed, stop
        )
    if cell.method == "temperature":
        _set_temperature(ready, source.dev, stop)
    test = ready.encoded(source.test, changed.max_tokens, stop)
    clean = predict(ready, source.test, stop)
    measured = calibration_of(
        np.array([each.probabilities for each in clean]),
        test.targets.cpu().numpy(),
        np.array([each.labels.index(each.answer) for each in clean]),
    )
    answers = {example.id: each.answer for example, each in zip(source.test, clean, strict=True)}

    def agreement(name: str, texts: Examples) -> Agreement:
        found = predict(ready, texts, stop)
        after = [(text.id, each.answer) for text, each in zip(texts, found, strict=True)]
        confidence = fmean(each.confidence for each in found)
        return Agreement(agreeing(name, source.task, answers, after), len(after), confidence)

    yield calibration.Point(
        cell,
        measured,
        {name: agreement(name, texts) for name, texts in salad.items() if texts},
        changed.temperature,
        epochs,
        time.monotonic() - began,
    )


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


def _found(ready: Prepared, salad: Salad, stop: Stop) -> dict[str, Found]:
    """Count by transform the destroyed texts that are called invalid."""
    return {
        name: count_invalid(predict(ready, texts, stop)) for name, texts in salad.items() if texts
    }


def changed_copy(cell: mitigation.Cell, classifier: Classifier) -> Classifier:
    """Return the copy of a classifier that a cell changes."""
    return with_invalid_class(classifier) if cell.method == "invalid" else fresh(classifier)


def mitigate(
    plan: mitigation.Plan,
    source: SourceData,
    cell: mitigation.Cell,
    before: Classifier,
    changed: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | mitigation.Point]:
    """Repair `changed` in place, a copy of `before`."""
    began, epochs = time.monotonic(), 0
    names = transforms_of(plan, source.task)
    ready = prepare(changed, plan.training.mode, plan.training.precision)
    if cell.size:
        clean = drawn(source.pool, cell.seed, cell.size)
        examples = (*clean, *broken(plan, cell, clean, before))
        loss: Loss = balanced_last if plan.balance else cross_entropy
        if cell.method == "entropic":
            loss = entropic(plan.weight)
        epochs = yield from train_further(
            ready, plan.training, examples, source.dev, loss, cell.seed, stop
        )
    if cell.method in WITH_THRESHOLD:
        salad = destroy(before, source.dev[: plan.tests], names)
        _set_threshold(plan, source, ready, salad, stop)
    salad = destroy(before, source.test[: plan.tests], names)
    answers = predict(ready, source.test, stop)
    yield mitigation.Point(
        cell,
        count_right(source.task, source.test, answers),
        count_invalid(answers),
        _found(ready, salad, stop),
        _commonest([answer.answer for answer in answers]),
        _commonest([str(example.gold) for example in source.test]),
        changed.invalid_below,
        changed.temperature,
        epochs,
        time.monotonic() - began,
    )


def broken(
    plan: mitigation.Plan, cell: mitigation.Cell, clean: Examples, before: Classifier
) -> Examples:
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
    plan: mitigation.Plan, source: SourceData, ready: Prepared, salad: Salad, stop: Stop
) -> None:
    """Fit temperature and threshold on dev, and keep them in the model's config."""
    _set_temperature(ready, source.dev, stop)
    whole = ready.whole
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


def teach(
    plan: transfer.Plan,
    source: SourceData,
    cell: transfer.Cell,
    before: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | transfer.Point]:
    """Train a copy of the classifier on one kind of broken text, or on one kind of text only."""
    began, task = time.monotonic(), source.task
    clean = drawn(source.pool, cell.seed, cell.size)
    if cell.lesson == "one":
        changed = with_invalid_class(before)
        texts = destroy(before, clean[: round(plan.share * len(clean))], (cell.transform,))
        invalid = (replace(text, gold=INVALID) for text in texts[cell.transform])
        examples = (*clean, *invalid)
    else:
        changed = fresh(before)
        begin_anew(changed, cell.seed)
        examples = salad_with_gold(cell, clean, before) if cell.transform else clean
    ready = prepare(changed, plan.training.mode, plan.training.precision)
    epochs = yield from train_further(
        ready, plan.training, examples, source.dev, cross_entropy, cell.seed, stop
    )
    right = count_right(task, source.test, predict(ready, source.test, stop))
    tested = plan.transforms if cell.lesson == "one" else ()
    salad = destroy(before, source.test[: plan.tests], tested)
    found = _found(ready, salad, stop)
    yield transfer.Point(cell, right, found, epochs, time.monotonic() - began)


def salad_with_gold(cell: transfer.Cell, clean: Examples, before: Classifier) -> Examples:
    """Return the examples destroyed, with the labels that they had."""
    golds = {example.id: example.gold for example in clean}
    texts = destroy(before, clean, (cell.transform,))[cell.transform]
    return tuple(replace(text, gold=golds[text.id]) for text in texts)


def begin_anew(classifier: Classifier, seed: int) -> None:
    """Initialise the upper layers at random, in place: those that fast mode trains.

    The paper trains from an encoder that has seen no task; the lower layers here are those of the
    model, which has. Raises ExperimentError where the model cannot be taken apart.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        for module in upper_part(classifier).model.modules():
            reset = getattr(module, "reset_parameters", None)
            if callable(reset) and all(weight.requires_grad for weight in module.parameters()):
                reset()
