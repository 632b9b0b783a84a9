"""What a tab of runs starts, shows, stops and takes away, and what it says where it cannot."""

from pathlib import Path

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import run_request
from probe.runs.access import redeem
from probe.runs.engine import Engine
from probe.runs.gallery import gallery_runs
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.ui.run_tab.handlers import Handlers
from probe.ui.run_tab.looked_at import Offered
from probe.ui.run_tab.view import Outputs
from tests.support.pages.visitors import ME, YOU, page_models
from tests.support.processes.database_trouble import locked
from tests.support.runs.run_tab import PLAN, run_tab

FILE = 1
"""The place of the uploaded file among the form's values."""


@pytest.fixture
def handlers(
    waiting_engine: tuple[Store, Engine], home: Path, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> Handlers:
    """A tab's handlers; all runs wait."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(home / "gradio"))
    entry, (store, engine) = run_tab(sets), waiting_engine
    offered = Offered(entry, store, gallery_runs())
    return Handlers(entry, store, engine, page_models(), offered, [FILE])


def shown(values: list[object]) -> Outputs:
    """Return what is shown under its names."""
    return Outputs(*values)


def test_what_is_started_is_looked_at_with_its_progress(handlers: Handlers) -> None:
    problem, listed = handlers.start(ME, "nli", "minilm", 6, None)
    (run,) = handlers.store.runs(ME)
    assert not problem and listed.value == run.id
    looked = shown(handlers.look(ME, run.id))
    assert "Waiting: negation on minilm" in looked.progress
    assert "Waiting for its turn" in looked.results
    assert looked.halt.visible and looked.timer.active and not looked.take.visible
    handlers.store.set_state(run.id, "running")
    assert "The first step is under way" in shown(handlers.look(ME, run.id)).results


@pytest.mark.parametrize(
    ("owner", "model", "size", "file", "sentence"),
    [
        (ME, "minilm", 0, None, "give at least one size"),
        (ME, "no-such-model", 6, None, "no-such-model"),
        ("nobody", "minilm", 6, None, "does not know your browser yet"),
        (ME, "minilm", 6, "/etc/hostname", "this file is not here any more"),
    ],
)
def test_a_wrong_form_is_answered_by_a_sentence_and_starts_nothing(
    handlers: Handlers, owner: str, model: str, size: int, file: str | None, sentence: str
) -> None:
    problem, _ = handlers.start(owner, "nli", model, size, file)
    assert sentence in problem
    assert not handlers.store.runs()


def test_the_estimate_says_what_is_wrong_with_a_form(handlers: Handlers) -> None:
    assert handlers.forecast(ME, "minilm", 6, None) == "(6,)"
    assert "give at least one size" in handlers.forecast(ME, "minilm", 0, None)


def test_a_page_begins_with_the_newest_own_run_and_a_newcomers_with_the_gallerys(
    handlers: Handlers, sets: Sets
) -> None:
    assert handlers.begin(NLI, ME, {})[0].value.startswith("gallery-minilm-")
    of_esim = {"aim": "trial", "model": "esim"}
    assert handlers.begin(NLI, ME, of_esim)[0].value.startswith("gallery-esim-")
    handlers.start(ME, "nli", "minilm", 6, None)
    listed = handlers.begin(NLI, ME, {})[0]
    assert listed.value == handlers.store.runs(ME)[0].id
    assert [title for title, _ in listed.choices][:2] == [
        "negation on minilm · waiting", "Ready-made: all of minilm"
    ]  # fmt: skip


def test_another_task_has_its_own_models_fields_and_runs(handlers: Handlers) -> None:
    listed, problem, start, model, field, _ = handlers.begin(PARAPHRASE_IDENTIFICATION, ME, {})
    assert [title for title, _ in listed.choices] == ["Ready-made: all of minilm_qqp"]
    assert not problem and start.interactive
    assert model.value == "minilm_qqp" and field.label == "Size for paraphrase"


def test_a_link_opens_a_run_that_was_shared_and_no_other(handlers: Handlers) -> None:
    handlers.start(YOU, "nli", "minilm", 6, None)
    (run,) = handlers.store.runs(YOU)
    link = {"aim": "trial", "run": run.id}
    assert "that this browser may see" in handlers.begin(NLI, ME, link)[1]
    _, shared = handlers.share(YOU, run.id, "nli")
    assert shared.value.startswith(f"train?aim=trial&task=nli&run={run.id}&grant=")
    redeem(handlers.store, ME, shared.value.rpartition("grant=")[2])
    listed = handlers.begin(NLI, ME, link)[0]
    assert listed.value == run.id
    assert listed.choices[0][0] == "negation on minilm · waiting (shown to you)"
    looked = shown(handlers.look(ME, run.id))
    assert not looked.halt.visible and not looked.share.visible


def test_only_ones_own_runs_are_stopped_and_taken_up_again(handlers: Handlers) -> None:
    handlers.start(YOU, "nli", "minilm", 6, None)
    (run,) = handlers.store.runs(YOU)
    handlers.stop(ME, run.id)
    assert not handlers.store.get(run.id).cancelling
    handlers.stop(YOU, run.id)
    assert handlers.store.get(run.id).cancelling
    handlers.store.set_state(run.id, "cancelled")
    assert shown(handlers.look(YOU, run.id)).again.visible
    handlers.take_up(YOU, run.id)
    assert handlers.store.get(run.id).state == "queued"


def test_a_tick_draws_only_what_is_new(handlers: Handlers) -> None:
    handlers.start(ME, "nli", "minilm", 6, None)
    (run,) = handlers.store.runs(ME)
    seen = shown(handlers.look(ME, run.id)).seen
    *again, listed = handlers.tick(seen, ME, run.id, "nli")
    assert isinstance(shown(again).results, dict) and isinstance(listed, dict)  # to be skipped
    handlers.store.set_state(run.id, "failed")
    *after, listed = handlers.tick(seen, ME, run.id, "nli")
    assert "Take the run up again" in shown(after).results
    assert listed.choices[0][0] == "negation on minilm · failed"
    assert 'data-state="finished"' in shown(after).ended


def test_the_browsers_title_says_the_state_of_a_run_and_no_time_that_passes(
    handlers: Handlers,
) -> None:
    handlers.start(ME, "nli", "minilm", 6, None)
    (run,) = handlers.store.runs(ME)

    def title(values: list[object]) -> str:
        return str(shown(values).ended).partition('data-title="')[2].partition('"')[0]

    handlers.store.set_state(run.id, "running")
    running = handlers.tick("", ME, run.id, "nli")[:-1]
    assert title(running) == "Running: negation on minilm · 0 of 2 steps"
    assert title(handlers.stop(ME, run.id)).startswith("Stopping: ")
    handlers.store.set_state(run.id, "cancelled")
    stopped = handlers.tick("", ME, run.id, "nli")[:-1]
    assert title(stopped).startswith("Stopped: ")
    assert title(handlers.take_up(ME, run.id)).startswith("Waiting: ")


def test_choosing_a_model_opens_its_finished_runs_unless_own_ones_are_looked_at(
    handlers: Handlers,
) -> None:
    assert handlers.follow_model("esim", "gallery-minilm-negation", ME, "nli")[0].startswith(
        "gallery-esim-"
    )
    handlers.start(ME, "nli", "minilm", 6, None)
    own = handlers.store.runs(ME)[0].id
    assert isinstance(handlers.follow_model("esim", own, ME, "nli")[0], dict)


def test_files_are_made_of_what_is_finished(handlers: Handlers) -> None:
    files = handlers.make_files(ME, "gallery-minilm-negation,gallery-esim-negation")
    (path,) = files.value
    assert Path(path["path"]).read_text() == "gallery-minilm-negation gallery-esim-negation"


def test_a_database_that_cannot_be_read_is_told_and_everything_stays(
    handlers: Handlers, sets: Sets, home: Path
) -> None:
    run = handlers.store.create(ME, run_request(PLAN, sets))
    with locked(home):
        told = shown(handlers.stop(ME, run.id))
    assert "the run database is locked by another program" in told.progress
    assert isinstance(told.results, dict)
    assert handlers.store.get(run.id).state == "queued"
