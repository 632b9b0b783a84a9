"""How far a file is, in words and in the browser's title."""

import pytest

from probe.ui.html.file_progress import FileProgress, file_progress, in_words, per_second_words


def test_who_waits_learns_how_many_files_are_before() -> None:
    assert "One file is scored before yours" in file_progress(FileProgress("a", "waiting", ahead=1))
    assert "3 files are scored before" in file_progress(FileProgress("a", "waiting", ahead=3))


def test_the_speed_and_the_time_left_are_told() -> None:
    assert in_words(FileProgress("a", "scoring", done=50, total=200, seconds=10)) == (
        "50 of 200 rows, 5 a second, about 30 s left"
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [(0.04, "0.04"), (0.36, "0.36"), (3.2, "3.2"), (12.6, "13"), (1234.0, "1,234")],
)
def test_a_slow_speed_is_not_nothing(rows: float, words: str) -> None:
    assert per_second_words(rows) == f"{words} a second"


def test_before_the_first_rows_the_bar_is_there_and_no_speed() -> None:
    shown = file_progress(FileProgress("a", "starting", total=1200))
    assert "Scoring the first rows" in shown and "1,200 rows" in shown
    assert "progressbar" in shown and "a second" not in shown


def test_the_title_says_how_far_it_is() -> None:
    shown = file_progress(FileProgress("a.csv", "scoring", done=1, total=4, seconds=1))
    assert 'data-title="25 % · a.csv"' in shown
