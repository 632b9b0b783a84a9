"""A cell of a mitigation, and what the cells say together."""

from dataclasses import asdict, replace

import pytest

from finetune.training.frozen_layers import weights_hash
from finetune.trials.base import Epoch, row_json
from finetune.trials.datasets import source_json
from finetune.trials.mitigation import (
    BASE,
    Cell,
    Found,
    Plan,
    Point,
    cells,
    check,
    collapsed,
    conclude,
    outcomes,
    plan_from,
    point_from,
    run_stored_cell,
)
from finetune.trials.repair_trial import broken, changed_copy, mitigate
from finetune.trials.word_salad import gradient_names, salad_names
from probe.errors import ExperimentError
from probe.models.classifier import Classifier
from probe.runs.experiment import CellContext, Result
from probe.runs.models import named_model_hash
from probe.stopping import Cancelled
from probe.tasks.nli import NLI
from probe.tasks.task import INVALID
from tests.support.runs.clean_source import TRAINING, clean_source

SOURCE = clean_source()
PLAN = Plan("tiny", TRAINING, sizes=(12,), seeds=(0,), tests=6)
THRESHOLD, ENTROPIC, CLASS = (
    Cell("threshold", 0, 0),
    Cell("entropic", 12, 0),
    Cell("invalid", 12, 0),
)


def point_of(classifier: Classifier, cell: Cell, plan: Plan = PLAN) -> Point:
    *_, point = mitigate(plan, SOURCE, cell, classifier, changed_copy(cell, classifier))
    assert isinstance(point, Point)
    return point


def made_point(cell: Cell, clean: int = 8, found: int = 3, commonest: float = 0.5) -> Point:
    """A point of 10 clean and 10 broken texts."""
    return Point(
        cell, Found(clean, 10), Found(1, 10), {"sort": Found(found, 10)}, commonest, 0.4, 0.0,
        1.0, 0, 1.0,
    )  # fmt: skip


def test_a_model_without_repair_finds_nothing(classifier: Classifier) -> None:
    point = point_of(classifier, BASE)
    assert set(point.found) == set(salad_names(NLI))
    assert {each.count for each in point.found.values()} == {0}
    assert point.rejected.count == 0


def test_a_threshold_changes_no_weights_and_costs_what_it_may_on_dev(
    classifier: Classifier,
) -> None:
    before = weights_hash(classifier)
    changed = changed_copy(THRESHOLD, classifier)
    *_, point = mitigate(PLAN, SOURCE, THRESHOLD, classifier, changed)
    assert isinstance(point, Point) and point.epochs == 0
    assert changed.invalid_below == point.threshold >= 1 / 3
    assert changed.temperature == point.temperature != 1
    assert weights_hash(classifier) == before


@pytest.mark.parametrize("cell", [ENTROPIC, CLASS])
def test_a_training_yields_its_epochs_and_leaves_the_model_as_it_was(
    cell: Cell, classifier: Classifier
) -> None:
    before = weights_hash(classifier)
    *epochs, point = mitigate(PLAN, SOURCE, cell, classifier, changed_copy(cell, classifier))
    assert [row.epoch for row in epochs if isinstance(row, Epoch)] == [1, 2]
    assert isinstance(point, Point) and point.epochs == 2
    assert weights_hash(classifier) == before


def test_the_invalid_class_learns_to_find_what_it_was_shown(classifier: Classifier) -> None:
    longer = replace(PLAN, sizes=(24,), training=replace(TRAINING, lr=3e-3, epochs=12, mode="full"))
    assert point_of(classifier, Cell("invalid", 24, 0), longer).invalid_found > 0.5


def test_training_has_all_transforms_of_half_the_examples(classifier: Classifier) -> None:
    clean = SOURCE.pool[:12]
    salad = broken(PLAN, CLASS, clean, classifier)
    assert {text.gold for text in salad} == {INVALID}
    assert {text.id for text in salad} <= {pair.id for pair in clean[:6]}
    assert len(salad) > 6 * len(salad_names(NLI)) / 2
    assert {text.gold for text in broken(PLAN, ENTROPIC, clean, classifier)} == {None}


def test_the_share_of_transforms_that_ask_the_model_is_its_own(classifier: Classifier) -> None:
    clean = SOURCE.pool[:12]
    every = broken(PLAN, CLASS, clean, classifier)
    fewer = broken(replace(PLAN, gradient_share=0.0), CLASS, clean, classifier)
    assert gradient_names(NLI)
    assert set(fewer) < set(every)


def test_transforms_that_are_named_alone_break_texts(classifier: Classifier) -> None:
    plan = replace(PLAN, transforms=("drop", "sort"), gradient_share=0.25)
    assert len(broken(plan, CLASS, SOURCE.pool[:12], classifier)) == 6 + 3
    assert set(point_of(classifier, THRESHOLD, plan).found) == {"drop", "sort"}


