"""`python -m finetune inoculate` with the worker processes that the app has too."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from finetune.trials.datasets import Sets
from probe.cli.batch import INTERRUPTED
from probe.runs.store import Store
from tests.support.commands import call
from tests.support.files.pair_files import row, write
from tests.support.waiting import training, until

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def words(home: Path, model: str, sets: Sets) -> list[str]:
    """A call on the tiny model and files of its own, but for its --out."""
    files = [
        f"--{name.replace('_', '-')}={write(home / f'{name}.jsonl', [row(pair) for pair in pairs])}"
        for name, pairs in sets.examples.items()
        if pairs
    ]
    plan = "inoculate --challenge mine --sizes 6,12 --lrs 1e-3 --precision fp32"
    return [*plan.split(), "--model", model, *files]


def points(folder: Path) -> pd.DataFrame:
    """Return points.csv without what differs from call to call."""
    return pd.read_csv(folder / "points.csv").drop(columns=["run", "seconds"])


def test_worker_processes_compute_what_this_process_does(
    words: list[str], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, more in (("processes", ()), ("thread", ("--in-process",))):
        result = call(*words, "--max-epochs", 2, "--out", home / name, *more)
        assert result.exit_code == 0, result.output
        monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path / "other"))  # that takes nothing over
    pd.testing.assert_frame_equal(points(home / "processes"), points(home / "thread"))
    ran = json.loads((home / "processes" / "summary.json").read_text())
    assert ran["plan"]["sizes"] == [6, 12]


def test_a_call_that_is_interrupted_is_cancelled_and_leaves_its_points(
    words: list[str], home: Path
) -> None:
    # 30,000 steps, which take minutes
    endless = ["--sizes", "30", "--batch", "1", "--max-epochs", "1000", "--patience", "1000"]
    store, environment = Store(), {**os.environ, "OMP_NUM_THREADS": "1"}
    called = subprocess.Popen(
        [sys.executable, "-m", "finetune", *words, *endless, "--out", str(home / "out")],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until(store, _only_run(store, called), training)
        os.killpg(called.pid, signal.SIGINT)  # as a terminal does
        _, told = called.communicate(timeout=120)
    finally:
        called.kill()
    assert called.returncode == INTERRUPTED
    assert told.splitlines()[-1] == "stopped; the same command goes on with the cells that are done"
    assert "Traceback" not in told
    (run,) = store.runs()
    assert (run.state, run.cells[0].state) == ("cancelled", "done")
    assert len(points(home / "out")) == 1


def _only_run(store: Store, called: subprocess.Popen[str]) -> str:
    """Wait for a call's run to be there and return its id."""
    while not (runs := store.runs()):
        assert called.poll() is None, "the call has ended without a run"
    return runs[0].id
