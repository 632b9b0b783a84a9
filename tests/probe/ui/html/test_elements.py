"""The elements that every tab uses: text is escaped."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from probe.checkup.report import read_report
from probe.errors import FileQuestion, UserError, writing
from probe.runs.backup import restore
from probe.runs.engine import sentence
from probe.scoring.files import STATE, read_unfinished
from probe.ui.api.endpoint import refused
from probe.ui.html.elements import alert, sheet, term


def test_a_sheet_escapes_cells_and_heads() -> None:
    shown = sheet(pd.DataFrame({"<h>": ["<c>"]}), "rows")
    assert "<h>" not in shown
    assert "<c>" not in shown


def test_a_term_reads_its_word_and_then_its_definition_to_those_who_hear_the_page() -> None:
    shown = term("agreement", "How often <both> say the same.")
    assert 'aria-label="agreement: How often &lt;both&gt; say the same."' in shown
    assert shown.endswith(">agreement</button>")


def test_an_error_begins_with_a_capital_unless_a_name_is_its_first_word() -> None:
    assert 'class="problem sentence"' in alert("the file <a> is empty")
    assert 'class="problem"' in alert("mine.csv is empty")
    assert "<a>" not in alert("the file <a> is empty")


def test_an_error_ends_with_a_full_stop_but_for_an_address() -> None:
    assert ">it is empty.</div>" in alert("it is empty")
    assert ">it is empty.</div>" in alert("it is empty.")
    assert ">read docs/limits.md</div>" in alert("read docs/limits.md")


def test_a_question_names_no_option_of_the_command_line() -> None:
    asked = alert(FileQuestion("a.csv has 0 and 1", "--label-value 0=LABEL"))
    assert "a.csv has 0 and 1; say it where the page asks" in asked
    assert "--" not in asked


def unwritable(place: Path) -> None:
    """Write a file where a file stands for its folder."""
    with writing(place / "a.csv"):
        (place / "a.csv").write_text("a")


def damaged(place: Path) -> None:
    """Read a checkpoint that is none."""
    place.mkdir()
    (place / STATE).write_text("{")
    read_unfinished(place)


FAULTS: dict[str, Callable[[Path], object]] = {
    "a.csv cannot be written": unwritable,
    "state.json cannot be read": damaged,
    "there is no file own.json": lambda place: read_report(place / "own.json"),
    "there is no whole back-up in back-ups": lambda place: restore(place / "back-ups"),
}
SHOWN: dict[str, Callable[[UserError], object]] = {
    "the page": alert,
    "HTTP": refused,
    "a run": sentence,
}
"""Every way on which the sentence of an error reaches a visitor."""


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("words", FAULTS)
def test_an_error_names_no_folder_of_the_machine_to_visitors(words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        FAULTS[words](tmp_path / "place")
    assert str(tmp_path) in str(caught.value)  # as the command line says it
    for where, shown in SHOWN.items():
        told = str(shown(caught.value))
        assert words in told, where
        assert str(tmp_path.parent) not in told, where
