"""One fine-tuning: an inoculation (Liu et al. 2019) or on a condition (Rozen et al. 2019).

Cells know nothing of each other, so they run in any order and anywhere. Early stopping and the
learning rate follow the original dev set, or held-out pairs of the condition that is trained on,
alone; what is tested is only ever scored. Models are trained in place; `stop` is asked before every
batch. All raise Cancelled when it says so, and ExperimentError where a model has no fast mode.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from copy import deepcopy
from dataclasses import replace
from statistics import fmean
from typing import Any, TypeVar

from finetune.training.encoder import PreparedReader
from finetune.training.frozen_layers import Prepared, prepare
from finetune.training.loop import (
    BestEpoch,
    Diverged,
    MovingAverage,
    Schedule,
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
from finetune.training.losses import Loss, cross_entropy
from finetune.training.recipes import Mode
from finetune.trials import generalisation
from finetune.trials.base import Epoch
from finetune.trials.datasets import Examples, Sets, worst_variants
from finetune.trials.inoculation import Cell, Plan, Point, nested
from probe.errors import ExperimentError
from probe.models.classifier import Classifier, Precision, resolve
from probe.models.library import AnyModel
from probe.models.reader import Reader
from probe.models.text_model import TextModel
from probe.stopping import Cancelled as Cancelled  # who drives cells knows it from here
from probe.stopping import Stop, never

Trainable = Prepared | PreparedReader


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


def fine_tune(
    ready: Trainable,
    data: TrainingData,
    measure: Callable[[], float],
    schedule: Schedule,
    best: BestEpoch,
    cell: object,
    stop: Stop,
    loss: Loss = cross_entropy,
) -> Generator[Epoch, None, tuple[int, MovingAverage | None]]:
    """Yield each epoch; return how many, and the average of the weights where their kind has one.

    `best` is replaced by each epoch whose score, by `measure`, is better. Raises Diverged.
    """
    recipe = ready.whole.architecture.recipe
    optimiser = make_optimiser(recipe, trainable(ready.trained), schedule.rate(0, 0))
    average = average_of(recipe, ready.trained.model)
    trainer = Trainer(ready.trained, recipe, optimiser, ready.precision, loss, average)
    for row in train_epochs(trainer, data, measure, schedule, best, stop):
        yield Epoch(cell, row.epoch, row.loss, row.dev, row.lr, row.pairs_per_second)
    return row.epoch, average


def _schedule(plan: Plan | generalisation.Plan, ready: Trainable, lr: float, seed: int) -> Schedule:
    """Halve the rate with each epoch without a gain, and end after `patience` of them in a row."""
    batch = plan.batch or ready.whole.architecture.recipe.batch
    return halving(plan.max_epochs, batch, seed, lr, plan.patience)


def run_cell(
    plan: Plan, sets: Sets, cell: Cell, model: AnyModel, stop: Stop = never
) -> Iterator[Epoch | Point]:
    """Inoculate, yield each epoch and at last the point; a training that diverges ends there."""
    began, epochs, diverged = time.monotonic(), 0, False
    dose: float | None = None
    ready, scored = prepare_any(model, plan.mode, plan.precision), sets.scored
    dev = ready.scorer(scored.original_dev, stop)
    best = BestEpoch(weights=copied_weights(ready.trained.model))

    def encoded(examples: Examples) -> Any:  # Any: each kind of model has data of its own
        drawn = nested(examples, cell.seed, max(cell.size, *plan.sizes), sets.task)
        longest = min(plan.max_tokens, ready.whole.max_tokens)
        return ready.encoded(drawn, longest, stop).first(cell.size)

    if cell.size == 0 or plan.include_epoch0:
        best.dev = fmean(dev(True))
    if cell.size:
        data = encoded(sets.challenge_train)
        schedule = _schedule(plan, ready, cell.lr, cell.seed)
        try:
            rows = fine_tune(ready, data, lambda: fmean(dev(False)), schedule, best, cell, stop)
            epochs, average = yield from rows
            with averaged(ready.trained.model, average):
                dose = sum(ready.learnt(encoded(sets.scored.challenge_train), stop))
        except Diverged:
            epochs, dose, diverged = best.epoch, 0.0, True
            best.dev = max(best.dev, 0.0)
    ready.trained.model.load_state_dict(best.weights)

    def score(examples: Examples) -> tuple[float, ...]:
        return ready.scorer(examples, stop)(best.epoch == 0)

    original = score(scored.original_test)
    challenge = worst_variants(sets.task, scored.challenge_test, score(scored.challenge_test))
    control = score(scored.control) if scored.control else None
    counter_tests = {name: score(examples) for name, examples in scored.counter_tests.items()}
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


def generalise(
    plan: generalisation.Plan,
    data: generalisation.SourceData,
    cell: generalisation.Cell,
    classifier: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | generalisation.Point]:
    """Train on a condition and test all. Raises ExperimentError besides for too few pairs."""
    began, epochs, diverged = time.monotonic(), 0, False
    ready = prepare(classifier, plan.mode, plan.precision)
    tests = generalisation.draw_tests(plan, data, cell.seed)
    best = BestEpoch(dev=0.0, weights=copied_weights(ready.trained.model))
    if cell.size:
        sets = generalisation.draw_training(plan, data, cell.seed, cell.train, tests)
        learnt = ready.encoded(sets.train, min(plan.max_tokens, classifier.max_tokens), stop)
        dev = ready.scorer(sets.dev, stop)
        schedule = _schedule(plan, ready, cell.lr, cell.seed)
        rows = fine_tune(
            ready,
            learnt.first(cell.size),
            lambda: fmean(dev(False)),
            schedule,
            best,
            cell,
            stop=stop,
        )
        try:
            for row in rows:
                epochs = row.epoch
                yield row
        except Diverged:
            diverged = True
    ready.trained.model.load_state_dict(best.weights)

    def score(examples: Examples) -> generalisation.Scores:
        right, n = Counter[str](), Counter[str]()
        hits = ready.scorer(examples, stop)(not cell.size)
        for example, hit in zip(examples, hits, strict=True):
            n[example.gold] += 1
            right[example.gold] += int(hit)
        return {label: generalisation.Hits(right[label], n[label]) for label in sorted(n)}

    yield generalisation.Point(
        cell,
        score(data.original),
        {name: score(examples) for name, examples in tests.items()},
        best.dev,
        epochs,
        best.epoch,
        time.monotonic() - began,
        ready.precision,
        diverged,
    )
