"""The wheel, installed elsewhere and used from another folder, cut off from the network."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

    def start(self, *words: str, **options: Any) -> "subprocess.Popen[str]":
        """Call `nli-clinic` as a person does: no setting of ours, no network."""
        others = {k: v for k, v in os.environ.items() if not k.startswith("NLI_CLINIC_")}
        places = (self.site, ROOT / "tests" / "support" / "guard")
        environment = others | {
            "PYTHONPATH": os.pathsep.join(map(str, places)),
            "NETWORK_LOG": str(self.network_log),
            "XDG_DATA_HOME": str(self.work / "data"),
            "OMP_NUM_THREADS": "1",
            **options.pop("env", {}),
        }
        command = [sys.executable, str(self.site / "bin" / "nli-clinic"), *words]
        return subprocess.Popen(command, cwd=self.work, env=environment, text=True, **options)

    def run(self, *words: str) -> tuple[int, str, str]:
        """Return the code with which a command ends and what it says."""
        process = self.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate()
        assert self.network_log.read_text() == ""
        return process.returncode, out, err

    def done(self, *words: str) -> str:
        """Return what a command says that ends well."""
        code, out, err = self.run(*words)
        assert code == 0, err
        return out


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


def test_the_wheel_is_small_enough_and_brings_all_models_and_no_tests(installed: Installed) -> None:
    assert installed.wheel.stat().st_size < MAX_WHEEL_BYTES
    models = installed.site / "probe" / "assets" / "models"
    assert {path.parent.name for path in models.glob("*/config.json")} == BUNDLED
    rows = json.loads(installed.done("models", "--json"))
    assert {row["name"] for row in rows if row["source"] == "bundled"} == BUNDLED
    names = {path.name for path in installed.site.iterdir() if path.suffix != ".dist-info"}
    ours = {"app.py", "bin", "finetune", "nli_clinic.py", "probe"}
    assert names - {"__pycache__"} == ours


def test_a_file_is_scored_from_another_folder_and_a_mistake_is_one_sentence(
    installed: Installed,
) -> None:
    settings = json.loads(installed.done("settings", "--json"))
    assert settings["assets"] == str(installed.site / "probe" / "assets")
    assert settings["NLI_CLINIC_HOME"] == str(installed.work / "data" / "nli-clinic")
    pairs = installed.site / "probe" / "assets" / "examples" / "pairs.csv"
    installed.done("batch", str(pairs), "--out", "scored.csv", "--transforms", "sort")
    frame = pd.read_csv(installed.work / "scored.csv")
    assert len(frame) == len(pd.read_csv(pairs))
    assert frame["prediction"].notna().all()
    wrong = installed.run("pair", "--premise", "A.", "--hypothesis", "B.", "--model", "minilmm")
    assert wrong[:2] == (2, "")
    assert wrong[2].startswith("error: there is no model or folder called 'minilmm'")


def test_a_model_is_inoculated_by_worker_processes(installed: Installed) -> None:
    words = ["--model", "da", "--challenge", "negation", "--sizes", "5", "--max-epochs", "1"]
    installed.done("inoculate", *words, "--out", "inoculated")
    points = pd.read_csv(installed.work / "inoculated" / "points.csv")
    assert list(points["size"]) == [0, 5]
    (run,) = json.loads(installed.done("runs", "--json"))
    assert run["state"] == "done"
    home = installed.work / "data" / "nli-clinic"
    assert (home / "runs.sqlite").is_file() and list((home / "models").iterdir())


def test_the_page_is_served(installed: Installed) -> None:
    port, log = free_port(), installed.work / "app.log"
    environment = {"GRADIO_SERVER_PORT": str(port)}
    with log.open("w") as output:
        process = installed.start("serve", env=environment, stdout=output, stderr=output)
        try:
            wait_for(f"http://127.0.0.1:{port}/", process, log)
        finally:
            process.terminate()
            process.wait(30)
    assert installed.network_log.read_text() == ""
