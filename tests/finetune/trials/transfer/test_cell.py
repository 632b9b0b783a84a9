"""A cell of a transfer, and what the cells say together."""

from dataclasses import asdict, replace

import pytest
import torch

from finetune.training.frozen_layers import upper_part, weights_hash
from finetune.trials.base import row_json
from finetune.trials.inoculation_trial import fresh
from finetune.trials.mitigation import Found
from finetune.trials.repair_trial import begin_anew, salad_with_gold, teach
from finetune.trials.transfer import (
    Cell,
    Plan,
    Point,
    cells,
    check,
    conclude,
    matrix,
    own_and_others,
    plan_from,
    point_from,
)
from finetune.trials.word_salad import salad_names
from probe.errors import ExperimentError
from probe.models.classifier import Classifier
from probe.tasks.nli import NLI
from tests.support.runs.clean_source import TRAINING, clean_source

SOURCE = clean_source()
PLAN = Plan("tiny", TRAINING, ("sort", "drop"), sizes=(12,), seeds=(0,), tests=6)
SORT, DROP = Cell("one", "sort", 12, 0), Cell("one", "drop", 12, 0)
CLEAN, SALAD = Cell("clean_only", "", 12, 0), Cell("salad_only", "shuffle", 12, 0)


def made_point(cell: Cell, clean: int = 8, **found: int) -> Point:
    """A point of 10 clean texts and 10 of each transform."""
    return Point(cell, Found(clean, 10), {k: Found(n, 10) for k, n in found.items()}, 1, 1.0)


POINTS = [made_point(SORT, sort=9, drop=3), made_point(DROP, sort=1, drop=8)]


@pytest.mark.parametrize("cell", [SORT, CLEAN, SALAD])
def test_a_training_leaves_the_model_as_it_was(cell: Cell, classifier: Classifier) -> None:
    before = weights_hash(classifier)
    *_, point = teach(PLAN, SOURCE, cell, classifier)
    assert isinstance(point, Point)
    assert (point.epochs, point.clean.n) == (2, len(SOURCE.test))
    assert set(point.found) == (set(PLAN.transforms) if cell is SORT else set())
    assert weights_hash(classifier) == before


def test_the_upper_layers_begin_anew_and_the_lower_ones_stay(classifier: Classifier) -> None:
    changed = fresh(classifier)
    begin_anew(changed, 0)
    upper = {weight.data_ptr() for weight in upper_part(changed).model.parameters()}
    old = classifier.model.state_dict()
    for name, weight in changed.model.named_parameters():
        if weight.data_ptr() not in upper:
            assert torch.equal(weight, old[name]), name
    assert not torch.equal(
        changed.model.state_dict()["classifier.weight"], old["classifier.weight"]
    )


def test_the_beginning_is_that_of_the_seed(classifier: Classifier) -> None:
    hashes = []
    for seed in (0, 0, 1):
        changed = fresh(classifier)
        begin_anew(changed, seed)
        hashes.append(weights_hash(changed))
    assert hashes[0] == hashes[1] != hashes[2]


def test_salad_alone_keeps_its_labels(classifier: Classifier) -> None:
    golds = {pair.id: pair.gold for pair in SOURCE.pool}
    texts = salad_with_gold(SALAD, SOURCE.pool, classifier)
    assert texts and all(text.gold == golds[text.id] for text in texts)
    originals = {pair.id: pair.hypothesis for pair in SOURCE.pool}
    assert all(text.hypothesis != originals[text.id] for text in texts)


def test_the_matrix_has_a_row_for_what_was_taught() -> None:
    assert matrix(PLAN, POINTS) == [[0.9, 0.3], [0.1, 0.8]]
    assert matrix(PLAN, POINTS[:1])[1] == [None, None]


def test_the_diagonal_of_a_matrix_is_told_from_the_rest() -> None:
    assert own_and_others([[0.9, 0.3], [None, 0.8]]) == ([0.9, 0.8], [0.3])
    assert own_and_others([[None]]) == ([], [])


def test_the_verdict_waits_for_every_row_and_holds_the_matrix() -> None:
    assert conclude(PLAN, POINTS[:1]) is None
    verdict = conclude(PLAN, POINTS)
    assert verdict is not None
    assert verdict["rows"] == verdict["columns"] == ["sort", "drop"]
    assert verdict["matrix"] == [[0.9, 0.3], [0.1, 0.8]]
    assert verdict["salad_only"] is None
    assert "85% of that kind and 20% of the others" in verdict["explanation"]


def test_the_verdict_says_what_salad_alone_teaches() -> None:
    verdict = conclude(PLAN, [*POINTS, made_point(CLEAN, 9), made_point(SALAD, 7)])
    assert verdict is not None
    assert verdict["salad_only"] == {"clean": 0.9, "salad": 0.7}
    assert "70.0% of whole ones" in verdict["explanation"]


def test_cells_are_the_rows_and_the_two_others() -> None:
    assert cells(PLAN) == (SORT, DROP, CLEAN, SALAD)
    assert cells(replace(PLAN, salad_only=False)) == (SORT, DROP)


def test_a_point_and_a_plan_come_back_from_their_json() -> None:
    assert point_from(vars(SORT), row_json(POINTS[0])) == POINTS[0]
    assert plan_from(asdict(PLAN)) == PLAN


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"transforms": ("negation",)}, "transforms are some of sort"),
        ({"transforms": ()}, "transforms are some of sort"),
        ({"sizes": (25,)}, "each size must be from 1 to 24"),
        ({"seeds": (-1,)}, "each seed must be"),
        ({"share": 0.0}, "share that is destroyed"),
        ({"tests": 0}, "at least one test pair"),
        ({"task": "sentiment"}, "the examples are of nli"),
    ],
)
def test_a_plan_that_cannot_run_is_refused(changes: dict[str, object], sentence: str) -> None:
    check(PLAN, SOURCE, salad_names(NLI))
    with pytest.raises(ExperimentError, match=sentence):
        check(replace(PLAN, **changes), SOURCE, salad_names(NLI))  # type: ignore[arg-type]  # of several types
