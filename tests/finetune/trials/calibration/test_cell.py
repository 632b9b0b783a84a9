"""A cell of a calibration, and what the cells say together."""

from dataclasses import asdict, replace

import pytest

from finetune.training.frozen_layers import weights_hash
from finetune.trials.base import Epoch, row_json
from finetune.trials.calibration import (
    BASE,
    Cell,
    Plan,
    Point,
    cells,
    check,
    conclude,
    known_results,
    outcomes,
    plan_from,
    point_from,
    run_request,
    run_stored_cell,
)
from finetune.trials.datasets import drawn, labelled, source_from, source_json
from finetune.trials.inoculation_trial import fresh
from finetune.trials.repair_trial import calibrate
from finetune.trials.word_salad import destroy, salad_names
from probe.errors import ExperimentError
from probe.models.classifier import Classifier
from probe.runs.experiment import CellContext, Result
from probe.runs.models import named_model_hash
from probe.stopping import Cancelled
from probe.tasks.nli import NLI
from tests.support.runs.clean_source import TRAINING, clean_source

SOURCE = clean_source()
PLAN = Plan("tiny", TRAINING, sizes=(24,), seeds=(0, 1), tests=6)
TEMPERATURE = Cell("temperature", 0, 0)


def point_of(classifier: Classifier, cell: Cell, plan: Plan = PLAN) -> Point:
    *_, point = calibrate(plan, SOURCE, cell, classifier, fresh(classifier))
    assert isinstance(point, Point)
    return point


@pytest.fixture
def both(classifier: Classifier) -> tuple[Point, Point]:
    """The model as it was, and with a temperature."""
    return point_of(classifier, BASE), point_of(classifier, TEMPERATURE)


def test_a_temperature_changes_confidence_and_no_answer(both: tuple[Point, Point]) -> None:
    before, after = both
    assert after.temperature != before.temperature == 1
    assert after.calibration.accuracy == before.calibration.accuracy
    assert {name: each.agree for name, each in after.salad.items()} == {
        name: each.agree for name, each in before.salad.items()
    }
    assert after.calibration.confidence != before.calibration.confidence


def test_every_salad_of_the_task_is_measured(both: tuple[Point, Point]) -> None:
    assert set(both[0].salad) == set(salad_names(NLI))
    assert all(0 < each.n <= PLAN.tests for each in both[0].salad.values())


@pytest.mark.parametrize("method", ["smoothing", "focal"])
def test_a_training_yields_its_epochs_and_leaves_the_model_as_it_was(
    method: str, classifier: Classifier
) -> None:
    before = weights_hash(classifier)
    cell = next(cell for cell in cells(PLAN) if cell.method == method)
    *epochs, point = calibrate(PLAN, SOURCE, cell, classifier, fresh(classifier))
    assert [row.epoch for row in epochs if isinstance(row, Epoch)] == [1, 2]
    assert isinstance(point, Point) and point.epochs == 2
    assert weights_hash(classifier) == before


def test_more_smoothing_makes_a_model_less_sure(classifier: Classifier) -> None:
    cell = Cell("smoothing", 24, 0)
    longer = replace(PLAN, training=replace(TRAINING, epochs=8, mode="full"))
    little, much = (
        point_of(classifier, cell, replace(longer, epsilon=epsilon)) for epsilon in (0.0, 0.6)
    )
    assert much.calibration.confidence < little.calibration.confidence


def test_a_cell_can_be_stopped(classifier: Classifier) -> None:
    with pytest.raises(Cancelled):
        list(calibrate(PLAN, SOURCE, BASE, classifier, fresh(classifier), lambda: True))


def test_a_stored_cell_gives_the_model_of_the_first_method_alone(model: str) -> None:
    plan = asdict(replace(PLAN, model=model))
    context = CellContext(named_model_hash(model))
    for cell, kept in ((BASE, False), (TEMPERATURE, True)):
        *_, result = run_stored_cell(plan, source_json(SOURCE), vars(cell), context)
        assert isinstance(result, Result)
        assert ("model.safetensors" in result.model) is kept


