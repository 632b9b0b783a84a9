"""The question whether the files of a result are guarded for spreadsheets."""

from pathlib import Path

import pandas as pd
import pytest

from probe.data.tables import write_table
from probe.ui.panels.guard import offer


@pytest.fixture
def place(tmp_path: Path) -> str:
    """The rows of a result, beside its files."""
    for name in ("a-pairs.csv", "a-scored.csv"):
        write_table(pd.DataFrame({"premise": ["=1+1"], "n": [1]}), tmp_path / name)
    (tmp_path / "a-summary.json").write_text("{}")
    (tmp_path / "rows.jsonl").write_text("{}")
    return str(tmp_path / "rows.jsonl")


def paths(place: str, guard: bool) -> list[Path]:
    """Return the files that are offered."""
    return [Path(file["path"]) for file in offer(place, guard)[0].value]


def test_files_come_as_they_are_unless_they_are_guarded(place: str) -> None:
    plain, guarded = paths(place, False), paths(place, True)
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
    assert paths(place, False) == plain


def test_the_question_is_asked_of_csv_and_tsv_only(place: str) -> None:
    assert offer(place, False)[1].visible
    for path in Path(place).parent.glob("*.csv"):
        path.rename(path.with_suffix(".jsonl"))
    assert not offer(place, False)[1].visible


def test_nothing_is_offered_before_there_is_a_result() -> None:
    files, guard = offer("", True)
    assert not guard.visible
    assert "value" not in files
