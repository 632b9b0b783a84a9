"""Inoculation by fine-tuning (Liu et al. 2019): a little of the challenge, then test again.

A cell is one fine-tuning: a size, a learning rate, a seed. Cells know nothing of each other, so
they run in any order and anywhere. Early stopping and the learning rate follow the original dev
set alone; the challenge test set is only ever scored.
"""

import time
from collections.abc import Callable, Generator, Iterator
from copy import deepcopy
from dataclasses import replace
from statistics import fmean
from typing import Any, Protocol, TypeVar

from finetune.training.encoder import PreparedReader
from finetune.training.frozen_layers import prepare
from finetune.training.loop import (
    BestEpoch,
    Diverged,
    Trainee,
    Trainer,
    TrainingData,
    average_of,
    averaged,
    copied_weights,
    halving,
    make_optimiser,
    train_epochs,
    trainable,
)
from finetune.training.recipes import Mode
from finetune.trials.datasets import Examples, Sets, worst_variants
from finetune.trials.inoculation_plan import Cell, Epoch, Plan, Point, nested
from probe.errors import ExperimentError
from probe.models.classifier import Precision, resolve
from probe.models.library import AnyModel
from probe.models.reader import Reader
from probe.models.text_model import TextModel
from probe.stopping import Cancelled as Cancelled  # who drives cells knows it from here
from probe.stopping import Stop, never

Scorer = Callable[[bool], tuple[float, ...]]
"""Scores each example of a set from 0 to 1 (`Task.score`) by the weights as they are.

The scores of a model that is untrained, which the argument says, are computed once for all cells.
"""


class Trainable(Protocol):
    """A model before training: `trained` is the part whose weights change, `whole` all of it."""

    @property
    def whole(self) -> TextModel:
        """All of the model."""

    @property
    def trained(self) -> Trainee:
        """What is trained."""

    @property
    def precision(self) -> Precision:
        """The precision of all computing, fp32 or bf16."""

    def encoded(
        self, examples: tuple[Any, ...], max_tokens: int, stop: Stop = never
    ) -> TrainingData:
        """Return examples to train on, cut where they are longer. Raises Cancelled."""

    def learnt(self, data: Any, stop: Stop = never) -> tuple[float, ...]:
        """Return the score of each example of what `encoded` returned, by the weights as they are.

        Raises Cancelled.  # Any: each kind of model has its own kind of data
        """

    def scorer(self, examples: tuple[Any, ...], stop: Stop = never) -> Scorer:
        """Return what scores these examples."""


def prepare_any(model: AnyModel, mode: Mode, precision: Precision) -> Trainable:
    """Prepare a model for a cell. Raises ExperimentError where it has no fast mode."""
    if not isinstance(model, Reader):
        return prepare(model, mode, precision)
    if mode == "fast":
        raise ExperimentError("a model that answers with spans has no fast mode; choose full")
    return PreparedReader(model, resolve(precision))


Model = TypeVar("Model", bound=TextModel)


def fresh(model: Model) -> Model:
    """Return the model with a copy of its weights, to be trained."""
    return replace(model, model=deepcopy(model.model))


def run_cell(
    plan: Plan, sets: Sets, cell: Cell, model: AnyModel, stop: Stop = never
) -> Iterator[Epoch | Point]:
    """Train `model` in place, yield each Epoch and at last the Point.

    A training that diverges ends there, see `Point`. `stop` is asked before every batch. Raises
    Cancelled when it says so, ExperimentError where the model has no fast mode.
    """
    began, epochs, dose, diverged = time.monotonic(), 0, None, False
    ready, scored = prepare_any(model, plan.mode, plan.precision), sets.scored
    dev = ready.scorer(scored.original_dev, stop)
    best = BestEpoch(weights=copied_weights(ready.trained.model))
    if cell.size == 0 or plan.include_epoch0:
        best.dev = fmean(dev(True))
    if cell.size:
        try:
            epochs, dose = yield from _epochs(plan, sets, cell, ready, dev, best, stop)
        except Diverged:
            epochs, dose, diverged = best.epoch, 0.0, True
            best.dev = max(best.dev, 0.0)
    ready.trained.model.load_state_dict(best.weights)
    untrained = best.epoch == 0
    original = ready.scorer(scored.original_test, stop)(untrained)
    answers = ready.scorer(scored.challenge_test, stop)(untrained)
    challenge = worst_variants(sets.task, scored.challenge_test, answers)
    control = ready.scorer(scored.control, stop)(untrained) if scored.control else None
    counter_tests = {
        name: ready.scorer(examples, stop)(untrained)
        for name, examples in scored.counter_tests.items()
    }
    yield Point(
        cell,
        fmean(original),
        fmean(challenge),
        best.dev,
        epochs,
        best.epoch,
        time.monotonic() - began,
        ready.precision,
        original,
        challenge,
        fmean(control) if control else None,
        counter_tests,
        dose,
        diverged,
    )


def _epochs(
    plan: Plan,
    sets: Sets,
    cell: Cell,
    ready: Trainable,
    dev: Scorer,
    best: BestEpoch,
    stop: Stop,
) -> Generator[Epoch, None, tuple[int, float]]:
    """Train until dev has not strictly improved for `patience` epochs; halve the rate each time.

    Returns how many epochs were trained and what was then learnt of the dose, see `Point`.
    """

    def encoded(examples: Examples) -> TrainingData:
        drawn = nested(examples, cell.seed, max(cell.size, *plan.sizes), sets.task)
        longest = min(plan.max_tokens, ready.whole.max_tokens)
        return ready.encoded(drawn, longest, stop).first(cell.size)

    recipe = ready.whole.architecture.recipe
    optimiser = make_optimiser(recipe, trainable(ready.trained), cell.lr)
    average = average_of(recipe, ready.trained.model)
    trainer = Trainer(ready.trained, recipe, optimiser, ready.precision, average=average)
    batch = plan.batch or recipe.batch
    schedule = halving(plan.max_epochs, batch, cell.seed, cell.lr, plan.patience)
    data = encoded(sets.challenge_train)
    for row in train_epochs(trainer, data, lambda: fmean(dev(False)), schedule, best, stop):
        yield Epoch(cell, row.epoch, row.loss, row.dev, row.lr, row.pairs_per_second)
    with averaged(ready.trained.model, average):
        return row.epoch, sum(ready.learnt(encoded(sets.scored.challenge_train), stop))
