"""A cell: train on one kind of broken text, or on one kind of text only, and test."""

import time
from collections.abc import Iterator
from dataclasses import replace

import torch

from finetune.training.frozen_layers import prepare, upper_part
from finetune.training.invalid_class import with_invalid_class
from finetune.training.losses import cross_entropy
from finetune.trials.base import Epoch, train_further
from finetune.trials.datasets import Examples, SourceData, drawn
from finetune.trials.inoculation_trial import fresh
from finetune.trials.mitigation_trial import count_invalid, count_right, predict
from finetune.trials.transfer import Cell, Plan, Point
from finetune.trials.word_salad import destroy
from probe.models.classifier import Classifier
from probe.stopping import Stop, never
from probe.tasks.task import INVALID


def run_cell(
    plan: Plan, source: SourceData, cell: Cell, before: Classifier, stop: Stop = never
) -> Iterator[Epoch | Point]:
    """Train a copy of the classifier; yield each epoch and at last the Point.

    `stop` is asked before every batch. Raises Cancelled when it says so, ExperimentError where
    the model cannot be taken apart.
    """
    began, epochs = time.monotonic(), 0
    clean = drawn(source.pool, cell.seed, cell.size)
    if cell.lesson == "one":
        changed = with_invalid_class(before)
        examples = (*clean, *_broken(plan, cell, clean, before))
    else:
        changed = fresh(before)
        begin_anew(changed, cell.seed)
        examples = salad_with_gold(cell, clean, before) if cell.transform else clean
    ready = prepare(changed, plan.training.mode, plan.training.precision)
    for row in train_further(
        ready, plan.training, examples, source.dev, cross_entropy, cell.seed, stop
    ):
        epochs = row.epoch
        yield row
    answers = predict(ready, source.test, stop)
    tested = plan.transforms if cell.lesson == "one" else ()
    salad = destroy(before, source.test[: plan.tests], tested)
    yield Point(
        cell,
        count_right(source.task, source.test, answers),
        {
            name: count_invalid(predict(ready, texts, stop))
            for name, texts in salad.items()
            if texts
        },
        epochs,
        time.monotonic() - began,
    )


def _broken(plan: Plan, cell: Cell, clean: Examples, before: Classifier) -> Examples:
    """Return the first of the examples, destroyed and invalid."""
    texts = destroy(before, clean[: round(plan.share * len(clean))], (cell.transform,))
    return tuple(replace(text, gold=INVALID) for text in texts[cell.transform])


def salad_with_gold(cell: Cell, clean: Examples, before: Classifier) -> Examples:
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
