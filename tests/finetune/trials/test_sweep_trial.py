"""One fine-tuning of Liu et al. 2019 or Rozen et al. 2019, on a model small enough for a test."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch

from finetune.trials import generalisation
from finetune.trials.base import Epoch
from finetune.trials.datasets import Sets
from finetune.trials.generalisation import chosen, draw_tests, draw_training, total
from finetune.trials.inoculation import BASE, Cell, Plan, choose, conclude, nested
from finetune.trials.trial import fresh, generalise, run_cell
from probe.models.classifier import Classifier
from probe.runs.engine import Engine
from probe.runs.run import Json, StoredRun, ended
from probe.runs.store import Store
from probe.stopping import Cancelled
from probe.tasks.nli import LABELS, NON_ENTAILMENT, TWO_WAY, Pair
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import tiny_classifier
from tests.support.waiting import training, until

RATES = (1e-3, 1e30)
"""The second makes every weight overflow at its first step."""
PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,), batch=4, max_epochs=4, precision="fp32")
CELL = Cell(12, 1e-3, 0)
TOLD = {
    name: tuple(
        replace(pair, premise=f"{pair.premise} {at}", hypothesis=f"{name} {pair.hypothesis}")
        for at, pair in enumerate(tiny_pairs(60))
    )
    for name in ("now", "then")
}
DATA = generalisation.SourceData(tiny_pairs(12), TOLD)
GRID = generalisation.with_conditions(
    generalisation.Plan(
        "tiny", "mine", generalisation.FILE, (), (), (12,), RATES, (0,), mode="full", tests=9,
        dev=3, batch=4, max_epochs=3, precision="fp32",
    ),
    DATA,
)  # fmt: skip
ON_NOW = generalisation.Cell("now", 12, 5e-3, 0)
Weights = dict[str, torch.Tensor]


def run(rows: Iterator[Any]) -> tuple[list[Epoch], Any]:  # Any: an epoch or a point of either kind
    """Drive a cell to its end."""
    *epochs, point = rows
    assert all(isinstance(row, Epoch) for row in epochs)
    return epochs, point


def hits(classifier: Classifier, pairs: Sequence[Pair]) -> tuple[bool, ...]:
    """Return for each pair whether the model's prediction is its gold label."""
    said = classifier.predict(pairs)
    return tuple(each.label == pair.gold for each, pair in zip(said, pairs, strict=True))


def weights(classifier: Classifier) -> Weights:
    """Return a copy of the weights."""
    return {name: it.clone() for name, it in classifier.model.state_dict().items()}


def same(one: Weights, other: Weights) -> bool:
    """Whether two sets of weights are equal bit by bit."""
    return all(torch.equal(one[name], other[name]) for name in one)


def test_the_model_as_it_was_is_scored_and_its_weights_left_alone(
    classifier: Classifier, sets: Sets
) -> None:
    before = weights(classifier)
    epochs, point = run(run_cell(PLAN, sets, BASE, classifier))
    assert epochs == [] and point.dose is point.control is None
    assert point.original_right == hits(classifier, sets.original_test)
    assert point.challenge_right == hits(classifier, sets.challenge_test)
    assert point.challenge == fmean(point.challenge_right)
    epochs, point = run(generalise(GRID, DATA, generalisation.base_cell(0), classifier))
    assert epochs == [] and (point.epochs, point.best_epoch, point.dev) == (0, 0, 0.0)
    for name, tested in draw_tests(GRID, DATA, 0).items():
        assert total(point.tests[name]) == (sum(hits(classifier, tested)), len(tested))
    assert same(before, weights(classifier))


def test_the_best_epoch_is_restored_and_the_rate_halves_whenever_dev_does_not_improve(
    classifier: Classifier, sets: Sets
) -> None:
    controlled = replace(sets, control=sets.challenge_train)
    plan = replace(PLAN, max_epochs=12, patience=12)
    epochs, point = run(run_cell(plan, controlled, CELL, classifier))
    best, rate = -1.0, 1e-3
    for row in epochs:
        assert row.lr == rate
        rate = rate if row.dev > best else rate / 2
        best = max(best, row.dev)
    assert rate < 1e-3  # it did halve
    assert point.dev == best == fmean(hits(classifier, sets.original_dev))
    assert point.best_epoch == next(row.epoch for row in epochs if row.dev == best)
    assert point.control == fmean(hits(classifier, sets.challenge_train))
    assert epochs[-1].loss < epochs[0].loss


