"""A trial of each repair on a tiny model: it learns, measures, and leaves the model as it was."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

import pytest
import torch

from finetune.training.frozen_layers import upper_part, weights_hash
from finetune.trials import calibration, mitigation, transfer
from finetune.trials.base import Epoch
from finetune.trials.datasets import drawn, labelled, source_from, source_json
from finetune.trials.inoculation_trial import fresh
from finetune.trials.repair_trial import (
    begin_anew,
    broken,
    calibrate,
    changed_copy,
    mitigate,
    salad_with_gold,
    teach,
)
from finetune.trials.word_salad import destroy, gradient_names, salad_names
from probe.errors import ExperimentError
from probe.models.classifier import Classifier
from probe.runs.engine import Engine
from probe.runs.experiment import CellContext, Result
from probe.runs.models import named_model_hash
from probe.runs.run import Json, StoredRun, ended
from probe.runs.store import Store
from probe.stopping import Cancelled, Stop, never
from probe.tasks.nli import NLI
from probe.tasks.task import INVALID
from tests.support.cases import failures
from tests.support.processes.worker_process import one_worker, worker_pid
from tests.support.runs.clean_source import TRAINING, clean_source
from tests.support.runs.repair_requests import REQUESTS
from tests.support.waiting import training, until

SOURCE = clean_source()
CALIBRATED = calibration.Plan("tiny", TRAINING, sizes=(24,), seeds=(0, 1), tests=6)
MENDED = mitigation.Plan("tiny", TRAINING, sizes=(12,), seeds=(0,), tests=6)
TAUGHT = transfer.Plan("tiny", TRAINING, ("sort", "drop"), sizes=(12,), seeds=(0,), tests=6)
TEMPERATURE, THRESHOLD = calibration.Cell("temperature", 0, 0), mitigation.Cell("threshold", 0, 0)
CLASS, ENTROPIC = mitigation.Cell("invalid", 12, 0), mitigation.Cell("entropic", 12, 0)
SORT, CLEAN = transfer.Cell("one", "sort", 12, 0), transfer.Cell("clean_only", "", 12, 0)
SALAD = transfer.Cell("salad_only", "shuffle", 12, 0)


def rows_of(
    plan: Any, cell: Any, classifier: Classifier, stop: Stop = never
) -> Iterator[Any]:  # Any: of each kind
    """Run a cell of any kind on a copy of the classifier."""
    if isinstance(plan, calibration.Plan):
        return calibrate(plan, SOURCE, cell, classifier, fresh(classifier), stop)
    if isinstance(plan, mitigation.Plan):
        return mitigate(plan, SOURCE, cell, classifier, changed_copy(cell, classifier), stop)
    return teach(plan, SOURCE, cell, classifier, stop)


def point_of(plan: Any, cell: Any, classifier: Classifier) -> Any:  # Any: as above
    *_, point = rows_of(plan, cell, classifier)
    return point


def test_a_training_yields_its_epochs_and_leaves_the_model_as_it_was(
    classifier: Classifier,
) -> None:
    before = weights_hash(classifier)

    def trains(plan: Any, cell: Any) -> None:
        *epochs, point = rows_of(plan, cell, classifier)
        assert [row.epoch for row in epochs if isinstance(row, Epoch)] == [1, 2]
        assert (point.cell, point.epochs) == (cell, 2)
        assert weights_hash(classifier) == before

    trained = [cell for cell in calibration.cells(CALIBRATED) if cell.size and not cell.seed]
    cases = [
        *((CALIBRATED, cell) for cell in trained),
        *((MENDED, cell) for cell in (ENTROPIC, CLASS)),
        *((TAUGHT, cell) for cell in (SORT, CLEAN, SALAD)),
    ]
    assert len(cases) == 7
    assert failures(trains, cases) == {}


def test_a_cell_can_be_stopped(classifier: Classifier) -> None:
    for plan, cell in ((CALIBRATED, calibration.BASE), (MENDED, CLASS), (TAUGHT, CLEAN)):
        with pytest.raises(Cancelled):
            list(rows_of(plan, cell, classifier, lambda: True))


def test_a_stored_cell_gives_the_model_of_the_first_method_alone(model: str) -> None:
    context = CellContext(named_model_hash(model))

    def gives(kind: Any, plan: Any, cell: Any, kept: bool) -> None:
        stored = asdict(replace(plan, model=model))
        *_, result = kind.run_stored_cell(stored, source_json(SOURCE), vars(cell), context)
        assert isinstance(result, Result)
        assert ("model.safetensors" in result.model) is kept

    only = replace(MENDED, methods=("threshold",))
    cases = [
        (calibration, CALIBRATED, calibration.BASE, False),
        (calibration, CALIBRATED, TEMPERATURE, True),
        (mitigation, only, mitigation.BASE, False),
        (mitigation, only, THRESHOLD, True),
    ]
    assert failures(gives, cases) == {}


def test_a_temperature_changes_confidence_and_no_answer(classifier: Classifier) -> None:
    before, after = (
        point_of(CALIBRATED, cell, classifier) for cell in (calibration.BASE, TEMPERATURE)
    )
    assert set(before.salad) == set(salad_names(NLI))
    assert all(0 < each.n <= CALIBRATED.tests for each in before.salad.values())
    assert after.temperature != before.temperature == 1
    assert after.calibration.accuracy == before.calibration.accuracy
    assert after.calibration.confidence != before.calibration.confidence
    assert {name: each.agree for name, each in after.salad.items()} == {
        name: each.agree for name, each in before.salad.items()
    }
    plan = replace(CALIBRATED, methods=("temperature",))
    assert calibration.conclude(plan, [before]) is None
    verdict = calibration.conclude(plan, [before, after])
    assert verdict is not None
    assert verdict["ece_before"] == before.calibration.ece
    assert verdict["ece_after"] == after.calibration.ece
    assert verdict["agreement_before"] == verdict["agreement_after"] == before.agreement
    seeds = [
        replace(point, cell=calibration.Cell("focal", 24, seed))
        for seed, point in enumerate((before, after))
    ]
    (outcome,) = calibration.outcomes(seeds)
    assert outcome.ece == pytest.approx((before.calibration.ece + after.calibration.ece) / 2)


def test_more_smoothing_makes_a_model_less_sure(classifier: Classifier) -> None:
    longer = replace(CALIBRATED, training=replace(TRAINING, epochs=8, mode="full"))
    little, much = (
        point_of(replace(longer, epsilon=epsilon), calibration.Cell("smoothing", 24, 0), classifier)
        for epsilon in (0.0, 0.6)
    )
    assert much.calibration.confidence < little.calibration.confidence


def test_a_model_without_repair_finds_nothing(classifier: Classifier) -> None:
    point = point_of(MENDED, mitigation.BASE, classifier)
    assert set(point.found) == set(salad_names(NLI))
    assert {each.count for each in point.found.values()} == {0} == {point.rejected.count}


def test_a_threshold_changes_no_weights_and_costs_what_it_may_on_dev(
    classifier: Classifier,
) -> None:
    before, changed = weights_hash(classifier), changed_copy(THRESHOLD, classifier)
    *_, point = mitigate(MENDED, SOURCE, THRESHOLD, classifier, changed)
    assert isinstance(point, mitigation.Point) and point.epochs == 0
    assert changed.invalid_below == point.threshold >= 1 / 3
    assert changed.temperature == point.temperature != 1
    assert weights_hash(classifier) == before


def test_a_threshold_of_before_is_not_asked_when_a_model_is_calibrated(
    classifier: Classifier,
) -> None:
    plain = point_of(CALIBRATED, calibration.BASE, classifier)
    classifier.model.config.invalid_below = 1.0
    assert classifier.invalid_below == 1.0
    doubting = point_of(CALIBRATED, calibration.BASE, classifier)
    assert (doubting.calibration, doubting.salad) == (plain.calibration, plain.salad)


def test_the_invalid_class_learns_to_find_what_it_was_shown(classifier: Classifier) -> None:
    long = replace(TRAINING, lr=3e-3, epochs=12, mode="full")
    plan = replace(MENDED, sizes=(24,), training=long)
    assert point_of(plan, replace(CLASS, size=24), classifier).invalid_found > 0.5


def test_training_has_the_named_transforms_of_the_asked_shares(classifier: Classifier) -> None:
    clean = SOURCE.pool[:12]
    salad = broken(MENDED, CLASS, clean, classifier)
    assert {text.gold for text in salad} == {INVALID}
    assert {text.id for text in salad} <= {pair.id for pair in clean[:6]}
    assert len(salad) > 6 * len(salad_names(NLI)) / 2
    assert {text.gold for text in broken(MENDED, ENTROPIC, clean, classifier)} == {None}
    fewer = broken(replace(MENDED, gradient_share=0.0), CLASS, clean, classifier)
    assert gradient_names(NLI) and set(fewer) < set(salad)
    named = replace(MENDED, transforms=("drop", "sort"), gradient_share=0.25)
    assert len(broken(named, CLASS, clean, classifier)) == 6 + 3
    assert set(point_of(named, THRESHOLD, classifier).found) == {"drop", "sort"}


def test_destroyed_texts_have_no_gold_and_keep_their_ids(classifier: Classifier) -> None:
    ids = {pair.id for pair in SOURCE.test[:4]}
    for texts in destroy(classifier, SOURCE.test[:4], ("sort", "drop")).values():
        assert texts and {text.id for text in texts} <= ids
        assert all(text.gold is None for text in texts)


def test_a_transfer_tests_what_it_taught_and_counts_clean_texts(classifier: Classifier) -> None:
    for cell, tested in ((SORT, set(TAUGHT.transforms)), (CLEAN, set()), (SALAD, set())):
        point = point_of(TAUGHT, cell, classifier)
        assert (set(point.found), point.clean.n) == (tested, len(SOURCE.test))


def test_the_upper_layers_begin_anew_by_the_seed_and_the_lower_ones_stay(
    classifier: Classifier,
) -> None:
    changed = [fresh(classifier) for _ in range(3)]
    for seed, each in zip((0, 0, 1), changed, strict=True):
        begin_anew(each, seed)
    hashes = list(map(weights_hash, changed))
    assert hashes[0] == hashes[1] != hashes[2]
    upper = {weight.data_ptr() for weight in upper_part(changed[0]).model.parameters()}
    old, new = classifier.model.state_dict(), changed[0].model.state_dict()
    for name, weight in changed[0].model.named_parameters():
        assert weight.data_ptr() in upper or torch.equal(weight, old[name]), name
    assert not torch.equal(new["classifier.weight"], old["classifier.weight"])


def test_salad_alone_keeps_its_labels(classifier: Classifier) -> None:
    originals = {pair.id: pair for pair in SOURCE.pool}
    texts = salad_with_gold(SALAD, SOURCE.pool, classifier)
    assert texts and all(text.gold == originals[text.id].gold for text in texts)
    assert all(text.hypothesis != originals[text.id].hypothesis for text in texts)


def test_examples_are_drawn_stored_and_labelled() -> None:
    assert source_from(source_json(SOURCE)) == SOURCE
    assert drawn(SOURCE.pool, 3, 5) == drawn(SOURCE.pool, 3, 9)[:5]
    assert drawn(SOURCE.pool, 3, 9) != drawn(SOURCE.pool, 4, 9)
    unknown = replace(SOURCE.dev[0], gold=None)
    assert labelled(replace(SOURCE, dev=(unknown, *SOURCE.dev[1:]))).dev == SOURCE.dev[1:]
    with pytest.raises(ExperimentError, match="no pair with a gold label in: dev"):
        labelled(replace(SOURCE, dev=(unknown,)))
    request = calibration.run_request(CALIBRATED, SOURCE, {}, {"model": "m"})
    assert request.artefacts["sets"]["pool"]["n"] == 24


def figures(run: StoredRun) -> list[Json]:
    """Return the results without the seconds that they took."""
    return [{**result, "seconds": 0} for result in run.results]


def test_a_cancelled_repair_goes_on_with_what_it_lacks_and_comes_to_the_same(
    home: object, model: str
) -> None:
    store = Store()
    engine = Engine(store, in_process=True)

    def goes_on(request_of: Callable[[str], Any]) -> None:
        request = request_of(model)
        whole, stopped = (store.create("me", request).id for _ in range(2))
        engine.submit(stopped)
        until(store, stopped, training)
        engine.cancel(stopped)
        before = until(store, stopped, ended)
        assert before.state == "cancelled"
        assert 1 <= len(before.results) < len(before.cells)
        engine.reopen(stopped)
        run = until(store, stopped, ended)
        engine.submit(whole)
        other = until(store, whole, ended)
        assert (run.state, run.error) == (other.state, other.error) == ("done", "")
        assert run.results[: len(before.results)] == before.results  # seconds too: not done again
        assert figures(run) == figures(other)
        assert len(run.results) == len(run.cells)
        assert run.verdict == other.verdict != {}

    try:
        assert failures(goes_on, REQUESTS.values()) == {}
    finally:
        engine.close()


@pytest.mark.slow
def test_a_killed_worker_loses_and_doubles_no_cell_of_a_repair(
    tmp_path_factory: pytest.TempPathFactory, model: str
) -> None:
    with one_worker(tmp_path_factory.mktemp("home")) as (store, engine):

        def goes_on(kind: str) -> None:
            run_id = store.create("me", REQUESTS[kind](model)).id
            engine.submit(run_id)
            before = until(store, run_id, training)
            os.kill(worker_pid(engine), signal.SIGKILL)
            run = until(store, run_id, ended)
            assert (run.state, run.error) == ("done", "")
            assert run.results[0] == before.results[0]  # seconds too: not computed again
            done = [cell.key for cell in run.cells if cell.result]
            assert done == [cell.key for cell in before.cells]
            assert bool(run.kept) is (kind != "transfer")

        assert failures(goes_on, REQUESTS) == {}
