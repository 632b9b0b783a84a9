"""Which of the scored rows are shown."""

from pathlib import Path

import pytest

from probe.analysis.batch import Row
from probe.data import rows
from probe.data.rows import Columns
from probe.tasks.nli import NLI
from probe.ui.results.batch_tables import ALL, ANY, LEAST_SURE, MAX_UNREAD, Record, view
from probe.ui.results.row_numbers import PAGE_ROWS
from probe.ui.results.row_pages import RowsPage, RowsWriter, Selection, rows_page


def row(number: int, gold: str, confidence: float | None, wrong: bool, agrees: bool) -> Record:
    """Return a scored row with one change; without a confidence it was not scored."""
    made = {"label": "x", "confidence": 0.5, "agrees": agrees, "changed": True, "text": ""}
    return {
        "row": number,
        "texts": {},
        "gold": gold,
        "label": "x",
        "confidence": confidence,
        "error": "" if confidence else "empty",
        "wrong": wrong,
        "made": {"sort": [made] if confidence else []},
    }


ROWS = [
    row(1, "entailment", 0.9, wrong=False, agrees=True),
    row(2, "neutral", 0.4, wrong=True, agrees=False),
    row(3, "entailment", 0.6, wrong=True, agrees=True),
    row(4, "", None, wrong=False, agrees=True),
]


def page(folder: Path, rows: list[Record], selection: Selection, number: int = 1) -> RowsPage:
    """Write rows in two parts and read a page of them."""
    writer = RowsWriter(folder, NLI, ["sort"])
    writer.add(rows[:3])
    writer.add(rows[3:])
    writer.finish()
    return rows_page(folder, selection, number)


@pytest.mark.parametrize(
    ("selection", "numbers"),
    [
        (Selection(), [1, 2, 3, 4]),
        (Selection("Wrong"), [2, 3]),
        (Selection("Answer changed"), [2]),
        (Selection(LEAST_SURE), [2, 3, 1]),
        (Selection("Not scored"), [4]),
        (Selection(ALL, "entailment"), [1, 3]),
        (Selection("Wrong", "entailment"), [3]),
        (Selection(ALL, "nobody has it"), []),
        (Selection(ALL, ANY, "sort"), [1, 3]),
        (Selection(ALL, ANY, "not asked for"), []),
    ],
)
def test_a_filter_a_label_and_a_change_choose_rows(
    selection: Selection, numbers: list[int], tmp_path: Path
) -> None:
    assert [each["row"] for each in page(tmp_path, ROWS, selection).rows] == numbers


def test_a_page_beyond_the_last_is_the_last(tmp_path: Path) -> None:
    found = page(tmp_path, ROWS * PAGE_ROWS, Selection(), 99)
    assert (len(found.rows), found.number, found.last) == (PAGE_ROWS, 4, 4)
    assert found.count == 4 * PAGE_ROWS


def test_no_more_rows_are_read_than_are_shown(tmp_path: Path) -> None:
    page(tmp_path, ROWS * 1000, Selection())
    lines = (tmp_path / "rows.jsonl").read_bytes().splitlines(keepends=True)
    broken = [line if 20 <= at < 40 else b"?" * len(line) for at, line in enumerate(lines)]
    (tmp_path / "rows.jsonl").write_bytes(b"".join(broken))
    assert len(rows_page(tmp_path, Selection(), 2).rows) == PAGE_ROWS


def test_a_row_that_was_not_scored_shows_what_is_written_there() -> None:
    cells = {"p": None, "h": "He \ud800 " + "moves " * MAX_UNREAD}
    row = Row(0, NLI, error="the premise is empty", record=rows.Record(0, cells))
    (shown,) = view([row], [], Columns({"premise": "p", "hypothesis": "h"}))
    assert shown["texts"]["premise"] == ""
    assert shown["texts"]["hypothesis"].startswith("He ? moves moves")
    assert len(shown["texts"]["hypothesis"]) == MAX_UNREAD
