"""The wheel, installed elsewhere and used from another folder, cut off from the network."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from probe.settings import ASSETS
from tests.conftest import free_port, wait_for

ROOT = Path(__file__).resolve().parent.parent
MAX_WHEEL_BYTES = 200_000_000  # what assets may weigh; PyPI asks for leave above 100 MB
BUNDLED = {path.parent.name for path in (ASSETS / "models").glob("*/config.json")}
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Installed:
    """Where the wheel lies and is installed, and the folder it is called from."""

    wheel: Path
    site: Path
    work: Path
    network_log: Path

    def command(self, *words: str) -> list[str]:
        """Return a call of `nli-clinic`."""
        return [sys.executable, str(self.site / "bin" / "nli-clinic"), *words]

    def environment(self) -> dict[str, str]:
        """Return the environment of a call: no setting of ours, no network."""
        guard = ROOT / "tests" / "support" / "guard"
        others = {k: v for k, v in os.environ.items() if not k.startswith("NLI_CLINIC_")}
        return others | {
            "PYTHONPATH": os.pathsep.join(map(str, (self.site, guard))),
            "NETWORK_LOG": str(self.network_log),
            "XDG_DATA_HOME": str(self.work / "data"),
            "OMP_NUM_THREADS": "1",
        }

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Call `nli-clinic` as a person does."""
        return subprocess.run(
            self.command(*words),
            cwd=self.work,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def json(self, *words: str) -> "dict[str, str] | list[dict[str, str]]":
        """Return the JSON that a command prints."""
        ended = self.run(*words, "--json")
        assert ended.returncode == 0, ended.stderr
        answer: dict[str, str] | list[dict[str, str]] = json.loads(ended.stdout)
        return answer


def pip(*words: str) -> None:
    quiet = ["-q", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", *words, *quiet], check=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build the wheel from this checkout and install it into an empty folder."""
    wheels, site, work = (tmp_path_factory.mktemp(name) for name in ("wheels", "site", "work"))
    offline = ["--no-deps", "--no-index"]
    pip("wheel", *offline, "--no-build-isolation", "-w", str(wheels), str(ROOT))
    (wheel,) = wheels.glob("*.whl")
    pip("install", *offline, "--target", str(site), str(wheel))
    (work / "network.log").touch()
    return Installed(wheel, site, work, work / "network.log")


def test_the_wheel_is_small_enough_and_brings_all_models(installed: Installed) -> None:
    assert installed.wheel.stat().st_size < MAX_WHEEL_BYTES
    models = installed.site / "probe" / "assets" / "models"
    assert {path.parent.name for path in models.glob("*/config.json")} == BUNDLED


def test_the_wheel_holds_the_code_and_no_tests(installed: Installed) -> None:
    names = {path.name for path in installed.site.iterdir()}
    metadata = {name for name in names if name.endswith(".dist-info")}
    assert names - metadata - {"__pycache__"} == {
        "app.py", "bin", "finetune", "nli_clinic.py", "probe"
    }  # fmt: skip


def test_assets_and_home_are_those_of_the_installation(installed: Installed) -> None:
    settings = installed.json("settings")
    assert isinstance(settings, dict)
    assert settings["assets"] == str(installed.site / "probe" / "assets")
    assert settings["NLI_CLINIC_HOME"] == str(installed.work / "data" / "nli-clinic")


def test_the_models_are_listed(installed: Installed) -> None:
    rows = installed.json("models")
    assert isinstance(rows, list)
    assert {row["name"] for row in rows if row["source"] == "bundled"} == BUNDLED


def test_a_file_is_scored_from_another_folder(installed: Installed) -> None:
    pairs = installed.site / "probe" / "assets" / "examples" / "pairs.csv"
    ended = installed.run("batch", str(pairs), "--out", "scored.csv", "--transforms", "sort")
    assert ended.returncode == 0, ended.stderr
    frame = pd.read_csv(installed.work / "scored.csv")
    assert len(frame) == len(pd.read_csv(pairs))
    assert frame["prediction"].notna().all()
    assert installed.network_log.read_text() == ""


def test_a_model_is_inoculated_by_worker_processes(installed: Installed) -> None:
    words = ["--model", "da", "--challenge", "negation", "--sizes", "5", "--max-epochs", "1"]
    ended = installed.run("inoculate", *words, "--out", "inoculated")
    assert ended.returncode == 0, ended.stderr
    points = pd.read_csv(installed.work / "inoculated" / "points.csv")
    assert list(points["size"]) == [0, 5]
    (run,) = installed.json("runs")
    assert isinstance(run, dict)
    assert run["state"] == "done"
    home = installed.work / "data" / "nli-clinic"
    assert (home / "runs.sqlite").is_file() and list((home / "models").iterdir())
    assert installed.network_log.read_text() == ""


def test_the_page_is_served(installed: Installed) -> None:
    port, log = free_port(), installed.work / "app.log"
    environment = installed.environment() | {"GRADIO_SERVER_PORT": str(port)}
    with log.open("w") as output:
        process = subprocess.Popen(
            installed.command("serve"),
            cwd=installed.work,
            env=environment,
            stdout=output,
            stderr=output,
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/", process, log)
        finally:
            process.terminate()
            process.wait(30)
    assert installed.network_log.read_text() == ""


def test_a_mistake_is_one_sentence(installed: Installed) -> None:
    ended = installed.run("pair", "--premise", "A.", "--hypothesis", "B.", "--model", "minilmm")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: there is no model or folder called 'minilmm'")
