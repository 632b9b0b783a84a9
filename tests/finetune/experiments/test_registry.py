"""Whoever starts the program knows its experiments."""

import subprocess
import sys
from pathlib import Path

from finetune.experiments.registry import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[3]


def test_inoculation_is_an_experiment() -> None:
    assert list(EXPERIMENTS) == ["inoculation"]


def test_the_console_command_knows_the_experiments() -> None:
    code = (
        "import nli_clinic\n"  # which holds the commands of `python -m finetune` too
        "from finetune.experiments.registry import EXPERIMENTS as ours\n"
        "from probe.runs.experiment import EXPERIMENTS as known\n"
        "print(*known)\n"
        "assert known == ours"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr) == ("inoculation\n", "")


def test_a_worker_s_code_imports_neither_page_nor_store() -> None:
    heavy = {"gradio", "sqlalchemy", "pandas", "scipy.stats", "nltk", "altair"}
    code = (
        "import sys, probe.runs.worker, finetune.experiments.inoculation.serialise\n"
        f"print(*sorted({heavy} & set(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr) == ("\n", "")


def test_a_worker_starts_without_torch() -> None:
    code = "import sys, probe.runs.worker; print('torch' in sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr) == ("False\n", "")
