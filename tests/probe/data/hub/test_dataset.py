"""The hub's data sets: which files are a split, what is fetched, and what their labels mean."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probe.cli.file_options import local_file
from probe.data.file_options import FileOptions
from probe.data.hub_dataset import HubDataset, fetch, read_reference, source_name
from probe.data.names import is_reference
from probe.data.reading import in_words, labelled, reading_of
from probe.data.rows import read_rows
from probe.data.source import read_table
from probe.errors import FileError, FileQuestion, LimitError
from probe.limits import Bounds
from probe.tasks.nli import NLI
from tests.support.cases import each
from tests.support.commands import run
from tests.support.processes.hub import COMMIT, CONVERTED, TOKEN, Broken, Hub, ServedDataset

NAMES = ["contradiction", "neutral", "entailment"]
"""Another order than the convention of the task's data sets."""


def write(path: Path, labels: list[int], names: list[str] | None = None) -> Path:
    """Write a pair for each label; the file itself names the classes where names are given."""
    texts = [f"Text {number}." for number in range(len(labels))]
    table = pa.table({"premise": texts, "hypothesis": texts, "label": labels})
    if names:
        features = {"label": {"names": names, "_type": "ClassLabel"}}
        info = json.dumps({"info": {"features": features}})
        table = table.replace_schema_metadata({"huggingface": info})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    return path


@pytest.fixture
def served(hub: Hub, tmp_path: Path) -> ServedDataset:
    """owner/set: two splits, train of two files, with the names of classes in them."""
    folder = tmp_path / "set"
    write(folder / "data" / "train-00000-of-00002.parquet", [0, 1], NAMES)
    write(folder / "data" / "train-00001-of-00002.parquet", [2], NAMES)
    write(folder / "data" / "validation-00000-of-00001.parquet", [2, -1], NAMES)
    hub.datasets["owner/set"] = ServedDataset(folder)
    return hub.datasets["owner/set"]


def fetched(text: str, folder: Path) -> Path:
    return fetch(read_reference(text), folder).path


