"""Which scored rows are shown, in which order, what each says, and which files go with them."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from probe.analysis.batch import score
from probe.data.rows import Columns, guess, of_frame, read_rows
from probe.data.writers import write_table
from probe.errors import FileError
from probe.models.library import AnyModel
from probe.scoring.files import (
    ScoringPlan,
    ScoringRequest,
    pack,
    part_of,
    read_packed_values,
)
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.tasks.task import Task
from probe.ui.measure import result_files
from probe.ui.measure.result_files import (
    KINDS,
    files_of,
    files_view,
    guard,
    kept_folder,
    result_key,
)
from probe.ui.measure.rows import (
    MAX_UNREAD,
    PAGE_ROWS,
    ResultRows,
    Selection,
    browse,
    part_view,
    rows_page,
    rows_table,
)
from probe.ui.visitors.visitor_files import cache_folder, fresh_folder
from tests.support.cases import each
from tests.support.models.tiny_models import shared
from tests.support.models.tiny_word_models import word_reader
from tests.support.pages.views import pressed
from tests.support.pages.visitors import ME

PAIRS = pd.DataFrame(
    [
        ("Tim has 350 stamps.", "Tim is glad.", "neutral"),
        ("A man walks.", "He moves.", "perhaps"),
        ("A man walks.", "He sleeps now.", ""),
        ("", "He \ud800 " + "moves " * MAX_UNREAD, "neutral"),
        ("A man walks.", "He does NOT walk.", "contradiction"),
    ],
    columns=["premise", "hypothesis", "label"],
    dtype=object,
)
QUESTIONS = pd.DataFrame(
    [("Ann saw Tim in Rome.", "Whom did Ann see?", "Tim"), ("", "Who?", "Tim")],
    columns=["context", "question", "answers"],
    dtype=object,
)
GONE = "these results are no longer kept here"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "cache"))
    return cache_folder()


def kept(
    frame: pd.DataFrame = PAIRS,
    task: Task = NLI,
    model: AnyModel | None = None,
    names: Sequence[str] = ("sort", "negation"),
    times: int = 1,
) -> str:
    """Score rows and keep them, in so many parts; return the key."""
    table, model = of_frame(frame, "csv"), model or shared()
    columns: Columns = guess(table.names, task)
    request = ScoringRequest(columns, tuple(names), precision="fp32")
    rows = [row for chunk in score(table, columns, model, names) for row in chunk.rows]
    part = read_packed_values(pack(vars(part_of(rows, model, request))))
    plan = ScoringPlan("minilm", task, request, "a.csv", len(rows) * times, "")
    writer = ResultRows(folder := fresh_folder(ME), plan)
    for _ in range(times):
        writer.add(table, part)
    rules = writer.finish("minilm")
    assert bool(rules) is (task is NLI)
    return result_key(folder)


@each(
    "frame, task, model, names",
    [
        (PAIRS, NLI, shared(), ("numerical", "negation+reverse", "sort")),
        (PAIRS, NLI, shared(), ()),
        (QUESTIONS, READING, word_reader("bidaf"), ("sort",)),
    ],
)
def test_a_row_is_shown_with_its_texts_its_answer_and_whether_that_is_right(
    frame: pd.DataFrame, task: Task, model: AnyModel, names: Sequence[str]
) -> None:
    table = of_frame(frame, "csv")
    columns = guess(table.names, task)
    rows = [row for chunk in score(table, columns, model, names) for row in chunk.rows]
    request = ScoringRequest(columns, tuple(names), precision="fp32")
    part = part_of(rows, model, request)
    shown = part_view(read_rows(table, columns, task), part, task, request)
    for row, seen in zip(rows, shown, strict=True):
        assert (seen["row"], seen["error"], seen["right"]) == (row.number + 1, row.error, row.right)
        assert bool(seen["error"]) is not bool(row.prediction)
        if row.prediction:
            assert (seen["label"], seen["texts"]) == (row.prediction.label, task.texts(row.example))
            made = {name: [one.agrees for one in row.transformed[name]] for name in names}
            assert {n: [one["agrees"] for one in seen["made"][n]] for n in names} == made
        else:
            assert all(len(text) <= MAX_UNREAD for text in seen["texts"].values())
            assert "\ud800" not in str(seen["texts"])
    table_shown = rows_table(shown, task, names, model="minilm")
    assert table_shown.count('class="is-right"') == sum(row.right is True for row in rows)
    assert table_shown.count('class="is-wrong"') == sum(row.right is False for row in rows)


def test_rows_are_chosen_by_filter_right_answer_change_and_search_and_sorted() -> None:
    key = kept()
    every = rows_page(Selection(key)).rows
    by_number = {row["row"]: row for row in every}

    def numbers(**asked: str) -> list[int]:
        return [row["row"] for row in rows_page(Selection(key, **asked)).rows]

    scored = [number for number, row in by_number.items() if not row["error"]]
    sure = sorted(scored, key=lambda number: by_number[number]["confidence"])
    made = {number: row["made"]["sort"] for number, row in by_number.items()}
    kept_answer = [n for n in made if any(one["changed"] and one["agrees"] for one in made[n])]
    assert list(by_number) == [1, 2, 3, 4, 5]
    assert numbers(kept="Not scored") == [2, 4]
    assert numbers(kept="Wrong") == [n for n in scored if by_number[n]["right"] is False]
    assert numbers(kept="Least sure") == sure and numbers(order="confidence")[:3] == sure
    assert numbers(order="-confidence")[:3] == sure[::-1]
    assert numbers(order="-number") == [5, 4, 3, 2, 1]
    assert numbers(gold="contradiction") == [5] and numbers(gold="nobody has it") == []
    assert numbers(change="sort") == kept_answer and numbers(change="not asked for") == []
    assert numbers(search="does not") == [5] and numbers(search="%") == []
    assert numbers(search="STAMPS", gold="neutral") == [1]
    assert len(numbers(order="nosuch; DROP TABLE rows", kept="nosuch")) == 5
    shown = browse(pressed(Selection(key, order="confidence", search="walks").asked))
    assert 'aria-sort="ascending"><button name="order" value="-confidence"' in shown
    assert 'value="walks"' in shown and 'aria-pressed="true">All <span>5<' in shown


def test_a_page_beyond_the_last_is_the_last_and_what_is_no_page_the_first() -> None:
    key = kept(times=9)
    for asked, number in {"99": 3, "3": 3, "x": 1, "-1": 1, "9" * 5000: 1, "²": 1, "": 1}.items():
        page = rows_page(Selection(key, page=asked))
        assert (page.number, page.last, page.count) == (number, 3, 45)
        assert len(page.rows) == (5 if number == 3 else PAGE_ROWS)


@each("key", ["", ".", "..", "secret", "../secret", "visitors", "{full}", f"{'0' * 32}/{'0' * 22}"])
def test_no_key_but_its_own_opens_results(key: str, cache: Path) -> None:
    (cache / "secret").mkdir(exist_ok=True)
    asked = key.format(full=cache / "secret")
    with pytest.raises(FileError, match=GONE):
        kept_folder(asked)
    for answer in (browse, guard):
        assert GONE in answer(pressed(json.dumps({"key": asked})))


@each("text", ["", "null", "[1]", "{", '"x"'])
def test_what_no_button_says_shows_no_rows(text: str) -> None:
    assert GONE in browse(SimpleNamespace(cell=text))  # type: ignore[arg-type]  # as much of an event


def test_files_are_offered_as_they_are_or_guarded_and_never_by_halves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = fresh_folder(ME)
    for name in ("a-pairs.csv", "a-scored.csv"):
        write_table(pd.DataFrame({"premise": ["=1+1"], "n": [1]}), folder / name)
    (folder / "a-summary.json").write_text("{}")
    key = result_key(folder)

    def full(path: Path, copy: Path) -> None:
        copy.write_text("premise")
        raise FileError("the disk is full")

    with monkeypatch.context() as context, pytest.raises(FileError):
        context.setattr(result_files, "write_guarded_copy", full)
        files_view(key, guard=True)
    assert not list(folder.rglob("*-guarded*"))
    plain, guarded = files_of(key), files_of(key, guard=True)
    assert list(plain) == ["-scored", "-summary", "-pairs"]
    assert [path.name for path in guarded.values()] == [
        *("a-scored-guarded.csv", "a-summary.json", "a-pairs-guarded.csv")
    ]
    assert plain["-scored"].read_bytes() == b"premise,n\r\n=1+1,1\r\n"
    assert guarded["-scored"].read_bytes() == b"premise,n\r\n'=1+1,1\r\n"
    shown = files_view(key, guard=True)
    assert 'name="guard" checked' in shown and "gradio_api/file=" in shown
    assert all(KINDS[kind] in shown for kind in plain)
    for path in folder.glob("*.csv"):
        path.rename(path.with_suffix(".jsonl"))
    assert 'name="guard"' not in files_view(key)
