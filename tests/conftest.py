"""The app, started once as a person starts it, for the tests that use it from outside."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["tests.support.fixtures", "tests.support.processes.hub"]
ROOT = Path(__file__).resolve().parent.parent
MAX_START_SECONDS = 180  # on a busy machine
MAX_SESSIONS = 20  # few, so that tests see pages whose session was dropped


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that ask the running app."""
    for item in items:
        if "app" in getattr(item, "fixturenames", ()):
            item.add_marker("app")


@dataclass(frozen=True)
class App:
    """Where the app answers, the folder it writes to, the hosts it tried to reach."""

    url: str
    home: Path
    network_log: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Run `python app.py` cut off from the network."""
    home = tmp_path_factory.mktemp("home")
    log, port = home / "network.log", free_port()
    log.touch()
    environment = os.environ | {
        "NLI_CLINIC_HOME": str(home),
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_TEMP_DIR": str(home / "gradio"),
        "NETWORK_LOG": str(log),
        "PYTHONPATH": str(ROOT / "tests" / "support" / "guard"),
        "OMP_NUM_THREADS": "1",
        "NLI_CLINIC_MAX_SESSIONS": str(MAX_SESSIONS),
    }
    with (home / "app.log").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
        try:
            url = f"http://127.0.0.1:{port}/"
            wait_for(url, process, home / "app.log")
            yield App(url, home, log)
        finally:
            process.terminate()
            process.wait(30)
    asked = log.read_text()
    assert not asked, f"the app asked for other hosts than this one:\n{asked}"


def wait_for(url: str, process: "subprocess.Popen[Any]", log: Path) -> None:
    until = time.monotonic() + MAX_START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"the app ended at its start:\n{log.read_text()}")
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.3)
    raise RuntimeError(f"the app did not start in {MAX_START_SECONDS} s:\n{log.read_text()}")
