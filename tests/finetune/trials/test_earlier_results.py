"""What a new run takes over of the runs before it."""

from dataclasses import replace

from finetune.trials.calibration import cells
from finetune.trials.calibration import known_results as known_calibrations
from finetune.trials.mitigation import known_results as known_mitigations
from probe.runs.run import Json
from tests.support.runs.repairs import (
    CALIBRATION_PLAN,
    MITIGATION_PLAN,
    calibration_run,
    mitigation_run,
)

SAME: Json = {"model": "ab12", "sets": {"test": "cd34"}}
CALIBRATION, MITIGATION = calibration_run(artefacts=SAME), mitigation_run(artefacts=SAME)


def test_all_cells_are_taken_over_but_those_whose_model_is_kept() -> None:
    # the model as it was, temperature (first, so its model is kept), smoothing
    assert set(known_calibrations([CALIBRATION], CALIBRATION_PLAN, SAME)) == {0, 2}
    # the model as it was, threshold, the class with two seeds (kept), entropic with two
    assert set(known_mitigations([MITIGATION], MITIGATION_PLAN, SAME)) == {0, 1, 4, 5}


def test_a_result_is_that_of_its_cell_in_a_plan_with_other_cells() -> None:
    plan = replace(CALIBRATION_PLAN, methods=("focal", "temperature", "smoothing"))
    known = known_calibrations([CALIBRATION], plan, SAME)
    assert {cells(plan)[number].method for number in known} == {
        "baseline", "temperature", "smoothing",
    }  # fmt: skip


def test_nothing_is_taken_over_from_another_model_other_sets_settings_or_kinds() -> None:
    assert not known_calibrations([CALIBRATION], CALIBRATION_PLAN, {**SAME, "model": "ef56"})
    assert not known_calibrations([CALIBRATION], CALIBRATION_PLAN, {**SAME, "sets": {}})
    assert not known_calibrations([CALIBRATION], replace(CALIBRATION_PLAN, tests=7), SAME)
    assert not known_calibrations([MITIGATION], CALIBRATION_PLAN, SAME)
    assert not known_mitigations([MITIGATION], replace(MITIGATION_PLAN, transforms=("sort",)), SAME)