def test_a_condition_is_trained_on_and_all_are_tested(classifier: Classifier) -> None:
    plan = replace(GRID, max_epochs=12, patience=12)
    epochs, point = run(generalise(plan, DATA, replace(ON_NOW, lr=1e-3), classifier))
    best = max(epochs, key=lambda epoch: (epoch.dev, -epoch.epoch))
    assert (point.best_epoch, point.dev, point.epochs) == (best.epoch, best.dev, 12)
    dev = draw_training(plan, DATA, 0, "now", draw_tests(plan, DATA, 0)).dev
    assert point.dev == fmean(hits(classifier, dev))
    assert list(point.tests) == ["now", "then"]
    assert total(point.original).n == 12
    assert set(point.original) == {"contradiction", "entailment", "neutral"}
    assert epochs[-1].loss < epochs[0].loss


def test_training_stops_after_patience_without_improvement(
    classifier: Classifier, sets: Sets
) -> None:
    plan = replace(PLAN, lrs=(1e-9,), patience=2)
    epochs, point = run(run_cell(plan, sets, Cell(6, 1e-9, 0), classifier))
    assert [row.epoch for row in epochs] == [1, 2, 3]  # the first counts as the best so far
    assert point.best_epoch == 1


@each("candidate", [True, False])
def test_epoch_zero_is_restored_only_where_it_is_a_candidate(
    candidate: bool, classifier: Classifier, sets: Sets
) -> None:
    # a rate this small changes weights but no prediction, so dev never improves on epoch 0
    before, copy = weights(classifier), fresh(classifier)
    plan = replace(PLAN, include_epoch0=candidate)
    _, point = run(run_cell(plan, sets, Cell(6, 1e-9, 0), copy))
    assert same(before, weights(copy)) is candidate
    assert point.best_epoch == (0 if candidate else 1)


@each("order", [LABELS, TWO_WAY])
def test_pairs_that_are_only_not_entailed_are_learnt(order: tuple[str, ...]) -> None:
    pairs = tuple(replace(pair, gold=NON_ENTAILMENT) for pair in tiny_pairs(30))
    sets, classifier = Sets(pairs, pairs, pairs, pairs), tiny_classifier(order=order)
    with torch.no_grad():  # it leans to what is wrong
        classifier.model.get_parameter("classifier.bias")[order.index("entailment")] += 2.0
    epochs, point = run(run_cell(replace(PLAN, sizes=(30,)), sets, Cell(30, 3e-2, 0), classifier))
    assert epochs[-1].loss < epochs[0].loss
    assert point.challenge == 1.0


def test_a_cell_gives_the_same_again_and_leaves_model_and_chance_alone(
    classifier: Classifier, sets: Sets
) -> None:
    cells: list[Callable[[Classifier], Iterator[Any]]] = [
        lambda model: run_cell(PLAN, sets, CELL, model),
        lambda model: generalise(GRID, DATA, ON_NOW, model),
    ]
    before, chance = weights(classifier), torch.get_rng_state()
    for cell in cells:
        one, other = fresh(classifier), fresh(classifier)
        points = [replace(run(cell(model))[1], seconds=0.0) for model in (one, other)]
        assert points[0] == points[1]
        assert same(weights(one), weights(other)) and not same(weights(one), before)
    assert same(before, weights(classifier))
    assert torch.equal(chance, torch.get_rng_state())


def test_fast_mode_trains_the_upper_part_only(classifier: Classifier) -> None:
    before = weights(classifier)
    run(generalise(replace(GRID, mode="fast"), DATA, ON_NOW, classifier))
    layer, after = "bert.encoder.layer.{}.attention.self.{}.weight", weights(classifier)
    names = layer.format(0, "query"), layer.format(1, "value")
    assert [torch.equal(before[name], after[name]) for name in names] == [True, False]


