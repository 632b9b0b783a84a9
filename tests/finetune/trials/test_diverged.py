"""A training whose loss becomes no number: it is said, and its rate is not chosen by accident."""

from dataclasses import replace

import torch

from finetune.trials.datasets import Sets
from finetune.trials.generalisation import chosen
from finetune.trials.generalisation_plan import FILE, SourceData, with_conditions
from finetune.trials.generalisation_plan import Cell as Trained
from finetune.trials.generalisation_plan import Plan as GridPlan
from finetune.trials.generalisation_plan import Point as GridPoint
from finetune.trials.generalisation_trial import run_cell as generalise
from finetune.trials.inoculation import conclude
from finetune.trials.inoculation_plan import BASE, Cell, Plan, Point, choose
from finetune.trials.inoculation_trial import fresh, run_cell
from probe.models.classifier import Classifier
from tests.support.models.tiny_bert import tiny_pairs

RATES = (1e-3, 1e30)
"""The second makes every weight overflow at its first step."""
PLAN = Plan("tiny", "mine", (12,), RATES, (0,), batch=4, max_epochs=2, precision="fp32")


def test_an_inoculation_that_diverges_is_said_and_its_rate_not_chosen(
    classifier: Classifier, sets: Sets
) -> None:
    points, models = [], []
    for cell in (BASE, *(Cell(12, lr, 0) for lr in RATES)):
        models.append(fresh(classifier))
        *_, point = run_cell(PLAN, sets, cell, models[-1])
        assert isinstance(point, Point)
        points.append(point)
    assert [point.diverged for point in points] == [False, False, True]
    assert all(bool(weight.isfinite().all()) for weight in models[-1].model.parameters())
    assert points[-1].challenge_right == points[0].challenge_right and points[-1].dose == 0
    luckier = [*points[:-1], replace(points[-1], challenge=1.0, dev=1.0)]
    for selection in ("oracle_lr", "dev_lr"):
        assert choose(luckier, selection)[-1].lr == RATES[0]  # type: ignore[arg-type]  # each is one
    assert "diverged with learning rate 1e+30" in conclude(PLAN, sets, luckier).warnings[0]


def test_a_generalisation_that_diverges_is_not_chosen(classifier: Classifier) -> None:
    rows = {
        name: tuple(
            replace(pair, premise=f"{pair.premise} {at}", hypothesis=f"{name} {pair.hypothesis}")
            for at, pair in enumerate(tiny_pairs(60))
        )
        for name in ("now", "then")
    }
    data = SourceData(tiny_pairs(12), rows)
    plan = GridPlan("tiny", "mine", FILE, (), (), (12,), RATES, (0,), mode="full", tests=9, dev=3)
    whole = with_conditions(replace(plan, batch=4, max_epochs=2, precision="fp32"), data)
    points = []
    for lr in RATES:
        *_, point = generalise(whole, data, Trained("now", 12, lr, 0), fresh(classifier))
        assert isinstance(point, GridPoint)
        points.append(point)
    assert [point.diverged for point in points] == [False, True]
    ((best,),) = chosen([points[0], replace(points[1], dev=1.0)]).values()
    assert best.cell.lr == RATES[0]
    assert torch.isfinite(torch.tensor(best.dev))
