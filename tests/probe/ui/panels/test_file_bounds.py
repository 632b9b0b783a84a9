"""A person's file on the page: its first rows, or the one sentence why there are none."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probe.data.rows import of_frame
from probe.data.source import first_rows
from probe.ui.panels.labelled_file import show_file
from tests.support.pages.visitors import ME, uploaded

PAIR = {"premise": "A man walks.", "hypothesis": "He moves."}


@pytest.fixture(autouse=True)
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits; uploads lie below the test's own folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    for name, limit in {"ROWS": 3, "COLUMNS": 4, "CELL": 1000, "UNPACKED_MB": 1}.items():
        monkeypatch.setenv(f"NLI_CLINIC_MAX_{name}", str(limit))


def preview(path: Path, rows: list[dict[str, object]]) -> tuple[str, str]:
    """Return the first rows as the page shows them, and the sentence about the columns."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown, _, sentence, *_ = show_file(ME, "nli", str(uploaded(path)))
    return str(shown), str(sentence)


def test_a_file_at_the_limits_is_shown(tmp_path: Path) -> None:
    row = {**PAIR, "c": "x" * 1000, "d": 1}
    shown, sentence = preview(tmp_path / "a.jsonl", [row] * 3)
    assert "A man walks." in shown
    assert "3 rows" in sentence


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([PAIR] * 4, "the file has more than 3 rows (this app's NLI_CLINIC_MAX_ROWS)"),
        ([{**PAIR, "c": 1, "d": 2, "e": 3}], "the file has more than 4 columns"),
        ([{**PAIR, "c": "x" * 1001}], "a cell of the file has more than 1,000 characters"),
        ([{**PAIR, "c": "x" * 21_001}] * 2, "or a row twenty times as many"),
        ([{**PAIR, "c": " " * 900}] * 1200, "than 1 megabytes once it is unpacked"),
    ],
    ids=["rows", "columns", "cell", "row", "unpacked"],
)
def test_a_file_above_a_limit_gets_its_sentence(
    rows: list[dict[str, object]], words: str, tmp_path: Path
) -> None:
    shown, sentence = preview(tmp_path / "a.jsonl", rows)
    assert shown == ""
    assert words in sentence.replace("&#39;", "'")


def write_arrow(table: pa.Table, path: Path) -> None:
    """Write what the library datasets keeps a data set in."""
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    ("name", "write"), [("a.parquet", pq.write_table), ("a.arrow", write_arrow)]
)
def test_what_typed_columns_lack_and_list_is_shown(
    name: str, write: Callable[[pa.Table, Path], None], tmp_path: Path
) -> None:
    columns = {
        "premise": ["a", None],
        "hypothesis": ["b", "c"],
        "n": pa.array([None, 2], pa.int64()),
        "tags": [["x", "y"], []],
    }
    write(pa.table(columns), tmp_path / name)
    shown, *_ = show_file(ME, "nli", str(uploaded(tmp_path / name)))
    assert "<td>2</td>" in shown
    assert "x" in shown


def test_only_the_beginning_of_a_large_table_is_shown() -> None:
    frame = pd.DataFrame({f"c{number}": ["x" * 1000] * 9 for number in range(100)})
    part = first_rows(of_frame(frame, "csv"))
    assert part.shape == (5, 30)
    assert set(map(len, part.to_numpy().ravel())) == {301}


def test_half_a_character_is_shown_as_a_replacement(tmp_path: Path) -> None:
    shown, _ = preview(tmp_path / "a.jsonl", [{**PAIR, "c": "a\ud800b"}])
    assert "a\ufffdb" in shown
