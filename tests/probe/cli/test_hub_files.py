"""Every command of probe that takes a file of examples takes a data set of the hub."""

import json
from pathlib import Path

import pandas as pd
import pytest

from probe.cli.file_options import local_file
from probe.data.hub_dataset import source_name
from probe.data.reading import labelled
from probe.tasks.nli import NLI
from tests.support.commands import run
from tests.support.files.pair_files import PAIRS, row
from tests.support.processes.hub import COMMIT, Hub, ServedDataset

NAME = "hub:owner/pairs:test"


@pytest.fixture(autouse=True)
def served(hub: Hub, tmp_path: Path) -> None:
    """Serve owner/pairs with thirty pairs."""
    (tmp_path / "pairs").mkdir()
    frame = pd.DataFrame([row(pair) for pair in PAIRS])
    frame.to_parquet(tmp_path / "pairs" / "test.parquet")
    hub.datasets["owner/pairs"] = ServedDataset(tmp_path / "pairs")


def test_models_are_compared_on_one(model: str, tmp_path: Path) -> None:
    out = tmp_path / "compared.csv"
    ended = run("compare", NAME, "--model", model, "--model", "da", "--out", str(out))
    assert ended.exit_code == 0, ended.output
    assert len(pd.read_csv(out)) == len(PAIRS)


def test_a_check_up_reads_one_and_names_its_commit() -> None:
    assert len(labelled(local_file(Path(NAME)), NLI).examples) == len(PAIRS)
    assert source_name(local_file(Path(NAME))) == f"hub:owner/pairs@{COMMIT}:default/test"


def test_a_rule_is_measured_on_one() -> None:
    ended = run("rules", "majority", NAME, "--json")
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["n"] == len(PAIRS)


def test_items_are_drawn_of_one(tmp_path: Path, model: str) -> None:
    out = tmp_path / "items.csv"
    asked = ["--model", model, "--each", "2", "--transforms", "sort", "--out", str(out)]
    ended = run("annotate", "draw", "--file", NAME, *asked)
    assert ended.exit_code == 0, ended.output
    assert {"A", "The"} & {text.split()[0] for text in pd.read_csv(out)["premise"]}
