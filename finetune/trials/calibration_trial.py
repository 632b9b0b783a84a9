"""A cell: calibrate the model in one way, then measure it on clean examples and on word salad."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from finetune.training.encoded import unscaled_logits
from finetune.training.frozen_layers import Prepared, prepare
from finetune.training.invalid_class import fit_temperature
from finetune.training.losses import Loss, focal, smoothed
from finetune.trials.base import Epoch, train_further
from finetune.trials.calibration import Agreement, Cell, Method, Plan, Point
from finetune.trials.datasets import Examples, SourceData, drawn
from finetune.trials.word_salad import agreeing, destroy, salad_names
from probe.models.classifier import Classifier
from probe.models.prediction import Prediction, as_predictions, write_temperature
from probe.statistics import calibration
from probe.stopping import Stop, never
from probe.tasks.task import Label, Task

LOSSES: Mapping[Method, Callable[[Plan], Loss]] = {
    "smoothing": lambda plan: smoothed(plan.epsilon),
    "focal": lambda plan: focal(plan.gamma),
}


def calibrate(
    plan: Plan,
    source: SourceData,
    cell: Cell,
    before: Classifier,
    changed: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | Point]:
    """Calibrate `changed` in place, a copy of `before`; yield each epoch and at last the Point.

    `stop` is asked before every batch. Raises Cancelled when it says so, ExperimentError where
    the model has no fast mode.
    """
    began, epochs = time.monotonic(), 0
    salad = destroy(before, source.test[: plan.tests], salad_names(source.task))
    ready = prepare(changed, plan.training.mode, plan.training.precision)
    if cell.method in LOSSES:
        examples = drawn(source.pool, cell.seed, cell.size)
        loss = LOSSES[cell.method](plan)
        for row in train_further(ready, plan.training, examples, source.dev, loss, cell.seed, stop):
            epochs = row.epoch
            yield row
    if cell.method == "temperature":
        dev = ready.encoded(source.dev, changed.max_tokens, stop)
        logits = unscaled_logits(ready.trained, dev, ready.precision, stop)
        write_temperature(changed.model.config, fit_temperature(logits, dev.admissible))
    test = ready.encoded(source.test, changed.max_tokens, stop)
    clean = _predictions(ready, source.test, stop)
    measured = calibration(
        np.array([each.probabilities for each in clean]),
        test.admissible.cpu().numpy(),
        np.array([each.labels.index(each.label) for each in clean]),
    )
    answers = {example.id: each.label for example, each in zip(source.test, clean, strict=True)}
    agreements = {
        name: _agreement(name, source.task, answers, texts, _predictions(ready, texts, stop))
        for name, texts in salad.items()
        if texts
    }
    seconds = time.monotonic() - began
    yield Point(cell, measured, agreements, changed.temperature, epochs, seconds)


def _predictions(ready: Prepared, examples: Examples, stop: Stop) -> list[Prediction]:
    whole = ready.whole
    data = ready.encoded(examples, whole.max_tokens, stop)
    logits = unscaled_logits(ready.trained, data, ready.precision, stop)
    return as_predictions(logits.double().cpu().numpy(), whole.labels, whole.temperature)


def _agreement(
    name: str,
    task: Task,
    before: Mapping[str, Label],
    texts: Examples,
    predictions: Sequence[Prediction],
) -> Agreement:
    after = [(text.id, each.label) for text, each in zip(texts, predictions, strict=True)]
    confidence = fmean(each.confidence for each in predictions)
    return Agreement(agreeing(name, task, before, after), len(after), confidence)
