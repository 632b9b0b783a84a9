"""The report needs nothing else and leaves nothing out."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from finetune.report.inoculation_files import report
from finetune.trials.inoculation_plan import Cell
from tests.support.runs.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
RUNS = [make_run(POINTS, "da"), make_run(POINTS, "esim", "<script>alert(1)</script>", "run2")]


@pytest.fixture(scope="module")
def text() -> str:
    return report(RUNS)


class Reader(HTMLParser):
    """Collects the tags and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def test_it_refers_to_nothing_outside_itself(text: str) -> None:
    reader = Reader()
    reader.feed(text)
    assert not reader.addresses
    assert not {"script", "link", "img", "iframe"} & reader.tags
    assert "url(" not in text


def test_what_a_person_typed_is_never_markup(text: str) -> None:
    assert "&lt;script&gt;alert(1)" in text


def test_both_ways_to_choose_a_rate_have_a_figure(text: str) -> None:
    assert text.count("<svg ") == 2


def test_every_point_is_in_it(text: str) -> None:
    assert len(re.findall("<h3>Points</h3>", text)) == 2
    assert text.count("<td>0.79</td><td>0.78</td>") == 2


@pytest.mark.parametrize(
    "said", ["ab12", "torch", "2.8", "Outcome 1: dataset weakness", "--model da", "max_epochs"]
)
def test_settings_environment_hashes_outcome_and_command_are_in_it(text: str, said: str) -> None:
    assert said in text


def test_warnings_are_in_it(text: str) -> None:
    assert "A test set has only 100 pairs" in text


def test_a_run_that_failed_before_its_first_cell_says_why() -> None:
    failed = replace(make_run([], state="failed"), error="memory is short")
    assert "memory is short" in report([failed])
    assert "0 of 3 cells are finished" in report([failed])
