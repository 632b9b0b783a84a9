"""The Repair tab's entry: the files that a person takes away of runs."""

import json
from pathlib import Path

import pytest

from finetune.ui.repair.tab import write_files
from probe.runs.run import StoredRun
from tests.support.runs.repairs import MITIGATED, calibration_run, mitigation_run, transfer_run


@pytest.mark.parametrize(
    ("run", "figure"),
    [
        (calibration_run(), "reliability.svg"),
        (mitigation_run(), "invalid.svg"),
        (transfer_run(), "transfer.svg"),
    ],
)
def test_a_judged_run_leaves_points_figure_and_summary(
    run: StoredRun, figure: str, tmp_path: Path
) -> None:
    paths = write_files([run], tmp_path)
    assert [path.name for path in paths] == ["points.csv", figure, "summary.json"]
    assert len(paths[0].read_text().splitlines()) == 1 + len(run.results)
    assert paths[1].read_text().startswith("<svg")
    summary = json.loads(paths[2].read_text())
    assert summary["explanation"] == run.verdict["explanation"]
    assert summary["plan"] == json.loads(json.dumps(run.plan))


def test_a_run_that_is_not_judged_leaves_no_summary(tmp_path: Path) -> None:
    paths = write_files([mitigation_run(MITIGATED[:1])], tmp_path)
    assert [path.name for path in paths] == ["points.csv", "invalid.svg"]


def test_several_runs_have_a_folder_each(tmp_path: Path) -> None:
    paths = write_files([calibration_run(), transfer_run()], tmp_path)
    assert {path.parent.name for path in paths} == {"calibration", "transfer"}
