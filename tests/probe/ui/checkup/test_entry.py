"""The check-up in the frame of what starts runs: begun, found again, shown to others, deleted."""

from html import unescape
from pathlib import Path

import gradio as gr
import pytest

from probe.runs.access import redeem
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.ui.checkup.panel import Fields, entry
from probe.ui.panels.labelled_file import LabelledFile, most_fields
from probe.ui.run_tab.handlers import Handlers
from probe.ui.run_tab.looked_at import Offered
from probe.ui.run_tab.view import Outputs
from probe.ui.visitors.belongings import belongings, delete
from tests.support.pages.visitors import ME, YOU, page_models

VALUES = ["bundled", None, *[None] * (most_fields() + 1), "", 5, 0, "cut"]
UPLOAD = 1
"""The place of the uploaded file among the form's values."""


def fields() -> Fields:
    """Return fields of which only the number matters."""
    with gr.Blocks():
        columns = [gr.Dropdown() for _ in range(most_fields() + 1)]
        texts = [gr.Textbox() for _ in range(2)]
        file = LabelledFile(
            gr.File(), {}, columns, texts[0], gr.HTML(), gr.HTML(), gr.HTML(), gr.Button(),
            gr.Column(),
        )  # fmt: skip
        return Fields(gr.Radio(), file)


@pytest.fixture
def handlers(
    waiting_engine: tuple[Store, Engine], home: Path, monkeypatch: pytest.MonkeyPatch
) -> Handlers:
    """The handlers; all runs wait."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(home / "gradio"))
    own, (store, engine) = entry(fields()), waiting_engine
    return Handlers(own, store, engine, page_models(), Offered(own, store, ()), [UPLOAD])


def test_a_press_begins_a_check_up_that_is_found_again(handlers: Handlers) -> None:
    problem, listed = handlers.start(ME, "nli", "da", *VALUES)
    (run,) = handlers.store.runs(ME)
    assert not problem and listed.value == run.id
    again = handlers.begin(NLI, ME, {})
    assert again[0].value == run.id
    assert again[0].choices[0][0] == "Check-up of Decomposable Attention · waiting"
    assert len(again) == 4 + len(VALUES)  # list, problem, start, model, and all fields
    looked = Outputs(*handlers.look(ME, run.id))
    assert looked.halt.visible and "Waiting: Check-up of Decomposable" in looked.progress


def test_before_the_first_one_its_place_says_what_to_do(handlers: Handlers) -> None:
    assert "press Check this model up" in Outputs(*handlers.look(ME, "")).results


def test_questions_about_passages_have_check_ups_too(handlers: Handlers) -> None:
    handlers.start(ME, "reading", "bidaf", *VALUES)
    (run,) = handlers.store.runs(ME)
    assert handlers.begin(handlers.entry.suited(READING), ME, {})[0].value == run.id
    assert not handlers.begin(NLI, ME, {})[0].value


def test_a_link_to_a_model_that_is_not_here_is_said_to_be_one(handlers: Handlers) -> None:
    problem = unescape(handlers.begin(NLI, ME, {"view": "compare", "model": "nosuch"})[1])
    assert "names the model 'nosuch', which is not here; MiniLM is chosen instead." in problem
    assert not handlers.begin(NLI, ME, {"view": "compare", "model": "da"})[1]


def test_a_link_opens_it_in_compare_and_only_for_its_holders(handlers: Handlers) -> None:
    handlers.start(YOU, "nli", "da", *VALUES)
    (run,) = handlers.store.runs(YOU)
    link = {"view": "compare", "run": run.id}
    assert "that this browser may see" in handlers.begin(NLI, ME, link)[1]
    _, shared = handlers.share(YOU, run.id, "nli")
    assert shared.value.startswith(f"measure?view=compare&task=nli&run={run.id}&grant=")
    redeem(handlers.store, ME, shared.value.rpartition("grant=")[2])
    assert handlers.begin(NLI, ME, link)[0].value == run.id


def test_it_keeps_no_model_so_that_no_place_for_one_is_needed(
    handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_KEPT_MODELS", "1")
    problems = [handlers.start(ME, "nli", name, *VALUES)[0] for name in ("da", "esim")]
    assert not any(problems) and len(handlers.store.runs(ME)) == 2


def test_my_data_lists_it_and_removes_it(handlers: Handlers) -> None:
    handlers.start(ME, "nli", "da", *VALUES)
    (run,) = handlers.store.runs(ME)
    handlers.store.set_state(run.id, "cancelled")
    (mine,) = belongings(handlers.store, ME)["run"]
    assert mine.name == "Check-up of Decomposable Attention (cancelled)"
    delete(handlers.store, handlers.engine, ME, "run", mine.id)
    assert not belongings(handlers.store, ME)["run"] and not handlers.store.runs()


def test_what_is_wrong_with_the_form_is_said_in_place_of_the_estimate(handlers: Handlers) -> None:
    wrong = ["one", *VALUES[1:]]
    assert "needs more than one example" in handlers.forecast(ME, "da", *wrong)
    problem, _ = handlers.start(ME, "nli", "da", *wrong)
    assert "needs more than one example" in problem and not handlers.store.runs()
