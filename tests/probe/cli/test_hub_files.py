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


def test_a_data_set_of_the_hub_is_read_and_named_with_its_commit(
    model: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    drawn = ("--model", model, "--each", "2", "--transforms", "sort", "--out", str(out))
    for words, rows in (
        (("compare", NAME, "--model", model, "--model", "da", "--out", str(out)), len(PAIRS)),
        (("annotate", "draw", "--file", NAME, *drawn), 9),
    ):
        ended = run(*words)
        assert ended.exit_code == 0, ended.output
        assert len(pd.read_csv(out)) == rows, words
    measured = run("rules", "majority", NAME, "--json")
    assert json.loads(measured.stdout)["n"] == len(PAIRS), measured.output
    path = local_file(Path(NAME))
    assert len(labelled(path, NLI).examples) == len(PAIRS)
    assert source_name(path) == f"hub:owner/pairs@{COMMIT}:default/test"


def test_models_are_compared_by_the_label_that_is_said_and_what_they_do_not_read_too(
    model: str, tmp_path: Path
) -> None:
    source = tmp_path / "in.csv"
    source.write_text(f"premise,hypothesis,label\nA man walks.,He moves{' on' * 600}.,oui\n")
    words = ("compare", str(source), "--label-value", "oui=neutral")
    ended = run(*words, "--model", "da", "--model", "minilm")
    assert ended.stdout.startswith("1 of 1 rows scored")
    cut = [line for line in ended.stderr.splitlines() if "longer than what" in line]
    assert cut == [
        f"note: 1 of 1 row is longer than what {name} reads, so that the end is cut."
        for name in ("da", "minilm")
    ]