def test_a_point_comes_back_from_its_json(both: tuple[Point, Point]) -> None:
    for point in both:
        assert point_from(vars(point.cell), row_json(point)) == point


def test_a_plan_and_its_examples_come_back_from_their_json() -> None:
    assert plan_from(asdict(PLAN)) == PLAN
    assert source_from(source_json(SOURCE)) == SOURCE


def test_cells_are_the_model_as_it_was_a_fit_and_each_training() -> None:
    assert cells(PLAN) == (
        BASE,
        TEMPERATURE,
        *(Cell(method, 24, seed) for method in ("smoothing", "focal") for seed in (0, 1)),
    )


def test_the_verdict_speaks_of_the_first_method(both: tuple[Point, Point]) -> None:
    plan = replace(PLAN, methods=("temperature",))
    assert conclude(plan, both[:1]) is None
    verdict = conclude(plan, both)
    assert verdict is not None
    before, after = both
    assert verdict["ece_before"] == before.calibration.ece
    assert verdict["ece_after"] == after.calibration.ece
    assert verdict["temperature"] == after.temperature
    assert verdict["agreement_before"] == verdict["agreement_after"] == before.agreement


def test_an_outcome_is_the_mean_of_its_seeds(both: tuple[Point, Point]) -> None:
    first = replace(both[0], cell=Cell("focal", 24, 0))
    second = replace(both[1], cell=Cell("focal", 24, 1))
    (outcome,) = outcomes([first, second])
    assert outcome.seeds == 2
    assert outcome.ece == pytest.approx((first.calibration.ece + second.calibration.ece) / 2)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"methods": ()}, "methods are some of"),
        ({"methods": ("baseline",)}, "methods are some of"),
        ({"sizes": (25,)}, "each size must be from 1 to 24"),
        ({"seeds": (-1,)}, "each seed must be"),
        ({"tests": 0}, "at least one test pair"),
        ({"epsilon": 1.0}, "label smoothing must be"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": float("inf")}, "gamma must be"),
        ({"gamma": float("nan")}, "gamma must be"),
        ({"task": "sentiment"}, "the examples are of nli"),
        ({"training": replace(TRAINING, lr=0.0)}, "learning rate must be above 0"),
        ({"training": replace(TRAINING, epochs=0)}, "epochs must be from 1"),
    ],
)
def test_a_plan_that_cannot_run_is_refused(changes: dict[str, object], sentence: str) -> None:
    check(PLAN, SOURCE)
    with pytest.raises(ExperimentError, match=sentence):
        check(replace(PLAN, **changes), SOURCE)  # type: ignore[arg-type]  # of several types


def test_a_smaller_draw_lies_in_a_larger_one() -> None:
    assert drawn(SOURCE.pool, 3, 5) == drawn(SOURCE.pool, 3, 9)[:5]
    assert drawn(SOURCE.pool, 3, 9) != drawn(SOURCE.pool, 4, 9)


def test_examples_without_a_gold_label_are_left_out() -> None:
    unknown = replace(SOURCE.dev[0], gold=None)
    assert labelled(replace(SOURCE, dev=(unknown, *SOURCE.dev[1:]))).dev == SOURCE.dev[1:]
    with pytest.raises(ExperimentError, match="no pair with a gold label in: dev"):
        labelled(replace(SOURCE, dev=(unknown,)))


def test_destroyed_texts_have_no_gold_and_keep_their_ids(classifier: Classifier) -> None:
    salad = destroy(classifier, SOURCE.test[:4], ("sort", "drop"))
    ids = {pair.id for pair in SOURCE.test[:4]}
    for texts in salad.values():
        assert texts and {text.id for text in texts} <= ids
        assert all(text.gold is None for text in texts)


def test_a_request_names_its_examples_and_results_are_taken_over() -> None:
    request = run_request(PLAN, SOURCE, {}, {"model": "m"})
    assert request.artefacts["sets"]["pool"]["n"] == 24
    assert known_results([], PLAN, request.artefacts) == {}