def sentence(text: str, folder: Path) -> str:
    with pytest.raises(FileError) as caught:
        fetched(text, folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


REFERENCES = {
    "hub:owner/set": HubDataset("owner/set"),
    "hub:owner/set:test": HubDataset("owner/set", None, "", "test"),
    "hub:glue:mnli/test": HubDataset("glue", None, "mnli", "test"),
    "hub:owner/set@v1:a/b": HubDataset("owner/set", "v1", "a", "b"),
    "hub:o/s@refs/pr/3:b": HubDataset("o/s", "refs/pr/3", "", "b"),
}


def test_a_reference_is_read_and_written_and_a_wrong_one_says_how() -> None:
    for text, meant in REFERENCES.items():
        assert (read_reference(Path(text)), str(meant)) == (meant, text)
    for text in ("hub:", "hub:a/b:", "hub:a/b:c/d/e", "hub:a/b@", "hub:a:b:c"):
        with pytest.raises(FileError, match="names no data set of the hub; write hub:OWNER/NAME, "):
            read_reference(text)
    assert not is_reference(Path("hub/pairs.csv"))


def golds(path: Path) -> list[str | None]:
    table = read_table(path)
    columns = reading_of(table, path, NLI).settled
    return [row.example.gold for row in read_rows(table, columns, NLI) if row.example]


def test_a_split_is_one_table_with_its_commit_and_what_its_labels_mean(
    hub: Hub, served: ServedDataset, tmp_path: Path
) -> None:
    path = fetched("hub:owner/set:validation", tmp_path)
    assert hub.fetched == ["data/validation-00000-of-00001.parquet"]
    read = reading_of(read_table(path), path, NLI).values
    assert [(each.value, each.reading) for each in read.values] == [
        ("2", "class"),
        ("-1", "disputed"),
    ]
    assert in_words(read).startswith("gold labels are read: 2 as entailment (1)")
    assert [pair.gold for pair in labelled(path, NLI).examples] == ["entailment"]
    found = fetch(read_reference("hub:owner/set:train"), tmp_path)
    assert str(found.source) == f"hub:owner/set@{COMMIT}:default/train"
    assert fetch(found.source, tmp_path).source == found.source
    assert found.path.name == "set-train.parquet"
    assert list(read_table(found.path).frame["label"]) == [0, 1, 2]
    assert golds(found.path) == NAMES


def test_data_sets_of_one_name_stay_apart(hub: Hub, served: ServedDataset, tmp_path: Path) -> None:
    """The one is a second name of a cached file, through which the other must not be written."""
    for part in (1, 2):
        write(tmp_path / "theirs" / "data" / f"validation-0000{part}-of-00002.parquet", [0], NAMES)
    hub.datasets["other/set"] = ServedDataset(tmp_path / "theirs")
    mine, theirs = (Path(f"hub:{owner}/set:validation") for owner in ("owner", "other"))
    ours = local_file(mine)
    assert local_file(theirs) != ours
    assert list(read_table(ours).frame["label"]) == [2, -1]
    one = fetched(str(mine), tmp_path / "out")
    assert fetched(str(theirs), tmp_path / "out") == one
    assert list(read_table(one).frame["label"]) == [0, 0]
    assert list(read_table(fetched(str(mine), tmp_path / "again")).frame["label"]) == [2, -1]


def test_the_card_says_which_files_are_which_and_what_their_labels_mean(
    hub: Hub, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    for name in ("easy/a.parquet", "hard/one.parquet", "hard/two.parquet"):
        write(folder / name, [len(name)])
    configs = [
        {"config_name": "easy", "data_files": "easy/*"},
        {"config_name": "hard", "data_files": [{"split": "dev", "path": ["hard/t*"]}]},
    ]
    hub.datasets["owner/set"] = ServedDataset(folder, card={"configs": configs})
    assert list(read_table(fetched("hub:owner/set:hard/dev", tmp_path)).frame["label"]) == [16]
    assert fetched("hub:owner/set:easy/train", tmp_path).name == "set-easy-train.parquet"
    write(tmp_path / "named" / "train.parquet", [0, 2])
    label = {"class_label": {"names": {str(n): name for n, name in enumerate(NAMES)}}}
    features = [{"name": "premise", "dtype": "string"}, {"name": "label", "dtype": label}]
    card = {"dataset_info": {"features": features}}
    hub.datasets["owner/named"] = ServedDataset(tmp_path / "named", card=card)
    path = fetched("hub:owner/named", tmp_path)
    assert golds(path) == ["contradiction", "entailment"]
    assert list(read_table(path).frame["label"]) == [0, 2]  # the cells stay numbers
    refused = {
        "hub:owner/set:dev": "say which configuration of the data set 'owner/set'; it has: easy, "
        "hard",
        "hub:owner/set:odd/dev": "the data set 'owner/set' has no configuration 'odd'; it has: "
        "easy, hard",
    }
    assert {text: sentence(text, tmp_path) for text in refused} == refused


@pytest.fixture
def converted(hub: Hub, tmp_path: Path) -> ServedDataset:
    """owner/lines: JSON lines of which the hub has made Parquet."""
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "train.jsonl").write_text("{}\n")
    write(tmp_path / "made" / "plain" / "train" / "0000.parquet", [1], NAMES)
    hub.datasets["owner/lines"] = ServedDataset(tmp_path / "lines", tmp_path / "made")
    return hub.datasets["owner/lines"]


def test_the_hub_s_conversion_is_read_where_there_is_no_parquet(
    converted: ServedDataset, tmp_path: Path
) -> None:
    found = fetch(read_reference("hub:owner/lines"), tmp_path)
    assert found.source == HubDataset("owner/lines", CONVERTED, "plain", "train")
    lacking = "the data set 'owner/lines' has no Parquet files"
    named = sentence(f"hub:owner/lines@{COMMIT}", tmp_path)
    assert named == f"{lacking} in its revision '{COMMIT}'"
    converted.converted = None
    assert sentence("hub:owner/lines", tmp_path) == f"{lacking}, and the hub has made none of it"


@each("name", ["owner/lines:plain/train", "owner/lines:default/train", "owner/set:train"])
def test_by_the_name_that_a_result_has_the_same_is_fetched_again(
    converted: ServedDataset, served: ServedDataset, tmp_path: Path, name: str
) -> None:
    assert converted.converted
    write(converted.converted / "default" / "train" / "0000.parquet", [2], NAMES)
    first = fetch(read_reference(f"hub:{name}"), tmp_path / "here")
    named = source_name(first.path)
    again = fetch(read_reference(named), tmp_path / "elsewhere")
    assert (again.source, source_name(again.path)) == (first.source, named)
    assert again.path.read_bytes() == first.path.read_bytes()


def test_what_cannot_be_fetched_is_said(hub: Hub, served: ServedDataset, tmp_path: Path) -> None:
    refused = {
        "hub:owner/set": "say which split of the data set 'owner/set'; it has: train, validation",
        "hub:owner/set:test": "the data set 'owner/set' has no split 'test'; it has: train, "
        "validation",
        "hub:owner/none": "the hub has no data set 'owner/none', or it is private and needs "
        "HF_TOKEN",
        "hub:owner/set@v9:train": "the data set 'owner/set' has no revision 'v9'",
        "hub:owner/gated": "the data set 'owner/gated' is gated: agree to its terms, and set "
        "HF_TOKEN",
    }
    assert {text: sentence(text, tmp_path) for text in refused} == refused
    assert sentence("hub:a b:train", tmp_path).startswith("'a b' is no name of a data set; ")
    with pytest.raises(LimitError, match="more than 1 rows"):
        fetch(read_reference("hub:owner/set:train"), tmp_path, Bounds(max_rows=1))
    assert not (tmp_path / "set-train.parquet").exists()
    write(tmp_path / "odd" / "data" / "train-0.parquet", [0])
    pq.write_table(pa.table({"other": [1]}), tmp_path / "odd" / "data" / "train-1.parquet")
    hub.datasets["owner/odd"] = ServedDataset(tmp_path / "odd")
    misfit = "the files of odd-train.parquet do not fit together: "
    assert sentence("hub:owner/odd", tmp_path).startswith(misfit)
    hub.fetched.clear()
    with (served.files / "data" / "validation-00000-of-00001.parquet").open("ab") as file:
        file.truncate(3_000_000)
    with pytest.raises(LimitError, match="larger than 2 megabytes"):
        fetch(read_reference("hub:owner/set:validation"), tmp_path, Bounds(max_unpacked_mb=2))
    assert hub.fetched == []
    hub.server.RequestHandlerClass = Broken
    assert sentence("hub:owner/set", tmp_path) == (
        "the hub cannot be reached from here, and the data set 'owner/set' cannot be looked up; "
        "try again where there is a network, or give its file instead"
    )


def test_a_public_app_asks_without_its_owner_s_token(
    hub: Hub, served: ServedDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    fetched("hub:owner/set:train", tmp_path)
    assert set(hub.asked) == {f"Bearer {TOKEN}"}
    hub.asked.clear()
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "1")
    fetched("hub:owner/set:train", tmp_path)
    assert set(hub.asked) == {None}
    assert (tmp_path / "home" / "hub" / "datasets--owner--set").is_dir()
    assert sentence("hub:owner/none", tmp_path) == "the hub has no open data set 'owner/none'"


def test_a_class_that_the_task_does_not_know_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.parquet", [0, 1], ["sport", "neutral"])
    table = read_table(path)
    with pytest.raises(FileQuestion, match=r"holds '0' \(1 row\), and nothing tells"):
        _ = reading_of(table, path, NLI).settled
    columns = reading_of(table, path, NLI, FileOptions(values={"0": "none"})).settled
    assert [row.example.gold for row in read_rows(table, columns, NLI)] == [None, "neutral"]


def test_a_command_takes_a_data_set_where_it_takes_a_file(
    hub: Hub, served: ServedDataset, model: str, tmp_path: Path
) -> None:
    out = tmp_path / "scored.csv"
    ended = run("batch", "hub:owner/set:train", "--model", model, "--out", str(out))
    assert ended.exit_code == 0, ended.output
    told = f"fetched: owner/set, configuration default, split train, revision {COMMIT[:12]}"
    assert told in ended.stderr and "2 as entailment (1)" in ended.stderr
    assert list(pd.read_csv(out)["label"]) == [0, 1, 2]
    ended = run("batch", "hub:owner/none", "--model", model, "--out", str(out))
    assert ended.exit_code == 2
    assert ended.stderr.startswith("error: the hub has no data set 'owner/none'")
