"""Our own cluster and one by its address: how many compute, lean, killed, known by certificates."""

import multiprocessing.spawn
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import dask
import psutil
import pytest
from distributed import LocalCluster

from benchmarks.page.app_process import APP, process
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.errors import SettingsError
from probe.runs import engine as engine_module
from probe.runs.dispatch import Workers, without_main, worker_count
from probe.runs.engine import Engine
from probe.runs.run import ended
from probe.runs.store import Store
from tests.conftest import free_port
from tests.support.checkout import text
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
    workplace: tuple[Store, Engine], plan: Plan, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, engine = workplace
    long = replace(plan, max_epochs=40, patience=40)
    run_id = store.create("me", run_request(long, sets)).id
    engine.submit(run_id)
    before = until(store, run_id, training)
    os.kill(worker_pid(engine), signal.SIGKILL)
    run = until(store, run_id, ended)
    assert (run.state, run.error) == ("done", "")
    assert run.results[0] == before.results[0]  # seconds too: it was not computed again
    assert [cell.key["size"] for cell in run.cells if cell.result] == [0, 6, 12]
    monkeypatch.setattr(engine_module, "FORCE_AFTER", 0.2)
    endless = replace(plan, max_epochs=100_000, patience=100_000)
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
    home: Path, model: str, sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = text("docs/deployment.md").split("# once; copy the folder to each machine")[1]
    commands = "umask 077\n" + made.split("export DASK")[0]
    subprocess.run(["sh", "-ec", commands.replace("cd ..", ":")], cwd=tmp_path, check=True)
    files = {name: tmp_path / name for name in ("ca.pem", "node.pem", "node.key")}
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(SettingsError, match=f"set {TLS}CA_FILE and {TLS}CLIENT__CERT and "):
        Workers(f"tls://{address}")
    monkeypatch.setenv("ENGINE", f"tls://{address}")
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION", "True")
    monkeypatch.setenv(f"{TLS}CA_FILE", str(files["ca.pem"]))
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        monkeypatch.setenv(f"{TLS}{role}__CERT", str(files["node.pem"]))
        monkeypatch.setenv(f"{TLS}{role}__KEY", str(files["node.key"]))
    store = Store()
    plan = Plan(model, "negation", (6,), (1e-3,), (0,), batch=4, max_epochs=1, precision="fp32")
    run_id = store.create("me", run_request(plan, sets)).id
    host, port = address.split(":")
    with ExitStack() as stack:
        for command in (
            ("distributed.cli.dask_scheduler", "--protocol", "tls", "--host", host, "--port", port,
             "--no-dashboard", "--no-show"),
            ("distributed.cli.dask_worker", f"tls://{address}", "--host", host, "--nthreads", "1",
             "--no-nanny", "--no-dashboard"),
            APP[1:],
        ):  # fmt: skip
            stack.enter_context(process("-m", *command))
        run = until(store, run_id, ended)
        ran_in = intrude({(host, int(port))})
    assert (run.state, run.error, len(run.results)) == ("done", "", 2)
    assert ran_in == ""
