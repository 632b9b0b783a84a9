"""A data set of the hub keeps its name in the command that repeats a run of the page."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from finetune.trials.generalisation_plan import FILE
from finetune.ui.generalise.form import Form as GeneraliseForm
from finetune.ui.generalise.form import request_of
from finetune.ui.inoculate.api import STANDARD_LIMITS
from finetune.ui.inoculate.plan_form import UPLOADS, Form, sources_of
from probe.data.hub_dataset import fetch, read_reference
from tests.support.files.pair_files import PAIRS, row
from tests.support.processes.hub import COMMIT, Hub, ServedDataset

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
    form = Form(
        ["minilm"], ["negation"], "5,10", "2e-5", "0", "fast", 10, 5, None, False, STANDARD_LIMITS
    )
    given = tuple(fetched if option == "challenge-file" else None for option in UPLOADS)
    assert sources_of(replace(form, files=given))["challenge-file"] == NAME


def test_a_generalisation_among_its_rows_names_it(fetched: str) -> None:
    form = GeneraliseForm("minilm", FILE, "", sizes="8", seeds="0", lrs="1e-3")
    request = request_of(replace(form, file=fetched, column="kind"))
    assert request.artefacts["sources"] == {"challenge-file": NAME, "condition": "kind"}
