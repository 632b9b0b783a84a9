"""Inoculation by fine-tuning (Liu et al. 2019): a little of the challenge, then test again.

A cell is one fine-tuning: a size, a learning rate, a seed. Cells know nothing of each other, so
they run in any order and anywhere. Early stopping and the learning rate follow the original dev
set alone; the challenge test set is only ever scored.
"""

import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from statistics import fmean
from typing import Any

from finetune.experiments.inoculation.datasets import Sets, worst_variants
from finetune.experiments.inoculation.plan import Cell, Plan, nested
from finetune.experiments.inoculation.point import Epoch, Point
from finetune.training.encoded import Encoded, accuracy, correct, predictions
from finetune.training.loop import (
    BestEpoch,
    Schedule,
    Trainer,
    copied_weights,
    train_epochs,
    trainable,
)
from finetune.training.optimisers import make_optimiser
from finetune.training.tensor_cache import Prepared, prepare
from probe.models.classifier import Classifier
from probe.stopping import Cancelled as Cancelled  # who drives cells knows it from here
from probe.stopping import Stop, never


def fresh(classifier: Classifier) -> Classifier:
    """Return the classifier with a copy of its weights, to be trained."""
    return replace(classifier, model=deepcopy(classifier.model))


def run_cell(
    plan: Plan, sets: Sets, cell: Cell, classifier: Classifier, stop: Stop = never
) -> Iterator[Epoch | Point]:
    """Train `classifier` in place, yield each Epoch and at last the Point.

    `stop` is asked before every batch. Raises Cancelled when it says so, ExperimentError where
    the model has no fast mode.
    """
    began, epochs = time.monotonic(), 0
    ready = prepare(classifier, plan.mode, plan.precision)
    dev = ready.encoded(sets.original_dev, classifier.max_tokens, stop)
    best = BestEpoch()
    if cell.size == 0 or plan.include_epoch0:
        best.dev = accuracy(correct(dev, ready.initial_predictions(dev, stop)))
        best.weights = copied_weights(ready.trained)
    if cell.size:
        for epoch in _epochs(plan, sets, cell, ready, dev, best, stop):
            epochs = epoch.epoch
            yield epoch
    ready.trained.model.load_state_dict(best.weights)
    original = _tested(ready, sets.original_test, best.epoch == 0, stop)
    answers = _tested(ready, sets.challenge_test, best.epoch == 0, stop)
    challenge = worst_variants(sets.task, sets.challenge_test, answers)
    control = _tested(ready, sets.control, best.epoch == 0, stop) if sets.control else None
    yield Point(
        cell,
        accuracy(original),
        fmean(challenge),
        best.dev,
        epochs,
        best.epoch,
        time.monotonic() - began,
        ready.precision,
        original,
        challenge,
        accuracy(control) if control else None,
    )


def _epochs(
    plan: Plan,
    sets: Sets,
    cell: Cell,
    ready: Prepared,
    dev: Encoded,
    best: BestEpoch,
    stop: Stop,
) -> Iterator[Epoch]:
    """Train until dev has not strictly improved for `patience` epochs; halve the rate each time."""
    drawn = nested(sets.challenge_train, cell.seed, max(cell.size, *plan.sizes))
    data = ready.encoded(drawn, min(plan.max_tokens, ready.whole.max_tokens), stop)
    recipe = ready.whole.architecture.recipe
    optimiser = make_optimiser(recipe, trainable(ready.trained), cell.lr)
    trainer = Trainer(ready.trained, recipe, optimiser, ready.precision)
    schedule = Schedule(
        range(1, plan.max_epochs + 1),
        plan.batch or recipe.batch,
        cell.seed,
        lambda _, without_gain: cell.lr / 2**without_gain,
        plan.patience,
    )
    for row in train_epochs(trainer, data.first(cell.size), dev, schedule, best, stop):
        yield Epoch(cell, row.epoch, row.loss, row.dev, row.lr, row.pairs_per_second)


def _tested(
    ready: Prepared, pairs: tuple[Any, ...], untrained: bool, stop: Stop
) -> tuple[bool, ...]:
    """Return for each test pair whether the model is right."""
    data = ready.encoded(pairs, ready.whole.max_tokens, stop)
    if untrained:
        return correct(data, ready.initial_predictions(data, stop))
    return correct(data, predictions(ready.trained, data, ready.precision, stop))
