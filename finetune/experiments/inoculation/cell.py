"""Inoculation by fine-tuning (Liu et al. 2019): a little of the challenge, then test again.

A cell is one fine-tuning: a size, a learning rate, a seed. Cells know nothing of each other, so
they run in any order and anywhere. Early stopping and the learning rate follow the original dev
set alone; the challenge test set is only ever scored.
"""

import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace

import torch

from finetune.experiments.inoculation.plan import Cell, Plan, nested
from finetune.experiments.inoculation.sets import Sets
from finetune.training.encoded import Encoded, right, said, share
from finetune.training.loop import epoch_batches, trainable, update
from finetune.training.recipes import habit
from finetune.training.tensor_cache import Prepared, prepare
from probe.models.classifier import Classifier
from probe.runs.stopping import Cancelled as Cancelled  # who drives cells knows it from here
from probe.runs.stopping import Stop, halt, never
from probe.tasks.nli import Pair


@dataclass(frozen=True)
class Epoch:
    """How a cell gets on: mean loss of the epoch, accuracy on original dev, the rate it used."""

    cell: Cell
    epoch: int
    loss: float
    dev: float
    lr: float
    examples_per_second: float


@dataclass(frozen=True)
class Point:
    """What a cell came to: accuracies 0 to 1, and for each test row whether the model was right.

    `best_epoch` is the epoch whose weights were tested, `dev` its accuracy on original dev,
    `control` that on the control set, None where there is none.
    """

    cell: Cell
    original: float
    challenge: float
    dev: float
    epochs: int
    best_epoch: int
    seconds: float
    precision: str
    original_right: tuple[bool, ...]
    challenge_right: tuple[bool, ...]
    control: float | None = None


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
    best = _Best(-1.0, 0, {})
    if cell.size == 0 or plan.include_epoch0:
        best.dev = share(right(dev, ready.at_start(dev, stop)))
        best.weights = _weights(ready.trained)
    if cell.size:
        for epoch in _epochs(plan, sets, cell, ready, dev, best, stop):
            epochs = epoch.epoch
            yield epoch
    ready.trained.model.load_state_dict(best.weights)
    original = _tested(ready, sets.original_test, best.epoch == 0, stop)
    challenge = _tested(ready, sets.challenge_test, best.epoch == 0, stop)
    control = _tested(ready, sets.control, best.epoch == 0, stop) if sets.control else None
    yield Point(
        cell,
        share(original),
        share(challenge),
        best.dev,
        epochs,
        best.epoch,
        time.monotonic() - began,
        ready.precision,
        original,
        challenge,
        share(control) if control else None,
    )


@dataclass
class _Best:
    dev: float
    epoch: int
    weights: dict[str, torch.Tensor]


def _epochs(
    plan: Plan,
    sets: Sets,
    cell: Cell,
    ready: Prepared,
    dev: Encoded,
    best: _Best,
    stop: Stop,
) -> Iterator[Epoch]:
    """Train until dev has not strictly improved for `patience` epochs; halve the rate each time."""
    drawn = nested(sets.challenge_train, cell.seed, max(cell.size, *plan.sizes))
    data = ready.encoded(drawn, min(plan.max_tokens, ready.whole.max_tokens), stop)
    optim = habit(ready.whole).optimiser(trainable(ready.trained), cell.lr)
    lr, waited = cell.lr, 0
    for epoch in range(1, plan.max_epochs + 1):
        for group in optim.param_groups:
            group["lr"] = lr
        began = time.monotonic()
        loss = _train_epoch(plan, cell, epoch, ready, data, optim, stop)
        speed = cell.size / (time.monotonic() - began)
        right_now = share(right(dev, said(ready.trained, dev, ready.precision, stop)))
        row = Epoch(cell, epoch, loss, right_now, lr, speed)
        if row.dev > best.dev:
            best.dev, best.epoch, waited = row.dev, epoch, 0
            best.weights = _weights(ready.trained)
        else:
            lr, waited = lr / 2, waited + 1
        yield row
        if waited >= plan.patience:
            return


def _train_epoch(
    plan: Plan,
    cell: Cell,
    epoch: int,
    ready: Prepared,
    data: Encoded,
    optim: torch.optim.Optimizer,
    stop: Stop,
) -> float:
    """Go once over the first pairs, as many as the cell's size; return the mean loss."""
    manner, total = habit(ready.whole), 0.0
    batches = epoch_batches(data.lengths[: cell.size], plan.batch or manner.batch, cell.seed, epoch)
    for number, rows in enumerate(batches):
        halt(stop)
        step = (cell.seed * 1_000 + epoch) * 1_000_003 + number
        inputs, allowed = data.batch(rows)
        loss = update(ready.trained, optim, inputs, allowed, manner.clip, ready.precision, step)
        total += loss * len(rows)
    return total / cell.size


def _tested(
    ready: Prepared, pairs: tuple[Pair, ...], untrained: bool, stop: Stop
) -> tuple[bool, ...]:
    """Return for each test pair whether the model is right."""
    data = ready.encoded(pairs, ready.whole.max_tokens, stop)
    if untrained:
        return right(data, ready.at_start(data, stop))
    return right(data, said(ready.trained, data, ready.precision, stop))


def _weights(classifier: Classifier) -> dict[str, torch.Tensor]:
    state = classifier.model.state_dict()
    return {name: value.detach().clone() for name, value in state.items()}
