"""What is loaded when a command or a worker starts, in processes of their own."""

import json
import subprocess
import sys

import pytest

from tests.support.checkout import ROOT


def printed(code: str) -> str:
    """Return what a new process prints, which says nothing else."""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


@pytest.fixture(scope="module")
def worker() -> list[list[str]]:
    """The modules of a process after it loaded a worker, and after it loaded what that computes."""
    found: list[list[str]] = json.loads(
        printed(
            "import json, sys, probe.runs.worker\n"
            "first = list(sys.modules)\n"
            "import finetune.trials.generalisation\n"
            "import finetune.trials.inoculation\n"
            "import finetune.trials.trial, finetune.training.checkpoints\n"
            "trained = list(sys.modules)\n"
            "import probe.checkup.experiment\n"
            "print(json.dumps([first, trained, list(sys.modules)]))"
        )
    )
    return found


SLOW = [
    "torch",
    "transformers",
    "captum",
    "nltk",
    "scipy",
    "statsmodels",
    "sklearn",
]
HELP = """
import sys
import finetune.__main__, nli_clinic, probe.__main__
from typer.testing import CliRunner
helps = [CliRunner().invoke(m.app, ["--help"]).exit_code
         for m in (nli_clinic, probe.__main__, finetune.__main__)]
print(helps, [name for name in {} if name in sys.modules])
"""
COMMANDS = """
import json, sys
import finetune.cli.main, probe.cli.main
from importlib import import_module
for place in (probe.cli.main.COMMANDS | finetune.cli.main.COMMANDS).values():
    import_module(place.split(":")[0])
finetune.cli.main.main()
from probe.runs.experiment import EXPERIMENTS
print(json.dumps([list(EXPERIMENTS), "gradio" in sys.modules]))
"""


def test_help_is_shown_without_what_loads_slowly() -> None:
    slow = [*SLOW, "gradio", "pandas", "distributed", "sqlalchemy", "pydantic"]
    assert printed(HELP.format(slow)) == "[0, 0, 0] []\n"


def test_the_commands_need_no_gradio_and_know_the_experiments() -> None:
    kinds = ("checkup", "scoring", "inoculation", "generalisation", "calibration", "mitigation")
    assert json.loads(printed(COMMANDS)) == [[*kinds, "transfer"], False]


def test_a_worker_starts_without_torch(worker: list[list[str]]) -> None:
    assert "torch" not in worker[0]


def test_a_worker_s_code_imports_neither_page_nor_store(worker: list[list[str]]) -> None:
    heavy = {"gradio", "sqlalchemy", "pandas", "scipy.stats", "nltk"}
    assert heavy & set(worker[1]) == set()
    # a check-up reads slices of examples as Compare does, with pandas
    assert (heavy - {"pandas"}) & set(worker[2]) == set()


def test_the_page_is_laid_out_without_what_loads_slowly() -> None:
    code = "import sys\nfrom app import TABS\nprint([name for name in {} if name in sys.modules])"
    assert printed(code.format(SLOW)) == "[]\n"


FIRST_IMPORTS = """
import sys
from threading import Barrier, Thread
from app import TABS
from probe.statistics import Share
from probe.models.classifier import resolve
from probe.models.library import load
from probe.text.words import tokenise
from probe.text.wordnet import _nltk_data
uses = [lambda: load("da"), lambda: resolve("auto"), lambda: tokenise("A man"), _nltk_data,
        lambda: Share(1, 2).estimate()]
together = Barrier(len(uses))
threads = [Thread(target=lambda use=use: (together.wait(), use())) for use in uses]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("torch" in sys.modules and "nltk" in sys.modules)
"""


@pytest.mark.slow  # loads torch and WordNet anew
def test_threads_that_begin_together_import_whole_packages() -> None:
    assert printed(FIRST_IMPORTS) == "True\n"