def test_a_cell_ends_at_the_question_that_says_stop(classifier: Classifier, sets: Sets) -> None:
    # more slices of evaluation than answers, also where the shared start is known already
    whole = replace(sets, original_test=tuple(pair for _ in range(30) for pair in tiny_pairs(30)))

    def stopped(rows: Callable[[Callable[[], bool]], Iterator[Any]], answers: int) -> None:
        asked: list[int] = []

        def stop() -> bool:
            asked.append(1)
            return len(asked) > answers

        with pytest.raises(Cancelled):
            list(rows(stop))
        assert len(asked) == answers + 1

    for answers in (0, 1, 3):
        for cell in (BASE, CELL):
            stopped(lambda stop, c=cell: run_cell(PLAN, whole, c, fresh(classifier), stop), answers)
        stopped(lambda stop: generalise(GRID, DATA, ON_NOW, fresh(classifier), stop), answers)


def test_the_dose_is_measured_at_the_last_epoch_trained_not_at_the_one_restored(
    sets: Sets, classifier: Classifier
) -> None:
    known = zip(sets.original_dev, classifier.predict(sets.original_dev), strict=True)
    dev = tuple(replace(pair, gold=said.label) for pair, said in known)
    plan = replace(PLAN, max_epochs=12, patience=12, include_epoch0=True)  # nothing beats epoch 0
    learnt = nested(sets.challenge_train, CELL.seed, CELL.size)
    cell = replace(CELL, lr=1e-2)
    _, point = run(run_cell(plan, replace(sets, original_dev=dev), cell, classifier))
    assert point.best_epoch == 0
    assert sum(hits(classifier, learnt)) < point.dose <= CELL.size


def test_a_training_that_diverges_is_said_and_its_rate_not_chosen(
    classifier: Classifier, sets: Sets
) -> None:
    plan = replace(PLAN, sizes=(12,), lrs=RATES, max_epochs=2)
    models = [fresh(classifier) for _ in range(3)]
    cells = (BASE, *(Cell(12, lr, 0) for lr in RATES))
    points = [
        run(run_cell(plan, sets, cell, model))[1] for cell, model in zip(cells, models, strict=True)
    ]
    assert [point.diverged for point in points] == [False, False, True]
    assert all(bool(weight.isfinite().all()) for weight in models[-1].model.parameters())
    assert points[-1].challenge_right == points[0].challenge_right and points[-1].dose == 0
    luckier = [*points[:-1], replace(points[-1], challenge=1.0, dev=1.0)]
    for selection in ("oracle_lr", "dev_lr"):
        assert choose(luckier, selection)[-1][0].cell.lr == RATES[0]  # type: ignore[arg-type]  # each is one
    assert "diverged with learning rate 1e+30" in conclude(plan, sets, luckier).warnings[0]
    grid = [
        run(generalise(GRID, DATA, replace(ON_NOW, lr=lr), fresh(classifier)))[1] for lr in RATES
    ]
    assert [point.diverged for point in grid] == [False, True]
    ((best,),) = chosen([grid[0], replace(grid[1], dev=1.0)]).values()
    assert best.cell.lr == RATES[0]


def test_a_cancelled_run_goes_on_with_what_it_lacks_and_comes_to_the_same(
    home: Path, model: str
) -> None:
    def figures(run: StoredRun) -> list[Json]:
        return [{**result, "seconds": 0} for result in run.results]

    pairs, store = tiny_pairs(30), Store()
    data = generalisation.SourceData(pairs[:12], {"one": pairs[:20], "two": pairs[10:]})
    plan = replace(GRID, model=model, sizes=(5,), lrs=(1e-3,), tests=4, batch=1, dev=200)
    longer = generalisation.with_conditions(replace(plan, max_epochs=40, patience=40), data)
    request = generalisation.run_request(longer, data)
    whole, stopped = (store.create("me", request).id for _ in range(2))
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
    assert figures(run) == figures(other) and len(run.results) == 3
    assert run.verdict == other.verdict and run.verdict["grid"]["rows"] == ["one", "two"]
