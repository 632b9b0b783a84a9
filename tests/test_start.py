"""What is loaded when a command, the page or a worker starts, in processes of their own.

That of the page also holds docs/reference to the code.
"""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.checkout import ROOT

SLOW = {"torch", "transformers", "captum", "nltk", "scipy", "statsmodels", "sklearn"}
NOT_ON_THE_PAGE = SLOW | {"distributed", "dask", "charset_normalizer"}
COMMANDS = """
import json, sys
import finetune.__main__, nli_clinic, probe.__main__
from typer.testing import CliRunner
helps = [CliRunner().invoke(m.app, ["--help"]).exit_code
         for m in (nli_clinic, probe.__main__, finetune.__main__)]
helped = list(sys.modules)
import finetune.cli.trials
runs = "torch" in sys.modules
import finetune.cli.main, probe.cli.main
from importlib import import_module
for place in (probe.cli.main.COMMANDS | finetune.cli.main.COMMANDS).values():
    import_module(place.split(":")[0])
finetune.cli.main.main()
from probe.runs.experiment import EXPERIMENTS
print(json.dumps([helps, helped, list(EXPERIMENTS), runs or "gradio" in sys.modules]))
"""
PAGE = """
import json, sys
import app
app.register_experiments()
store = app.Store("sqlite://")
app.build_pages(app.places(), app.Core(app.ModelCache(), store, app.Engine(store)))
laid_out = list(sys.modules)
from documentation.__main__ import stale  # elsewhere other tests make up transforms
print(json.dumps([laid_out, stale()]))
"""
WORKER = """
import json, sys, probe.runs.worker
first = list(sys.modules)
import finetune.trials.generalisation
import finetune.trials.inoculation
import finetune.trials.trial, finetune.training.checkpoints
trained = list(sys.modules)
import probe.checkup.experiment
print(json.dumps([first, trained, list(sys.modules)]))
"""


def printed(code: str) -> Any:  # Any: JSON
    """Return what a new process prints, which says nothing else."""
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    return json.loads(ended.stdout)


def test_help_loads_nothing_slowly_and_the_commands_no_gradio_and_they_know_the_experiments() -> (
    None
):
    helps, helped, kinds, unwanted = printed(COMMANDS)
    slow = SLOW | {"gradio", "pandas", "distributed", "sqlalchemy", "pydantic"}
    assert (helps, slow & set(helped), unwanted) == ([0, 0, 0], set(), False)
    assert kinds == [
        *("checkup", "scoring", "inoculation", "generalisation", "calibration", "mitigation"),
        *("debiasing", "transfer"),
    ]


def test_the_page_is_laid_out_without_what_loads_slowly_and_the_reference_is_as_the_code_says() -> (
    None
):
    laid_out, stale = printed(PAGE)
    assert (NOT_ON_THE_PAGE & set(laid_out), stale) == (set(), [])


def test_a_worker_starts_without_torch_and_its_code_imports_neither_page_nor_store() -> None:
    first, trained, all_of_it = map(set, printed(WORKER))
    heavy = {"gradio", "sqlalchemy", "pandas", "scipy.stats", "nltk"}
    assert ({"torch"} & first, heavy & trained) == (set(), set())
    # a check-up reads slices of examples as Compare does, with pandas
    assert (heavy - {"pandas"}) & all_of_it == set()


SCORED = """
import gc, json, sys
from pathlib import Path
from tempfile import TemporaryDirectory
import probe.__main__
from typer.testing import CliRunner
with TemporaryDirectory() as folder:
    file = Path(folder) / "pairs.csv"
    file.write_text("premise,hypothesis,label\\nA man sleeps.,A man is awake.,contradiction\\n")
    asked = ["batch", str(file), "--out", str(file.with_name("scored.csv")), "--model", "da"]
    scored = CliRunner().invoke(probe.__main__.app, asked)
print(json.dumps([scored.exit_code, list(sys.modules), gc.isenabled()]))
"""


def test_a_file_is_scored_without_store_and_statsmodels_and_garbage_is_looked_for_again() -> None:
    scored, after, collects = printed(SCORED)
    assert (scored, collects) == (0, True)
    assert {"sqlalchemy", "distributed", "statsmodels", "nltk"} & set(after) == set()


FIRST_IMPORTS = """
import sys
from threading import Barrier, Thread
from app import PLACES
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
print("true" if {"torch", "nltk"} <= sys.modules.keys() else "false")
"""


@pytest.mark.slow  # loads torch and WordNet anew
def test_threads_that_begin_together_import_whole_packages() -> None:
    assert printed(FIRST_IMPORTS) is True
