"""A cell trains on one condition, chooses by that condition, and is tested on all."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

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
    run_request,
    total,
    with_conditions,
)
from finetune.trials.generalisation_trial import run_cell
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.runs.engine import Engine
from probe.runs.run import Json, StoredRun, ended
from probe.runs.store import Store
from probe.stopping import Cancelled
from probe.tasks.nli import Pair
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.waiting import training, until


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


def figures(run: StoredRun) -> list[Json]:
    """Return the results without the seconds that they took."""
    return [{**result, "seconds": 0} for result in run.results]


def test_a_cancelled_run_goes_on_with_what_it_lacks_and_comes_to_the_same(
    home: Path, model: str
) -> None:
    pairs, store = tiny_pairs(30), Store()
    data = SourceData(pairs[:12], {"one": pairs[:20], "two": pairs[10:]})
    plan = replace(PLAN, model=model, sizes=(5,), lrs=(1e-3,), tests=4, batch=1, dev=200)
    longer = with_conditions(replace(plan, max_epochs=40, patience=40), data)
    whole, stopped = (store.create("me", run_request(longer, data)).id for _ in range(2))
    engine = Engine(store, in_process=True)
    try:
        engine.submit(stopped)
        until(store, stopped, training)
        engine.cancel(stopped)
        run = until(store, stopped, ended)
        assert run.state == "cancelled" and run.cells[0].result is not None
        engine.reopen(stopped)
        run = until(store, stopped, ended)
        engine.submit(whole)
        other = until(store, whole, ended)
    finally:
        engine.close()
    assert (run.state, run.error) == (other.state, other.error) == ("done", "")
    assert figures(run) == figures(other)
    assert len(run.results) == 3
    assert run.verdict == other.verdict and run.verdict["grid"]["rows"] == ["one", "two"]
