"""Killed while a file is scored: the command, the app, a worker. No row is lost, none doubled."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from benchmarks.page.app_process import APP, ROOT, process
from probe.cli.batch import INTERRUPTED
from probe.data.rows import guess
from probe.data.source import open_source
from probe.models.library import load
from probe.runs.engine import Engine
from probe.runs.run import StoredRun, ended
from probe.runs.store import Store
from probe.scoring.files import (
    FileScoring,
    Places,
    ScoringRequest,
    assemble,
    read_unfinished,
    scoring_request,
)
from probe.tasks.nli import NLI
from tests.support.files.scoring_files import pair_file
from tests.support.pages.visitors import ME
from tests.support.processes.dask_cluster import dask_cluster
from tests.support.processes.worker_process import worker_pid
from tests.support.waiting import until

pytestmark = pytest.mark.slow
ROWS = 2600
NAMES = ("sort",)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes some seconds."""
    return pair_file(tmp_path_factory.mktemp("source") / "in.csv", ROWS)


def call(file: Path, out: Path, model: str) -> list[str]:
    """Return the call of the command."""
    words = ["-m", "probe", "batch", str(file), "--out", str(out), "--model", model]
    return [*words, "--transforms", ",".join(NAMES), "--precision", "fp32"]


def at_once(file: Path, out: Path, model: str) -> bytes:
    """Return the scored file that comes of no interruption, unpacked or not as its name says."""
    source = open_source(file)
    request = ScoringRequest(guess(source.names, NLI), NAMES, precision="fp32")
    scoring = FileScoring(source, load(model), request, Places(out))
    list(scoring.chunks())
    scoring.hand_over()
    return out.read_bytes()


def rows_done(out: Path) -> int:
    """Return how many rows a command has noted as done."""
    return sum(len(part.scored) for part in read_unfinished(Places(out).work)[1])


def test_a_killed_command_goes_on_to_the_same_bytes(file: Path, model: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv.gz"
    with process(*call(file, out, model), quiet=True) as command:
        while rows_done(out) < 512 and command.is_running():
            time.sleep(0.01)
        command.kill()
    done = rows_done(out)
    assert 0 < done < ROWS
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    again = subprocess.run(
        [sys.executable, *call(file, out, model)],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"an earlier call scored {done:,} rows; this one goes on" in again.stderr
    assert out.read_bytes() == at_once(file, tmp_path / "whole.csv.gz", model)


def test_an_interrupted_command_hands_over_what_is_done_and_says_how_to_go_on(
    file: Path, model: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    words = [sys.executable, *call(file, out, model)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as command:
        while rows_done(out) < 256 and command.poll() is None:
            time.sleep(0.01)
        command.send_signal(signal.SIGINT)
        answer, told = command.communicate()
    assert command.returncode == INTERRUPTED
    assert "the same command goes on where this one ended" in told
    assert pq.read_table(out).num_rows == rows_done(out) < ROWS
    assert answer.startswith(f"{rows_done(out)} of {ROWS} rows scored")


def some_done(run: StoredRun) -> bool:
    """Whether a part is done and another one is not."""
    return 0 < len(run.results) < len(run.cells)


def begun(store: Store, model: str, file: Path) -> StoredRun:
    """Store the run of the file."""
    source = open_source(file)
    request = ScoringRequest(guess(source.names, NLI), NAMES, precision="fp32")
    return store.create(ME, scoring_request(file, source, model, NLI, request))


def has_every_row(run: StoredRun, file: Path, model: str, folder: Path) -> None:
    """Check that a run ended well, with the bytes of a file that is scored at once."""
    assert (run.state, run.error) == ("done", "")
    assemble(run, places := Places(folder / "run.csv"))
    assert places.scored.read_bytes() == at_once(file, folder / "whole.csv", model)


def test_a_cluster_of_machines_that_see_no_file_loses_no_row_with_a_worker(
    home: Path, file: Path, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store()
    run = begun(store, model, file)
    with dask_cluster() as cluster:
        cluster.scheduler()
        engine = Engine(store, cluster.address)
        engine.submit(run.id)
        waiting = until(store, run.id, lambda now: bool(now.error))
        assert waiting.error.startswith(f"the cluster at {cluster.address} has no worker")
        monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path / "of the workers"))
        workers = [cluster.worker(), cluster.worker()]
        monkeypatch.setenv("NLI_CLINIC_HOME", str(home))
        until(store, run.id, some_done)
        workers[0].kill()
        until(store, run.id, ended)
        engine.close()
    has_every_row(store.get(run.id), file, model, tmp_path)


def test_a_killed_app_and_a_killed_worker_lose_no_row(
    home: Path, file: Path, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_WORKERS", "1")
    store = Store()
    run = begun(store, model, file)
    with process(*APP, quiet=True) as app:
        until(store, run.id, some_done)
        children = app.children(recursive=True)
        app.kill()
        psutil.wait_procs(children, timeout=60)
    left = store.get(run.id)
    assert left.state == "running" and some_done(left)
    engine = Engine(store)
    engine.resume()
    done = len(left.results)
    until(store, run.id, lambda now: done < len(now.results) < len(now.cells))
    os.kill(worker_pid(engine), signal.SIGKILL)
    until(store, run.id, ended)
    engine.close()
    has_every_row(store.get(run.id), file, model, tmp_path)
