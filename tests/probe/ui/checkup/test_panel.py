"""The check-up in Compare: what is taken away, and an older report beside it."""

import json
from pathlib import Path

import pytest

from probe.checkup.measuring import Figure
from probe.checkup.report import FORMAT, figures_of, read_report, report_of
from probe.runs.store import Store
from probe.ui.checkup.panel import since, write_files
from tests.support.pages.visitors import ME, YOU, uploaded
from tests.support.runs.checkup import finished, scored

PLAIN = scored("accuracy", "plain", 80)


def negation(right: int) -> list[Figure]:
    return [scored("negation", "stress", right), scored("negation.before", "stress", 80)]


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


@pytest.fixture
def older(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The uploaded report of an older check-up, at which negation cost more."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    run = finished(store, ME, [[PLAIN], negation(40)])
    return str(uploaded(write_files([run], tmp_path)[1]))


def test_a_person_takes_a_page_and_the_values_away(store: Store, tmp_path: Path) -> None:
    run = finished(store, ME, [[PLAIN], negation(50)])
    page, values = write_files([run], tmp_path / "one")
    assert "<title>Check-up of Decomposable Attention" in page.read_text()
    assert list(figures_of(read_report(values))) == ["accuracy", "negation", "negation.before"]
    several = write_files([run, run], tmp_path / "two")
    assert {path.parent.name for path in several} == {run.id}


def test_an_older_report_says_what_got_better(store: Store, older: str) -> None:
    newer = finished(store, ME, [[PLAIN], negation(70)])
    said = since(store, ME, [newer.id], older)
    assert "Better: Negation went from 40.0 to 70.0 %" in said
    assert since(store, ME, [newer.id], None) == ""


def test_nothing_is_said_of_a_run_that_is_another_s(store: Store, older: str) -> None:
    newer = finished(store, YOU, [[PLAIN], negation(70)])
    said = since(store, ME, [newer.id], older)
    assert "choose a check-up above first" in said
    assert "70.0" not in said


@pytest.mark.parametrize(
    "change",
    [
        {"figures": [{"name": "accuracy"}]},
        {"figures": [{"value": "much"}]},
        {"figures": 3},
        {"data": {}},
        {"task": "chess"},
        {"format": FORMAT + 1},
    ],
)
def test_a_file_that_is_no_report_is_answered_by_a_sentence(
    store: Store, older: str, change: dict[str, object]
) -> None:
    newer = finished(store, ME, [[PLAIN], negation(70)])
    report = json.loads(Path(older).read_text())
    Path(older).write_text(json.dumps({**report, **change}))
    said = since(store, ME, [newer.id], older)
    assert 'role="alert"' in said
    assert "report.json" in said or "there is no task" in said


def test_a_check_up_that_is_not_finished_is_set_beside_an_older_one(
    store: Store, older: str
) -> None:
    newer = finished(store, ME, [[PLAIN], []])
    assert report_of(newer)["missing"] == ["part 1"]
    assert "Nothing changed that can be measured" in since(store, ME, [newer.id], older)
