"""A cluster whose machines know each other by certificates, as ENGINE names it."""

import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.page.app_process import APP, process
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan, run_request
from probe.errors import SettingsError
from probe.runs.dispatch import Workers
from probe.runs.run import ended
from probe.runs.store import Store
from tests.conftest import free_port
from tests.support.checkout import text
from tests.support.waiting import until

TLS = "DASK_DISTRIBUTED__COMM__TLS__"


def test_an_encrypted_cluster_without_certificates_is_refused() -> None:
    with pytest.raises(SettingsError, match=f"set {TLS}CA_FILE and {TLS}CLIENT__CERT and "):
        Workers("tls://127.0.0.1:8786")


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
        tried = subprocess.run(
            [sys.executable, "-m", "tests.support.processes.intruder", address],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
    assert (run.state, run.error, len(run.results)) == ("done", "", 2)
    assert tried.stdout.strip() == ""
