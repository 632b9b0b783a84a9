"""Our own cluster and one by its address: how many compute, lean, known by certificates.

The app, a worker and a cluster are killed in mid-run: nothing is lost, nothing doubled.
"""

import multiprocessing.spawn
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import dask
import psutil
import pytest
from distributed import Client, LocalCluster

from benchmarks.page.app_process import APP, process
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, Point, cells, inoculation_run, run_request
from finetune.trials.trial import run_cell
from probe.errors import SettingsError
from probe.models.library import load
from probe.runs import engine as engine_module
from probe.runs.database import RunRow
from probe.runs.dispatch import Workers, without_main, worker_count
from probe.runs.engine import Engine
from probe.runs.run import StoredRun, ended
from probe.runs.store import Store
from tests.support.checkout import text
from tests.support.processes.dask_cluster import dask_cluster
from tests.support.processes.worker_process import connected, worker_pid
from tests.support.processes.worker_process import one_worker as one_process
from tests.support.waiting import training, until

TLS = "DASK_DISTRIBUTED__COMM__TLS__"


def test_half_of_the_cores_compute_or_as_many_as_the_setting_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NLI_CLINIC_WORKERS", raising=False)
    for cores, processes in {1: 1, 2: 1, 3: 1, 8: 4}.items():
        monkeypatch.setattr("probe.runs.dispatch.CPU_COUNT", cores)
        assert worker_count() == processes
    monkeypatch.setenv("NLI_CLINIC_WORKERS", "3")
    assert worker_count() == 3
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv("NLI_CLINIC_WORKERS", wrong)
        with pytest.raises(SettingsError, match=f"NLI_CLINIC_WORKERS is '{wrong}'"):
            worker_count()


def test_a_spawned_process_does_not_import_the_main_module(monkeypatch: pytest.MonkeyPatch) -> None:
    main = ModuleType("__main__")
    main.__file__ = "app.py"
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert "init_main_from_path" in multiprocessing.spawn.get_preparation_data("worker")
    with without_main():
        data = multiprocessing.spawn.get_preparation_data("worker")
    assert not {"init_main_from_name", "init_main_from_path"} & set(data)
    assert sys.modules["__main__"] is main


def test_an_idle_cluster_of_our_own_ends_and_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Workers(None, in_process=True)
    first = cluster.connect()
    assert first is not None
    address = cluster.address
    cluster.rest(busy=False)
    assert cluster.address == address
    monkeypatch.setattr("probe.runs.dispatch.IDLE_SECONDS", 0.0)
    cluster.rest(busy=True)
    assert cluster.address == address
    cluster.rest(busy=False)
    assert (cluster.address, first.status) == (None, "closed")
    again = cluster.connect()
    assert again is not None
    assert again.submit(sum, [1, 2]).result(timeout=30) == 3
    cluster.close()


def test_nobody_without_the_certificate_runs_code_in_a_cluster_of_our_own() -> None:
    for in_process, places in {True: 0, False: 3}.items():  # scheduler, nanny and worker
        before, cluster = listening(), Workers(None, in_process)
        client = cluster.connect()
        assert client is not None
        if not in_process:
            assert client.submit(os.getppid).result(timeout=60) == os.getpid()
        opened = listening() - before
        ran_in = intrude(opened) if opened else ""
        cluster.close()
        assert (len(opened), {host for host, _ in opened} <= {"127.0.0.1"}) == (places, True)
        assert ran_in == ""
    with LocalCluster(n_workers=1, processes=False, host="tcp://127.0.0.1") as open_to_all:
        host, port = open_to_all.scheduler_address.removeprefix("tcp://").split(":")
        assert intrude({(host, int(port))}) == str(os.getpid())


def intrude(ports: set[tuple[str, int]]) -> str:
    """Return in which processes another one could run its code through these ports."""
    command = [sys.executable, "-m", "tests.support.processes.intruder"]
    places = [f"{host}:{port}" for host, port in ports]
    done = subprocess.run([*command, *places], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def listening() -> set[tuple[str, int]]:
    """Return where this process and its children listen."""
    process = psutil.Process()
    connections = [
        connection
        for one in (process, *process.children(recursive=True))
        for connection in one.net_connections()
    ]
    return {(it.laddr.ip, it.laddr.port) for it in connections if it.status == psutil.CONN_LISTEN}


# a worker process: lean, killed, hung


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Engine]]:
    """A store and an engine whose worker all tests of this file share: it takes long to start."""
    with one_process(tmp_path_factory.mktemp("home")) as both:
        yield both


