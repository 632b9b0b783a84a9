"""What pressing "Fetch" shows: a hub's data set becomes the visitor's file."""

from pathlib import Path

import pandas as pd
import pytest

from probe.errors import FileError, LimitError
from probe.runs.store import Store
from probe.ui.api.files import fetch_for, is_open
from probe.ui.panels.hub_dataset import show, show_as
from probe.ui.visitors.visitor_files import read_upload
from tests.support.files.pair_files import PAIRS, row
from tests.support.pages.visitors import ME, YOU
from tests.support.processes.hub import COMMIT, Hub, ServedDataset


@pytest.fixture
def store(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty store, and owner/pairs with thirty pairs on the hub."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    (tmp_path / "pairs").mkdir()
    frame = pd.DataFrame([row(pair) for pair in PAIRS])
    frame.to_parquet(tmp_path / "pairs" / "test.parquet")
    hub.datasets["owner/pairs"] = ServedDataset(tmp_path / "pairs")
    return Store("sqlite://")


@pytest.mark.parametrize("name", ["owner/pairs", " owner/pairs:test ", "hub:owner/pairs:test"])
def test_what_is_fetched_is_the_visitor_s_own_file(store: Store, name: str) -> None:
    path, said = show(store, ME, name)
    assert len(read_upload(ME, path).frame) == len(PAIRS)
    assert f"owner/pairs, configuration default, split test, revision {COMMIT[:12]}" in said
    with pytest.raises(FileError, match="not here any more"):
        read_upload(YOU, path)


@pytest.mark.parametrize(("use", "at"), [("to test on", 1), ("to train on", 0), (None, 0)])
def test_what_is_fetched_goes_to_the_file_that_is_named(
    store: Store, use: str | None, at: int
) -> None:
    *files, said = show_as(store, ["to train on", "to test on"], ME, "owner/pairs", use)
    assert "owner/pairs" in said
    assert len(read_upload(ME, files.pop(at)).frame) == len(PAIRS)
    assert not isinstance(files.pop(), str)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "say which data set: owner/name:split"),
        (None, "say which data set: owner/name:split"),
        ("owner/none", "the hub has no data set"),
        ("owner/pairs:train", "has no split &#39;train&#39;; it has: test"),
        ("a:b:c", "names no data set of the hub"),
    ],
)
def test_a_wrong_name_is_a_sentence(store: Store, name: str | None, words: str) -> None:
    path, said = show(store, ME, name)
    assert path is None
    assert words in said


def test_the_hub_is_closed_where_no_model_of_it_may_be_opened(
    store: Store, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_open()
    monkeypatch.setenv("NLI_CLINIC_OWN_MODELS", "folder")
    assert not is_open()
    with pytest.raises(FileError, match="cannot be opened here"):
        fetch_for(store, ME, "owner/pairs")
    assert hub.asked == []


def test_the_limits_of_files_hold(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_ROWS", "20")
    dataset = fetch_for(store, ME, "owner/pairs")
    with pytest.raises(LimitError, match="more than 20 rows"):
        read_upload(ME, str(dataset.path))
