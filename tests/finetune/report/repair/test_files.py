"""The files of a repair that the command and the page write alike."""

import csv
from pathlib import Path

import pytest

from finetune.report.repair_files import FILES, repair_summary, write_figure, write_points
from finetune.ui.repair.titles import KINDS
from probe.runs.run import StoredRun
from tests.support.runs.repairs import calibration_run, mitigation_run, transfer_run


def test_each_kind_of_repair_has_its_files() -> None:
    assert set(FILES) == set(KINDS)


@pytest.mark.parametrize(
    ("run", "first", "figure"),
    [
        (calibration_run(), "method", "reliability.svg"),
        (mitigation_run(), "method", "invalid.svg"),
        (transfer_run(), "trained_on", "transfer.svg"),
    ],
)
def test_points_and_figure_are_those_of_the_kind(
    run: StoredRun, first: str, figure: str, tmp_path: Path
) -> None:
    with write_points(run, tmp_path).open() as file:
        assert next(csv.reader(file))[0] == first
    assert write_figure(run, tmp_path).name == figure


def test_a_summary_names_the_hashes_of_model_and_sets_alone() -> None:
    assert set(repair_summary(calibration_run())["artefacts"]) == {"model", "sets"}
