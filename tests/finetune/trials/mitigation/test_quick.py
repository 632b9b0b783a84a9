"""What quick training costs is said where it is paid."""

from dataclasses import replace

import pytest

from finetune.trials.base import Training
from finetune.trials.mitigation import Plan, quick_cost

QUICK = Plan("minilm", Training(1e-3), ("invalid",))


def test_the_upper_layers_alone_cost_accuracy() -> None:
    assert "Quick costs much" in quick_cost(QUICK)


@pytest.mark.parametrize(
    "plan",
    [
        replace(QUICK, training=Training(2e-5, "full")),
        replace(QUICK, methods=("threshold",)),
    ],
    ids=["all weights", "a threshold"],
)
def test_nothing_is_said_where_all_weights_learn_or_none(plan: Plan) -> None:
    assert quick_cost(plan) == ""
