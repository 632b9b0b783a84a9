"""One fine-tuning on a condition, tested on all conditions (Rozen et al. 2019).

Cells know nothing of each other, so they run in any order and anywhere. The best epoch is chosen
on held-out pairs of the condition that is trained on; nothing that is tested has a say.
"""

import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from finetune.training.frozen_layers import Prepared, correct, predictions, prepare, score
from finetune.training.loop import (
    BestEpoch,
    Diverged,
    Trainer,
    copied_weights,
    halving,
    make_optimiser,
    train_epochs,
    trainable,
)
from finetune.trials.datasets import Examples
from finetune.trials.generalisation_plan import (
    Cell,
    Epoch,
    Hits,
    Plan,
    Point,
    Scores,
    SourceData,
    TrainingSets,
    draw_tests,
    draw_training,
)
from probe.models.classifier import Classifier
from probe.stopping import Stop, never


def run_cell(
    plan: Plan, data: SourceData, cell: Cell, classifier: Classifier, stop: Stop = never
) -> Iterator[Epoch | Point]:
    """Train `classifier` in place, yield each Epoch and at last the Point.

    `stop` is asked before every batch. Raises Cancelled when it says so, ExperimentError where
    the model has no fast mode or there are too few pairs.
    """
    began, epochs, diverged = time.monotonic(), 0, False
    ready = prepare(classifier, plan.mode, plan.precision)
    tests = draw_tests(plan, data, cell.seed)
    best = BestEpoch(dev=0.0, weights=copied_weights(ready.trained.model))
    if cell.size:
        sets = draw_training(plan, data, cell.seed, cell.train, tests)
        try:
            for epoch in _epochs(plan, sets, cell, ready, best, stop):
                epochs = epoch.epoch
                yield epoch
        except Diverged:
            diverged = True
    ready.trained.model.load_state_dict(best.weights)
    untrained = not cell.size
    yield Point(
        cell,
        _scores(ready, data.original, untrained, stop),
        {name: _scores(ready, examples, untrained, stop) for name, examples in tests.items()},
        best.dev,
        epochs,
        best.epoch,
        time.monotonic() - began,
        ready.precision,
        diverged,
    )


def _epochs(
    plan: Plan, sets: TrainingSets, cell: Cell, ready: Prepared, best: BestEpoch, stop: Stop
) -> Iterator[Epoch]:
    """Train until dev has not strictly improved for `patience` epochs; halve the rate each time."""
    longest = min(plan.max_tokens, ready.whole.max_tokens)
    data = ready.encoded(sets.train, longest, stop)
    dev = ready.encoded(sets.dev, ready.whole.max_tokens, stop)
    recipe = ready.whole.architecture.recipe
    optimiser = make_optimiser(recipe, trainable(ready.trained), cell.lr)
    trainer = Trainer(ready.trained, recipe, optimiser, ready.precision)
    batch = plan.batch or recipe.batch
    schedule = halving(plan.max_epochs, batch, cell.seed, cell.lr, plan.patience)
    measure = partial(score, ready.trained, dev, ready.precision, stop)
    for row in train_epochs(trainer, data.first(cell.size), measure, schedule, best, stop):
        yield Epoch(cell, row.epoch, row.loss, row.dev, row.lr, row.pairs_per_second)


def _scores(ready: Prepared, examples: Examples, untrained: bool, stop: Stop) -> Scores:
    """Return by gold label how many examples the model is right on."""
    data = ready.encoded(examples, ready.whole.max_tokens, stop)
    labels = (
        ready.initial_predictions(data, stop)
        if untrained
        else predictions(ready.trained, data, ready.precision, stop)
    )
    n, right = Counter[str](), Counter[str]()
    for example, hit in zip(examples, correct(data, labels), strict=True):
        n[example.gold] += 1
        right[example.gold] += hit
    return {label: Hits(right[label], n[label]) for label in sorted(n)}