def test_a_plan_without_transforms_was_stored_before_they_could_be_named() -> None:
    older = {name: value for name, value in asdict(PLAN).items() if name != "transforms"}
    assert plan_from(older) == PLAN


def test_a_cell_can_be_stopped(classifier: Classifier) -> None:
    with pytest.raises(Cancelled):
        list(
            mitigate(PLAN, SOURCE, CLASS, classifier, changed_copy(CLASS, classifier), lambda: True)
        )


def test_a_stored_cell_gives_the_model_of_the_first_method_alone(model: str) -> None:
    plan = asdict(replace(PLAN, model=model, methods=("threshold",)))
    context = CellContext(named_model_hash(model))
    for cell, kept in ((BASE, False), (THRESHOLD, True)):
        *_, result = run_stored_cell(plan, source_json(SOURCE), vars(cell), context)
        assert isinstance(result, Result)
        assert ("model.safetensors" in result.model) is kept


def test_a_point_and_a_plan_come_back_from_their_json() -> None:
    point = made_point(CLASS)
    assert point_from(vars(point.cell), row_json(point)) == point
    assert plan_from(asdict(PLAN)) == PLAN


def test_cells_are_the_model_as_it_was_a_threshold_and_each_training() -> None:
    assert cells(PLAN) == (BASE, THRESHOLD, CLASS, ENTROPIC)


def test_the_verdict_speaks_of_the_first_method() -> None:
    points = [made_point(BASE, 9, 0), made_point(ENTROPIC, 8, 6), made_point(CLASS, 7, 10)]
    assert conclude(PLAN, points[:2]) is None
    verdict = conclude(PLAN, points)
    assert verdict is not None
    assert (verdict["method"], verdict["clean"], verdict["invalid_found"]) == ("invalid", 0.7, 1.0)
    assert verdict["per_transform"] == {"sort": 1.0}
    assert "loses 20.0 points" in verdict["explanation"]
    assert verdict["warnings"] == []


def test_a_model_that_answers_always_the_same_has_collapsed() -> None:
    point = made_point(CLASS, commonest=0.96)
    assert collapsed(point) and not collapsed(made_point(CLASS, commonest=0.9))
    verdict = conclude(PLAN, [made_point(BASE), point])
    assert verdict is not None
    assert "the model collapsed" in verdict["warnings"][0]


def test_a_model_without_training_has_not_collapsed() -> None:
    assert not collapsed(made_point(BASE, commonest=1.0))


def test_a_model_that_rejects_most_whole_texts_is_warned_of() -> None:
    point = replace(made_point(CLASS), rejected=Found(6, 10))
    verdict = conclude(PLAN, [made_point(BASE), point])
    assert verdict is not None
    assert ["60% of whole texts invalid" in each for each in verdict["warnings"]] == [True]


def test_a_set_of_one_gold_label_makes_no_collapse() -> None:
    assert not collapsed(replace(made_point(CLASS, commonest=1.0), gold_commonest=0.97))


def test_an_outcome_is_the_mean_of_its_seeds() -> None:
    first, second = made_point(CLASS, 8, 2), made_point(replace(CLASS, seed=1), 6, 6)
    (outcome,) = outcomes([first, second])
    assert (outcome.clean, outcome.invalid_found) == (pytest.approx(0.7), pytest.approx(0.4))
    assert outcome.seeds == 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"methods": ()}, "methods are some of"),
        ({"sizes": (25,)}, "each size must be from 1 to 24"),
        ({"seeds": ()}, "at least one size and one seed"),
        ({"tests": 0}, "at least one test pair"),
        ({"share": 0.0}, "shares that are destroyed"),
        ({"gradient_share": 1.5}, "shares that are destroyed"),
        ({"transforms": ("negation",)}, "transforms are some of sort"),
        ({"transforms": ("sort", "sort")}, "transforms are some of sort"),
        ({"transforms": ("drop",), "gradient_share": 0.0}, "share that these destroy"),
        ({"weight": -1.0}, "weight of the entropic term"),
        ({"tolerance": 2.0}, "tolerance must be"),
        ({"weight": float("nan")}, "entropic term must be"),
        ({"weight": float("inf")}, "entropic term must be"),
        ({"task": "sentiment"}, "the examples are of nli"),
    ],
)
def test_a_plan_that_cannot_run_is_refused(changes: dict[str, object], sentence: str) -> None:
    check(PLAN, SOURCE)
    with pytest.raises(ExperimentError, match=sentence):
        check(replace(PLAN, **changes), SOURCE)  # type: ignore[arg-type]  # of several types
