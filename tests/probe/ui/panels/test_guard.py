"""The question whether the files of a result are guarded for spreadsheets."""

from pathlib import Path

import pandas as pd
import pytest

from probe.data.writers import write_table
from probe.errors import FileError
from probe.ui.panels.guard import offer
from probe.ui.results.result_files import kept_folder
from probe.ui.visitors.visitor_files import fresh_folder
from tests.support.pages.visitors import ME


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The key of a result with its files."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    folder = fresh_folder(ME)
    for name in ("a-pairs.csv", "a-scored.csv"):
        write_table(pd.DataFrame({"premise": ["=1+1"], "n": [1]}), folder / name)
    (folder / "a-summary.json").write_text("{}")
    (folder / "rows.jsonl").write_text("{}")
    return f"{folder.parent.name}/{folder.name}"


def paths(key: str, guard: bool) -> list[Path]:
    """Return the files that are offered."""
    return [Path(file["path"]) for file in offer(key, guard)[0].value]


def test_files_come_as_they_are_unless_they_are_guarded(key: str) -> None:
    plain, guarded = paths(key, False), paths(key, True)
    names = ["a-scored{}.csv", "a-summary.json", "a-pairs{}.csv"]
    assert [path.name for path in plain] == [name.format("") for name in names]
    assert [path.name for path in guarded] == [name.format("-guarded") for name in names]
    assert [path.read_bytes() for path in plain] == [
        b"premise,n\r\n=1+1,1\r\n",
        b"{}",
        b"premise,n\r\n=1+1,1\r\n",
    ]
    assert [path.read_bytes() for path in guarded] == [
        b"premise,n\r\n'=1+1,1\r\n",
        b"{}",
        b"premise,n\r\n'=1+1,1\r\n",
    ]
    assert paths(key, False) == plain


def test_no_half_of_a_guarded_copy_is_offered(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, copy: Path) -> None:
        copy.write_text("premise")
        raise FileError("the disk is full")

    with monkeypatch.context() as context, pytest.raises(FileError):
        context.setattr("probe.ui.panels.guard.write_guarded_copy", full)
        offer(key, True)
    assert not list(kept_folder(key).rglob("*-guarded*"))
    assert all(b"=" in path.read_bytes() for path in paths(key, True) if path.suffix == ".csv")


def test_a_file_is_offered_alone_by_a_button(key: str) -> None:
    *_, scored, compared = offer(key, True, "-scored", "-compared")
    assert Path(scored.value["path"]).name == "a-scored-guarded.csv"
    assert scored.visible and not compared.visible


def test_the_question_is_asked_of_csv_and_tsv_only(key: str) -> None:
    assert offer(key, False)[1].visible
    for path in kept_folder(key).glob("*.csv"):
        path.rename(path.with_suffix(".jsonl"))
    assert not offer(key, False)[1].visible


def test_nothing_is_offered_before_there_is_a_result() -> None:
    files, guard, button = offer("", True, "-scored")
    assert not guard.visible and not button.visible
    assert "value" not in files
