"""The My data tab: a visitor's own things, asked about before they are deleted."""

from pathlib import Path

import gradio as gr
import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.runs.access import redeem, share
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.surveys.survey import create_survey, join
from probe.ui.html.my_data import size
from probe.ui.tabs.my_data import EVERYTHING, Handlers, Outputs
from probe.ui.visitors.belongings import KINDS, belongings, delete_all
from probe.ui.visitors.visitor_files import fresh_folder
from tests.support.models.tiny_bert import tiny_bert
from tests.support.pages.visitors import ME, YOU

PLAN = Plan("tiny", "negation", (5,), (2e-5,), (0,))


@pytest.fixture
def handlers(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Handlers:
    """The tab's handlers with an empty store and cache."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return Handlers(store := Store(), Engine(store, in_process=True))


@pytest.fixture
def run(handlers: Handlers, sets: Sets, home: Path) -> str:
    """A run of ME with a model and a link that YOU opened; a result file; a set, answered by ME."""
    run = handlers.store.create(ME, run_request(PLAN, sets)).id
    handlers.store.set_state(run, "done")
    handlers.store.set_kept(run, "tiny-negation-5-abc")
    tiny_bert(home / "models" / "tiny-negation-5-abc")
    redeem(handlers.store, YOU, share(handlers.store, ME, run))
    (fresh_folder(ME) / "mine-scored.csv").write_text("a")
    survey = create_survey(handlers.store, ME, "annotation", "Is it a text?", {})
    join(handlers.store, survey, ME, "fox")
    return run


def shown(values: list[object]) -> Outputs:
    return Outputs(*values)


def test_all_of_a_visitors_own_is_listed_by_kind(handlers: Handlers, run: str) -> None:
    listed = str(shown(handlers.show(ME)).tables)
    for words in ("mine-scored.csv", "negation on tiny (done)", "tiny-negation-5-abc"):
        assert words in listed
    assert "opened by 1 others" in listed
    counts = {kind: len(rows) for kind, rows in belongings(handlers.store, ME).items()}
    assert counts == dict.fromkeys(KINDS, 1)


@pytest.mark.parametrize("stranger", [YOU, "", "command line"])
def test_nothing_of_anothers_is_listed(handlers: Handlers, run: str, stranger: str) -> None:
    listed = str(shown(handlers.show(stranger)).tables)
    assert [kind.none in listed for kind in KINDS.values()] == [True] * len(KINDS)
    assert run not in listed and "mine" not in listed


def test_a_thing_is_asked_about_by_name_and_goes_when_confirmed(
    handlers: Handlers, run: str
) -> None:
    asked = shown(handlers.ask(ME, f"run:{run}"))
    assert "Delete: negation on tiny (done)?" in asked.question
    assert asked.asked.visible is True
    assert belongings(handlers.store, ME)["run"]
    done = shown(handlers.confirm(ME, asked.pending))
    assert "Done." in done.told and done.asked.visible is False
    left = belongings(handlers.store, ME)
    assert [kind for kind, rows in left.items() if rows] == ["file", "survey", "answers"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_stranger_deletes_nothing_and_learns_nothing(
    handlers: Handlers, run: str, kind: str
) -> None:
    (mine,) = belongings(handlers.store, ME)[kind]
    told = []
    for which in (mine.id, "gone"):
        asked = shown(handlers.ask(YOU, f"{kind}:{which}"))
        assert asked.pending == ""
        answers = (asked.told, shown(handlers.confirm(YOU, f"{kind}:{which}")).told)
        told.append([str(answer).replace(which, "ID") for answer in answers])
    assert told[0] == told[1]
    assert 'role="alert"' in told[0][0] and 'role="alert"' in told[0][1]
    assert belongings(handlers.store, ME)[kind] == [mine]


@pytest.mark.parametrize("pressed", ["", "run", "run:", "votes:1", "file:../..", ":"])
def test_what_no_button_says_is_answered_by_a_sentence(
    handlers: Handlers, run: str, pressed: str
) -> None:
    assert 'role="alert"' in shown(handlers.ask(ME, pressed)).told
    assert 'role="alert"' in shown(handlers.confirm(ME, pressed)).told
    assert all(belongings(handlers.store, ME).values())


def test_everything_goes_at_once(handlers: Handlers, run: str, home: Path) -> None:
    asked = shown(handlers.ask(ME, EVERYTHING))
    assert "files: 1, runs: 1, inoculated models: 1, links that you gave: 1" in asked.question
    assert "Done." in shown(handlers.confirm(ME, EVERYTHING)).told
    assert not any(belongings(handlers.store, ME).values())
    assert list((home / "models").iterdir()) == []


def test_nothing_goes_where_it_is_kept(handlers: Handlers, run: str) -> None:
    assert shown(handlers.keep()).asked.visible is False
    assert all(belongings(handlers.store, ME).values())


def test_who_deletes_everything_forgets_which_links_they_opened(
    handlers: Handlers, run: str
) -> None:
    delete_all(handlers.store, handlers.engine, YOU)
    assert "opened by 0 others" in str(shown(handlers.show(ME)).tables)


def test_a_run_that_is_going_says_when_it_goes(
    handlers: Handlers, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers.store.create(ME, run_request(PLAN, sets))
    (run,) = belongings(handlers.store, ME)["run"]
    assert run.expires == "when you delete it"
    monkeypatch.setenv("NLI_CLINIC_KEEP_DAYS", "3")
    (run,) = belongings(handlers.store, ME)["run"]
    assert run.expires == "3 days after its end"


def test_sizes_are_for_people() -> None:
    assert [size(count) for count in (None, 0, 1500, 2_340_000)] == [
        "",
        "0.0 kB",
        "1.5 kB",
        "2.3 MB",
    ]


def test_what_is_skipped_stays(handlers: Handlers) -> None:
    assert isinstance(gr.skip(), dict) and shown(handlers.keep()).tables == gr.skip()
