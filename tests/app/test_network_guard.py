"""The guard that keeps the app from the network notes what it keeps it from."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

CODE = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"


def test_a_host_that_is_asked_for_is_refused_and_noted(tmp_path: Path) -> None:
    log = tmp_path / "network.log"
    guard = {"NETWORK_LOG": str(log), "PYTHONPATH": str(ROOT / "tests" / "support" / "guard")}
    ended = subprocess.run([sys.executable, "-c", CODE], env=os.environ | guard, check=False)
    assert ended.returncode != 0
    assert "192.0.2.1" in log.read_text()
