"""What the app costs while nobody uses it: processor seconds in a minute, its workers included.

    python -m benchmarks.page.idle [--root CHECKOUT] [--wait 140]

Once after a fresh start and once some seconds after a run has finished. `--root` measures another
checkout of the app, to be compared with this one.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Annotated

import psutil
import typer
from gradio_client import Client

from benchmarks.page.app_process import ROOT

MINUTE = 60.0
QUIET_SECONDS, QUIET_SHARE = 5.0, 0.05
"""The app has loaded its model once it takes less than that share of a core for so long."""


def cpu_seconds(process: psutil.Process) -> float:
    """Return the processor seconds of a process and its children."""
    family = [process, *process.children(recursive=True)]
    return sum(sum(one.cpu_times()[:2]) for one in family)


def of_a_minute(process: psutil.Process) -> float:
    """Return the processor seconds of the next minute."""
    before = cpu_seconds(process)
    time.sleep(MINUTE)
    return cpu_seconds(process) - before


def settle(process: psutil.Process) -> None:
    """Wait until the app has loaded what it loads behind its page."""
    used = QUIET_SECONDS
    while used > QUIET_SHARE * QUIET_SECONDS:
        before = cpu_seconds(process)
        time.sleep(QUIET_SECONDS)
        used = cpu_seconds(process) - before


def start(root: Path, home: str, port: int) -> psutil.Popen:
    """Start the app and wait until it answers."""
    environment = {**os.environ, "NLI_CLINIC_HOME": home, "GRADIO_SERVER_PORT": str(port)}
    quiet = subprocess.DEVNULL
    app = psutil.Popen(
        [str(root / ".venv" / "bin" / "python"), "app.py"],
        cwd=root,
        env=environment,
        stdout=quiet,
        stderr=quiet,
    )
    while not any(it.status == psutil.CONN_LISTEN for it in app.net_connections()):
        if app.poll() is not None:
            raise RuntimeError("the app ended at its start")
        time.sleep(0.5)
    return app


def finish_a_run(port: int) -> None:
    """Start a small run over HTTP and wait for its end."""
    client = Client(f"http://127.0.0.1:{port}/", verbose=False)
    begun = client.predict("da", "negation", "5", "4e-4", "0", api_name="/inoculate")
    own = (begun["run"], begun["owner"])
    while client.predict(*own, api_name="/run")["state"] in ("queued", "running"):
        time.sleep(0.5)
    client.close()


def main(
    root: Annotated[Path, typer.Option(help="A checkout with its environment.")] = ROOT,
    wait: Annotated[float, typer.Option(help="Seconds after the end of the run.")] = 140.0,
    port: int = 7899,
) -> None:
    """Print the processor seconds of an idle minute, fresh and after a run."""
    with tempfile.TemporaryDirectory() as home:
        app = start(root, home, port)
        try:
            settle(app)
            print(f"fresh: {of_a_minute(app):.2f} s of 60", flush=True)
            finish_a_run(port)
            time.sleep(wait)
            print(f"{wait:.0f} s after a run: {of_a_minute(app):.2f} s of 60", flush=True)
        finally:
            for one in [*app.children(recursive=True), app]:
                one.kill()
            app.wait()


if __name__ == "__main__":
    typer.run(main)
