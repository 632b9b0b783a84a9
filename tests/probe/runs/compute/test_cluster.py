"""How many processes compute, and what a spawned one imports."""

import multiprocessing.spawn
import os
import subprocess
import sys
from types import ModuleType

import psutil
import pytest
from distributed import LocalCluster

from probe.errors import SettingsError
from probe.runs.dispatch import Workers, without_main, worker_count


def test_the_number_of_processes_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_WORKERS", "3")
    assert worker_count() == 3


def test_without_a_setting_half_of_the_cores_compute_and_at_least_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NLI_CLINIC_WORKERS", raising=False)
    found = []
    for cores in (1, 2, 3, 8):
        monkeypatch.setattr("probe.runs.dispatch.CPU_COUNT", cores)
        found.append(worker_count())
    assert found == [1, 1, 1, 4]


@pytest.mark.parametrize("wanted", ["0", "-1", "two", "1.5"])
def test_a_wrong_number_of_processes_is_refused(
    wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_WORKERS", wanted)
    with pytest.raises(SettingsError, match=f"NLI_CLINIC_WORKERS is '{wanted}'"):
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


def test_the_cluster_in_this_process_listens_nowhere() -> None:
    before = listening()
    cluster = Workers(None, in_process=True)
    assert cluster.connect() is not None
    opened = listening() - before
    cluster.close()
    assert opened == set()


def test_nobody_without_the_certificate_runs_code_in_a_cluster_of_our_own() -> None:
    before = listening()
    cluster = Workers(None)
    client = cluster.connect()
    assert client is not None
    assert client.submit(os.getppid).result(timeout=60) == os.getpid()
    opened = listening() - before
    ran_in = intrude(opened)
    cluster.close()
    assert ran_in == ""
    assert {host for host, _ in opened} == {"127.0.0.1"}
    assert len(opened) == 3  # scheduler, nanny and worker; no web page of theirs


def test_an_intruder_runs_code_in_a_cluster_without_certificates() -> None:
    with LocalCluster(n_workers=1, processes=False, host="tcp://127.0.0.1") as cluster:
        host, port = cluster.scheduler_address.removeprefix("tcp://").split(":")
        assert intrude({(host, int(port))}) == str(os.getpid())


def intrude(ports: set[tuple[str, int]]) -> str:
    """Return in which processes another one could run its code through these ports."""
    command = [
        sys.executable,
        "-m",
        "tests.support.processes.intruder",
        *(f"{h}:{p}" for h, p in ports),
    ]
    output = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return output.stdout.strip()


def listening() -> set[tuple[str, int]]:
    """Return where this process and its children listen."""
    process = psutil.Process()
    connections = [
        connection
        for one in (process, *process.children(recursive=True))
        for connection in one.net_connections()
    ]
    return {(it.laddr.ip, it.laddr.port) for it in connections if it.status == psutil.CONN_LISTEN}
