"""The files of a run may be data sets of the hub; a run keeps the commit that they came from."""

from pathlib import Path

import pandas as pd

from finetune.cli.trials import local_files
from finetune.trials.challenges import UserFiles, read_source_data, sources_of
from probe.tasks.nli import NLI
from tests.support.files.pair_files import PAIRS, row
from tests.support.processes.hub import COMMIT, Hub, ServedDataset

REFERENCE = "hub:owner/set:dev"


def serve(hub: Hub, folder: Path) -> None:
    folder.mkdir()
    pd.DataFrame([row(pair) for pair in PAIRS]).to_parquet(folder / "dev.parquet")
    configs = [{"config_name": "default", "data_files": [{"split": "dev", "path": "dev.parquet"}]}]
    hub.datasets["owner/set"] = ServedDataset(folder, card={"configs": configs})


def test_a_file_of_the_hub_is_read_as_one_of_this_disk(hub: Hub, tmp_path: Path) -> None:
    serve(hub, tmp_path / "set")
    files = local_files(UserFiles(original=Path(REFERENCE)))
    data = read_source_data(files, NLI)
    assert len(data.dev) + len(data.test) == 30


def test_a_run_keeps_the_commit_and_the_names_of_other_files(hub: Hub, tmp_path: Path) -> None:
    serve(hub, tmp_path / "set")
    named = UserFiles(original=Path(REFERENCE), pool=Path("mine/pool.csv"))
    assert sources_of(local_files(named)) == {
        "original": f"hub:owner/set@{COMMIT}:default/dev",
        "pool": "pool.csv",
    }
