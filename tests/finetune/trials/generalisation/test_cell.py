"""A cell trains on one condition, chooses by that condition, and is tested on all."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from finetune.trials.generalisation_plan import (
    FILE,
    Cell,
    Epoch,
    Plan,
    Point,
    SourceData,
    base_cell,
    draw_tests,
    draw_training,
    total,
    with_conditions,
)
from finetune.trials.generalisation_trial import run_cell
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.stopping import Cancelled
from probe.tasks.nli import Pair
from tests.support.models.tiny_bert import tiny_pairs


def told(name: str, n: int = 60) -> tuple[Pair, ...]:
    """Return pairs of a condition: every hypothesis begins with its name."""
    return tuple(
        replace(pair, premise=f"{pair.premise} {number}", hypothesis=f"{name} {pair.hypothesis}")
        for number, pair in enumerate(tiny_pairs(n))
    )


DATA = SourceData(tiny_pairs(12), {"now": told("now"), "then": told("then")})
PLAN = with_conditions(
    Plan(
        "tiny", "mine", FILE, (), (), (12,), (5e-3,), (0,), mode="full", tests=9, dev=3, batch=4,
        max_epochs=3, precision="fp32",
    ),
    DATA,
)  # fmt: skip
CELL = Cell("now", 12, 5e-3, 0)


def run(cell: Cell, classifier: Classifier, plan: Plan = PLAN) -> tuple[list[Epoch], Point]:
    """Drive a cell to its end."""
    *epochs, point = run_cell(plan, DATA, cell, classifier)
    assert isinstance(point, Point)
    return [row for row in epochs if isinstance(row, Epoch)], point


def test_the_model_as_it_was_is_tested_untrained(classifier: Classifier) -> None:
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    epochs, point = run(base_cell(0), classifier)
    after = classifier.model.state_dict()
    assert epochs == [] and (point.epochs, point.best_epoch, point.dev) == (0, 0, 0.0)
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    for name, tested in draw_tests(PLAN, DATA, 0).items():
        said = classifier.predict(tested)
        right = sum(a.label == pair.gold for a, pair in zip(said, tested, strict=True))
        assert total(point.tests[name]) == (right, len(tested))


def test_a_cell_is_tested_on_every_condition_and_the_original_set(classifier: Classifier) -> None:
    _, point = run(CELL, classifier)
    assert list(point.tests) == ["now", "then"]
    assert total(point.original).n == 12
    assert set(point.original) == {"contradiction", "entailment", "neutral"}


def test_the_best_epoch_s_weights_are_tested(classifier: Classifier) -> None:
    epochs, point = run(CELL, classifier)
    best = max(epochs, key=lambda epoch: (epoch.dev, -epoch.epoch))
    assert (point.best_epoch, point.dev) == (best.epoch, best.dev)
    tests = draw_tests(PLAN, DATA, 0)
    dev = draw_training(PLAN, DATA, 0, "now", tests).dev
    said = classifier.predict(dev)
    assert point.dev == sum(a.label == p.gold for a, p in zip(said, dev, strict=True)) / len(dev)


def test_training_fits_what_it_shows(classifier: Classifier) -> None:
    plan = replace(PLAN, max_epochs=12, patience=12)
    epochs, _ = run(replace(CELL, lr=1e-3), classifier, plan)
    assert epochs[-1].loss < epochs[0].loss


def test_fast_mode_trains_the_upper_part_only(classifier: Classifier) -> None:
    lowest = classifier.model.bert.encoder.layer[0].attention.self.query.weight
    highest = classifier.model.bert.encoder.layer[1].attention.self.value.weight
    before = lowest.clone(), highest.clone()
    run(CELL, classifier, replace(PLAN, mode="fast"))
    assert torch.equal(before[0], lowest)
    assert not torch.equal(before[1], highest)


def test_a_cell_is_the_same_every_time(classifier: Classifier, model: str) -> None:
    _, first = run(CELL, classifier)
    _, second = run(CELL, load(model))
    assert replace(first, seconds=0.0) == replace(second, seconds=0.0)


def test_a_cell_stops_before_the_next_batch(classifier: Classifier) -> None:
    answers: Iterator[bool] = iter([False] * 3 + [True] * 100)
    with pytest.raises(Cancelled):
        list(run_cell(PLAN, DATA, CELL, classifier, lambda: next(answers)))
