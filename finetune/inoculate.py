"""Inoculation by fine-tuning (Liu et al. 2019): a little of the challenge, then test again.

A cell is one fine-tuning: a size, a learning rate, a seed. Cells know nothing of each other, so
they run in any order and anywhere. Early stopping and the learning rate follow the original dev
set alone; the challenge test set is only ever scored.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import torch

from finetune.plan import Cell, Plan, nested
from finetune.sets import Sets
from finetune.train import Recipe, epoch_batches, optimiser, targets, update
from probe.labels import matches
from probe.models.classifier import Classifier, Precision, by_length, resolve
from probe.pairs import Pair

Stop = Callable[[], bool]


class Cancelled(Exception):
    """Somebody asked the cell to stop."""


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


def never() -> bool:
    """Do not stop."""
    return False


def run_cell(
    plan: Plan, sets: Sets, cell: Cell, classifier: Classifier, stop: Stop = never
) -> Iterator[Epoch | Point]:
    """Train `classifier` in place, yield each Epoch and at last the Point.

    `stop` is asked before every batch. Raises Cancelled when it says so.
    """
    began, epochs, best = time.monotonic(), 0, _Best(-1.0, 0, {})
    if cell.size == 0 or plan.include_epoch0:
        best.dev = share_right(classifier, sets.original_dev, plan.precision, stop)
        best.weights = _weights(classifier)
    if cell.size:
        for epoch in _epochs(plan, sets, cell, classifier, best, stop):
            epochs = epoch.epoch
            yield epoch
    classifier.model.load_state_dict(best.weights)
    original = right(classifier, sets.original_test, plan.precision, stop)
    challenge = right(classifier, sets.challenge_test, plan.precision, stop)
    yield Point(
        cell,
        sum(original) / len(original),
        sum(challenge) / len(challenge),
        best.dev,
        epochs,
        best.epoch,
        time.monotonic() - began,
        resolve(plan.precision),
        original,
        challenge,
    )


@dataclass
class _Best:
    dev: float
    epoch: int
    weights: dict[str, torch.Tensor]


def _epochs(
    plan: Plan, sets: Sets, cell: Cell, classifier: Classifier, best: _Best, stop: Stop
) -> Iterator[Epoch]:
    """Train until dev has not strictly improved for `patience` epochs; halve the rate each time."""
    pairs = nested(sets.challenge_train, cell.seed, cell.size)
    optim = optimiser(classifier, cell.lr, Recipe.weight_decay)
    lr, waited = cell.lr, 0
    for epoch in range(1, plan.max_epochs + 1):
        for group in optim.param_groups:
            group["lr"] = lr
        began = time.monotonic()
        loss = _train_epoch(plan, pairs, cell.seed, epoch, classifier, optim, stop)
        speed = len(pairs) / (time.monotonic() - began)
        dev = share_right(classifier, sets.original_dev, plan.precision, stop)
        row = Epoch(cell, epoch, loss, dev, lr, speed)
        if dev > best.dev:
            best.dev, best.epoch, best.weights, waited = dev, epoch, _weights(classifier), 0
        else:
            lr, waited = lr / 2, waited + 1
        yield row
        if waited >= plan.patience:
            return


def _train_epoch(
    plan: Plan,
    pairs: Sequence[Pair],
    seed: int,
    epoch: int,
    classifier: Classifier,
    optim: torch.optim.Optimizer,
    stop: Stop,
) -> float:
    """Go once over the pairs and return the mean loss of a pair."""
    lengths = [len(pair.premise) + len(pair.hypothesis) for pair in pairs]
    tokens, total = min(plan.max_tokens, classifier.max_tokens), 0.0
    for number, rows in enumerate(epoch_batches(lengths, plan.batch or Recipe.batch, seed, epoch)):
        _halt(stop)
        chosen = [pairs[row] for row in rows]
        step = (seed * 1_000 + epoch) * 1_000_003 + number
        inputs = classifier.encode(chosen, tokens)
        loss = update(classifier, optim, inputs, targets(chosen), Recipe.clip, plan.precision, step)
        total += loss * len(rows)
    return total / len(pairs)


def right(
    classifier: Classifier, pairs: Sequence[Pair], precision: Precision, stop: Stop = never
) -> tuple[bool, ...]:
    """Return for each pair whether the prediction matches its gold label."""
    hits = [False] * len(pairs)
    for rows in by_length([len(pair.premise) + len(pair.hypothesis) for pair in pairs], 32):
        _halt(stop)
        said = classifier.predict([pairs[row] for row in rows], precision)
        for row, prediction in zip(rows, said, strict=True):
            gold = pairs[row].gold
            hits[row] = gold is not None and matches(prediction.label, gold)
    return tuple(hits)


def share_right(
    classifier: Classifier, pairs: Sequence[Pair], precision: Precision, stop: Stop = never
) -> float:
    """Return the accuracy on pairs that all have a gold label."""
    return sum(right(classifier, pairs, precision, stop)) / len(pairs)


def _halt(stop: Stop) -> None:
    if stop():
        raise Cancelled("cancelled")


def _weights(classifier: Classifier) -> dict[str, torch.Tensor]:
    state = classifier.model.state_dict()
    return {name: value.detach().clone() for name, value in state.items()}
