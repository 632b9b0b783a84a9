"""What was scored in the background is shown as a file that was waited for: whole, or its parts."""

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from probe.data.rows import guess
from probe.data.source import open_source
from probe.runs.engine import Engine
from probe.runs.run import StoredRun, ended
from probe.runs.store import Store
from probe.scoring.files import SCORING, ScoringRequest, scoring_request
from probe.tasks.nli import NLI
from probe.ui.panels.guard import offer
from probe.ui.results.batch_tables import ALL, ANY
from probe.ui.results.run_result import read_result, result_folder
from probe.ui.tabs.background_result import STOP, TAKE, press, result_of
from probe.ui.tabs.batch_background import Background
from probe.ui.tabs.batch_outputs import Outputs
from probe.ui.tabs.batch_rows import turn
from probe.ui.visitors.visitor_files import folder_of
from tests.support.files.scoring_files import pair_file
from tests.support.pages.visitors import ME, YOU
from tests.support.waiting import until

ROWS = 600
PARTS = (256, 256, 88)


@pytest.fixture
def background(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Background:
    """What starts such files, beside an empty store."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    store = Store()
    return Background(store, Engine(store, in_process=True))


@pytest.fixture
def run(background: Background, model: str, tmp_path: Path) -> StoredRun:
    """A file of three parts that is scored."""
    file = pair_file(tmp_path / "mine.csv", ROWS)
    source = open_source(file)
    request = ScoringRequest(guess(source.names, NLI), ("reverse",), precision="fp32")
    asked = scoring_request(file, source, model, NLI, request)
    run_id = background.store.create(ME, asked).id
    background.engine.submit(run_id)
    until(background.store, run_id, ended)
    background.engine.close()
    return background.store.get(run_id)


def only(run: StoredRun, parts: Sequence[int]) -> StoredRun:
    """Return the run as if it had been stopped when these parts were done."""
    cells = [
        cell if cell.number in parts else replace(cell, state="cancelled", result=None)
        for cell in run.cells
    ]
    return replace(run, cells=tuple(cells), state="cancelled")


def page(shown: Outputs, number: int) -> tuple[str, str]:
    """Return a page of the rows and where it stands among the others."""
    rows, pager = turn(shown.paging, ALL, ANY, "", number)
    return str(rows), str(pager)


def test_all_rows_can_be_turned_over(background: Background, run: StoredRun) -> None:
    shown = result_of(background, run, ME)
    assert f"{ROWS:,} rows, {ROWS:,} scored" in str(shown.head)
    assert 'data-state="finished"' in str(shown.progress)
    assert (str(shown.rows), str(shown.pager)) == page(shown, 1)
    rows, pager = page(shown, 30)
    assert "page 30 of 30" in pager
    assert 'class="soft num">600</th>' in rows


def test_the_rows_of_a_stopped_file_are_those_of_its_parts(
    background: Background, run: StoredRun
) -> None:
    shown = result_of(background, only(run, (0, 2)), ME)
    done = PARTS[0] + PARTS[2]
    assert f"{done} of {ROWS:,} rows are scored" in str(shown.progress)
    rows, pager = page(shown, 13)
    assert f"{done} rows, page 13 of 18" in pager
    assert 'class="soft num">256</th>' in rows
    assert 'class="soft num">257</th>' not in rows
    assert 'class="soft num">513</th>' in rows


def stamps(shown: Outputs) -> dict[str, int]:
    """Return all files of what is shown, with when each was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder(shown).iterdir()}


def folder(shown: Outputs) -> Path:
    """Return the folder of what is shown."""
    return Path(shown.files.value[0]["path"]).parent


def results() -> list[Path]:
    """Return the folders of all results."""
    return list(folder_of(ME).iterdir())


def test_a_result_is_written_once_and_looks_the_same_again(
    background: Background, run: StoredRun
) -> None:
    first = result_of(background, run, ME)
    written = stamps(first)
    again = result_of(background, background.store.get(run.id), ME)
    assert (stamps(again), results()) == (written, [folder(first)])
    for part in ("head", "progress", "figures", "rows", "pager", "forms", "paging"):
        assert str(getattr(again, part)) == str(getattr(first, part))


def test_a_result_that_is_not_whole_is_written_anew(background: Background, run: StoredRun) -> None:
    shown = result_of(background, run, ME)
    whole = {path.name: path.read_bytes() for path in folder(shown).iterdir()}
    for name in whole:
        (folder(shown) / name).write_bytes(whole[name][: len(whole[name]) // 2])
        again = result_of(background, run, ME)
        assert {path.name: path.read_bytes() for path in folder(again).iterdir()} == whole
    (folder(shown) / "mine-scored.csv").unlink()
    assert result_of(background, run, ME).paging == shown.paging
    assert results() == [folder(shown)]


def test_a_run_that_went_on_has_a_result_of_its_own(background: Background, run: StoredRun) -> None:
    stopped = result_of(background, only(run, (0, 2)), ME)
    more = result_of(background, only(run, (0, 1)), ME)
    taken_up = result_of(background, replace(run, finished=run.finished + 1), ME)
    assert len({shown.paging for shown in (stopped, more, taken_up)}) == 3


def test_what_cannot_be_put_together_leaves_no_files_behind(
    background: Background, run: StoredRun
) -> None:
    SCORING.store_content(run.plan, run.cells[1].key, gzip.compress(b"{"))
    with pytest.raises(ValueError, match="Expecting"):
        result_of(background, run, ME)
    assert results() == []


def test_the_first_press_says_at_once_that_the_rows_are_put_together(
    background: Background, run: StoredRun
) -> None:
    (listing, nothing), (_, shown) = press(background, ME, TAKE, run.id)
    (_, again), *more = press(background, ME, TAKE, run.id)
    assert (again.paging, more) == (shown.paging, [])
    assert "The rows of mine.csv that are scored are put together" in str(listing.trouble)
    assert not isinstance(nothing.paging, str)
    assert shown.paging


def test_a_guarded_copy_beside_the_files_is_no_change_of_the_result(
    background: Background, run: StoredRun
) -> None:
    shown = result_of(background, run, ME)
    offer(shown.paging, True)
    assert read_result(result_folder(run, ME)) is not None
    (path,) = results()[0].glob("*-scored.csv")
    path.write_bytes(b"")
    assert read_result(result_folder(run, ME)) is None


@pytest.mark.parametrize("verb", [TAKE, STOP])
def test_nobody_presses_for_another(background: Background, run: StoredRun, verb: str) -> None:
    ((listing, shown),) = press(background, YOU, verb, run.id)
    assert 'role="alert"' in str(listing.trouble)
    assert not isinstance(shown.paging, str)


def test_that_a_file_is_scored_there_is_said_no_longer_once_it_is_stopped(
    background: Background, run: StoredRun
) -> None:
    ((_, shown),) = press(background, ME, STOP, run.id)
    assert shown.trouble == ""
