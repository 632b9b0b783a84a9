"""The files of a run may be data sets of the hub; a run keeps the commit that they came from."""

from pathlib import Path

import pandas as pd

from finetune.cli.trials import local_files
from finetune.trials.challenges import UserFiles, read_source_data, sources_of
from probe.tasks.nli import NLI
from tests.support.files.pair_files import PAIRS, row
from tests.support.processes.hub import COMMIT, Hub, ServedDataset

REFERENCE = "hub:owner/set:dev"


def test_a_file_of_the_hub_is_read_as_one_of_this_disk_and_its_commit_kept(
    hub: Hub, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    pd.DataFrame([row(pair) for pair in PAIRS]).to_parquet(folder / "dev.parquet")
    configs = [{"config_name": "default", "data_files": [{"split": "dev", "path": "dev.parquet"}]}]
    hub.datasets["owner/set"] = ServedDataset(folder, card={"configs": configs})
    data = read_source_data(local_files(UserFiles(original=Path(REFERENCE))), NLI)
    assert len(data.dev) + len(data.test) == 30
    named = UserFiles(original=Path(REFERENCE), pool=Path("mine/pool.csv"))
    sources = {"original": f"hub:owner/set@{COMMIT}:default/dev", "pool": "pool.csv"}
    assert sources_of(local_files(named)) == sources