@pytest.mark.slow
def test_the_worker_is_lean_gives_way_and_has_one_thread(
    workplace: tuple[Store, Engine], plan: Plan, sets: Sets
) -> None:
    def facts() -> tuple[set[str], int, int, str, bool]:
        import torch

        heavy = {"gradio", "sqlalchemy", "pandas", "scipy.stats", "nltk", "altair"} & {*sys.modules}
        passive, trims = os.environ["OMP_WAIT_POLICY"], "MALLOC_TRIM_THRESHOLD_" in os.environ
        return heavy, os.nice(0), torch.get_num_threads(), passive, trims

    store, engine = workplace
    run_id = store.create("me", run_request(plan, sets)).id
    engine.submit(run_id)
    assert until(store, run_id, ended).state == "done"
    (found,) = connected(engine).run(facts).values()
    assert found == (set(), min(19, os.nice(0) + 10), 1, "PASSIVE", False)


@pytest.mark.slow
def test_a_killed_worker_loses_and_doubles_no_cell_and_one_that_does_not_listen_is_killed(
    workplace: tuple[Store, Engine], long: Plan, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, engine = workplace
    run_id = store.create("me", run_request(long, sets)).id
    engine.submit(run_id)
    before = until(store, run_id, training)
    os.kill(worker_pid(engine), signal.SIGKILL)
    run = until(store, run_id, ended)
    assert (run.state, run.error) == ("done", "")
    assert run.results[0] == before.results[0]  # seconds too: it was not computed again
    assert [cell.key["size"] for cell in run.cells if cell.result] == [0, 6, 12]
    monkeypatch.setattr(engine_module, "FORCE_AFTER", 0.2)
    endless = replace(long, max_epochs=100_000, patience=100_000)
    run_id = store.create("me", run_request(endless, sets)).id
    engine.submit(run_id)
    until(store, run_id, training)
    pid = worker_pid(engine)
    os.kill(pid, signal.SIGSTOP)
    engine.cancel(run_id)
    assert until(store, run_id, ended).state == "cancelled"
    assert worker_pid(engine, after=pid) != pid


@pytest.mark.slow
def test_a_worker_that_is_dead_when_dask_looks_for_it_comes_back(tmp_path: Path) -> None:
    soon = {"distributed.deploy.lost-worker-timeout": "0 s"}
    with dask.config.set(soon), one_process(tmp_path) as (_, engine):
        pid = worker_pid(engine)
        os.kill(pid, signal.SIGKILL)
        assert worker_pid(engine, after=pid) != pid


# a cluster whose machines know each other by certificates


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl")
def test_a_run_is_computed_on_a_cluster_that_asks_for_certificates(
    home: Path, plan: Plan, sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = text("docs/deployment.md").split("# once; copy the folder to each machine")[1]
    commands = "umask 077\n" + made.split("export DASK")[0]
    subprocess.run(["sh", "-ec", commands.replace("cd ..", ":")], cwd=tmp_path, check=True)
    files = {name: tmp_path / name for name in ("ca.pem", "node.pem", "node.key")}
    with pytest.raises(SettingsError, match=f"set {TLS}CA_FILE and {TLS}CLIENT__CERT and "):
        Workers("tls://127.0.0.1:1")
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION", "True")
    monkeypatch.setenv(f"{TLS}CA_FILE", str(files["ca.pem"]))
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        monkeypatch.setenv(f"{TLS}{role}__CERT", str(files["node.pem"]))
        monkeypatch.setenv(f"{TLS}{role}__KEY", str(files["node.key"]))
    store = Store()
    run_id = store.create("me", run_request(replace(plan, sizes=(6,)), sets)).id
    with dask_cluster("tls", started=True) as cluster:
        cluster.worker()
        monkeypatch.setenv("ENGINE", cluster.address)
        with process(*APP):
            run = until(store, run_id, ended)
        host, port = cluster.address.removeprefix("tls://").split(":")
        ran_in = intrude({(host, int(port))})
    assert (run.state, run.error, len(run.results)) == ("done", "", 2)
    assert ran_in == ""


# killed in mid-run: the app, a worker of a cluster, the cluster


@pytest.fixture
def long(plan: Plan) -> Plan:
    """A plan whose cells take seconds, so that there is time to kill something."""
    return replace(plan, max_epochs=40, patience=40)


def require_whole(run: StoredRun, plan: Plan, sets: Sets, before: Sequence[object]) -> None:
    """Hold a run to what it came to before, seconds too, and to one that nothing was killed of."""
    rows = [row for cell in cells(plan) for row in run_cell(plan, sets, cell, load(plan.model))]
    plainly = [replace(row, seconds=0) for row in rows if isinstance(row, Point)]
    assert (run.state, run.error) == ("done", "")
    assert all(result in run.results for result in before), "a result was computed again"
    assert [replace(point, seconds=0) for point in inoculation_run(run).results] == plainly


def holder(store: Store, run_id: str) -> int:
    """Return the process that computes a run."""
    with store.database.session() as session:
        return int(str(session.get_one(RunRow, run_id).holder).split()[1])


@pytest.mark.slow
def test_another_app_goes_on_with_what_a_killed_one_held(
    home: Path, long: Plan, sets: Sets
) -> None:
    store = Store()
    run_id = store.create("me", run_request(long, sets)).id
    with process(*APP) as first:
        before = until(store, run_id, training)
        assert holder(store, run_id) == first.pid
        children = first.children(recursive=True)
        first.kill()
        _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    left = store.get(run_id)
    assert (left.state, left.cells[1].state) == ("running", "running")
    with process(*APP) as second:
        run = until(store, run_id, ended)
        assert holder(store, run_id) == second.pid
    require_whole(run, long, sets, before.results[:1])
    assert [path.name for path in (home / "models").iterdir()] == [run.kept]


@contextmanager
def engine_on(store: Store, address: str) -> Iterator[Engine]:
    """An engine that computes on a cluster."""
    engine = Engine(store, address)
    yield engine
    engine.close()


@pytest.mark.slow
def test_runs_share_the_workers_of_a_cluster_out_and_outlive_one(
    home: Path, long: Plan, sets: Sets
) -> None:
    fast = replace(long, mode="fast", max_epochs=150, patience=150)  # whose epochs take no time
    store, plans = Store(), [fast, replace(long, sizes=(6, 12, 18))]
    ids = [store.create("me", run_request(each, sets)).id for each in plans]
    with (
        dask_cluster(started=True) as cluster,
        Client(cluster.address, set_as_default=False) as client,
        engine_on(store, cluster.address) as engine,
    ):
        workers = [cluster.worker(), cluster.worker()]
        client.wait_for_workers(2, timeout=150)
        for run_id in ids:
            engine.submit(run_id)
        before = [until(store, run_id, training) for run_id in ids]
        assert all(client.processing().values())
        workers[0].kill()
        runs = [until(store, run_id, ended) for run_id in ids]
    for run, asked, earlier in zip(runs, plans, before, strict=True):
        require_whole(run, asked, sets, earlier.results)


@pytest.mark.slow
def test_a_run_waits_for_its_cluster_to_come_and_to_come_back(
    home: Path, long: Plan, sets: Sets
) -> None:
    store = Store()
    run_id = store.create("me", run_request(long, sets)).id
    with dask_cluster() as cluster, engine_on(store, cluster.address) as engine:
        silent = f"the cluster at {cluster.address} does not answer; the run goes on when it does"
        engine.submit(run_id)
        waiting = until(store, run_id, lambda run: bool(run.error))
        assert (waiting.state, waiting.error) == ("queued", silent)
        died = cluster.scheduler(), cluster.worker()
        before = until(store, run_id, training)
        assert before.error == ""
        for one in died:
            one.kill()
        waiting = until(store, run_id, lambda run: bool(run.error))
        assert (waiting.state, waiting.error) == ("queued", silent)
        assert waiting.results == before.results
        cluster.scheduler()
        cluster.worker()
        run = until(store, run_id, ended)
    require_whole(run, long, sets, before.results[:1])
