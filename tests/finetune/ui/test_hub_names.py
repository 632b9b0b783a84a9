"""A data set of the hub keeps its name in the command that repeats a run of the page."""

from pathlib import Path

import pandas as pd
import pytest

from finetune.trials.challenges import sources_of
from finetune.trials.generalisation import FILE
from finetune.ui.generalise.form import requests
from finetune.ui.inoculate.plan_form import choices
from probe.data.hub_dataset import fetch, read_reference
from tests.support.files.pair_files import PAIRS, row
from tests.support.processes.hub import COMMIT, Hub, ServedDataset
from tests.support.runs.forms import inoculate_values

NAME = f"hub:owner/set@{COMMIT}:default/test"


@pytest.fixture
def fetched(hub: Hub, tmp_path: Path) -> str:
    """The place of a fetched data set."""
    rows = [{**row(pair), "kind": str(number % 2)} for number, pair in enumerate(PAIRS)]
    (tmp_path / "set").mkdir()
    pd.DataFrame(rows).to_parquet(tmp_path / "set" / "test.parquet")
    hub.datasets["owner/set"] = ServedDataset(tmp_path / "set")
    return str(fetch(read_reference("hub:owner/set"), tmp_path / "visitor").path)


def test_an_inoculation_against_one_names_it(fetched: str) -> None:
    (chosen,) = choices(*inoculate_values(challenge_file=fetched))
    assert sources_of(chosen.files)["challenge-file"] == NAME


def test_a_generalisation_among_its_rows_names_it(fetched: str) -> None:
    values = ["minilm", FILE, fetched, "kind", None, ["8"], 1, "1e-3", "fast", 10]
    (request,) = requests(*values)
    assert request.artefacts["sources"] == {"challenge-file": NAME, "condition": "kind"}
