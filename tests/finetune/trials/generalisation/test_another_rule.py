"""A finished generalisation is judged by another rule without a training."""

import pytest

from finetune.trials.generalisation import judged_anew, loss_in
from probe.errors import ExperimentError
from tests.support.runs.generalisation import make_points, make_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]
RUN = make_run(make_points(MATRIX))


@pytest.mark.parametrize(("loss", "outcome"), [(0.5, "data_set"), (0.6, "phenomenon")])
def test_the_largest_loss_of_54_points_is_judged_by_the_given_one(
    loss: float, outcome: str
) -> None:
    assert judged_anew(RUN, loss).verdict["outcome"] == outcome


def test_points_grid_and_the_run_itself_stay() -> None:
    anew = judged_anew(RUN, 0.6)
    assert anew.results == RUN.results
    assert anew.verdict["grid"] == RUN.verdict["grid"]
    assert RUN.verdict["outcome"] == "data_set"


@pytest.mark.parametrize("loss", [0, -0.1, 1.1])
def test_a_loss_that_is_no_share_is_refused(loss: float) -> None:
    with pytest.raises(ExperimentError, match="above 0 and at most 1"):
        judged_anew(RUN, loss)


def test_points_are_read_as_a_share() -> None:
    assert loss_in("12.5") == loss_in("12,5") == 0.125
