"""The elements that every view uses: text is escaped."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.testclient import TestClient

from probe.checkup.report import read_report
from probe.errors import FileQuestion, UserError, writing
from probe.pictures.svg import drawing, text
from probe.runs.backup import restore
from probe.runs.engine import sentence
from probe.scoring.files import STATE, read_unfinished
from probe.ui.api.endpoint import refused
from probe.ui.html.elements import NOTHING, alert, sheet, term
from probe.ui.html.picture import picture
from probe.ui.server.serving import launch_options

FRAME = pd.DataFrame({"name": ["<b>", "sort"], "value": [0.5, 0.25]})


def test_elements_escape_their_words_and_a_term_is_read_before_its_definition() -> None:
    shown = sheet(pd.DataFrame({"<h>": ["<c>"]}), "rows")
    assert "<h>" not in shown and "<c>" not in shown
    shown = term("agreement", "How often <both> say the same.")
    assert 'aria-label="agreement: How often &lt;both&gt; say the same."' in shown
    assert shown.endswith(">agreement</button>")


def test_a_picture_has_a_table_and_the_files_that_can_be_made() -> None:
    drawn = str(drawing(120, 40, "Shares", [text(4, 20, '50 % & "more"')]))
    badge = Markup('<span class="badge">off</span>')
    html = picture("<i>Shares</i>", NOTHING, FRAME, drawn, stem="x", beside=badge)
    assert "<td>&lt;b&gt;</td>" in html and "<i>" not in html
    assert '&lt;/i&gt;</h3><span class="badge">off</span>' in html
    files = {
        name: unquote(held)
        for name, held in re.findall(r'download="([^"]*)" href="data:[^,]*,([^"]*)"', html)
    }
    rows = list(csv.DictReader(io.StringIO(files["x.csv"])))
    assert rows == [{"name": "<b>", "value": "0.5"}, {"name": "sort", "value": "0.25"}]
    assert files["x.svg"] == drawn
    (sealed,) = re.findall(r'data-seal="([^"]*)"', html)
    client = TestClient(Starlette(routes=launch_options()["app_kwargs"]["routes"]))
    answer = client.post("/picture.pdf", params={"seal": sealed}, content=drawn)
    assert answer.content.startswith(b"%PDF") and b"/ToUnicode" in answer.content  # text is text
    other = client.post("/picture.pdf", params={"seal": sealed}, content=drawn.replace("50", "51"))
    assert other.status_code == 404 and "make it anew" in other.json()["detail"]
    html = picture("Shares", NOTHING, FRAME, stem="shares")
    assert "SVG" not in html and "PNG" not in html


def test_an_error_is_a_sentence_and_names_no_option_of_the_command_line() -> None:
    assert 'class="problem sentence"' in alert("the file <a> is empty")
    assert 'class="problem"' in alert("mine.csv is empty")
    assert "<a>" not in alert("the file <a> is empty")
    assert ">it is empty.</div>" in alert("it is empty")
    assert ">it is empty.</div>" in alert("it is empty.")
    assert ">read docs/limits.md</div>" in alert("read docs/limits.md")
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
