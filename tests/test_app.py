"""A tab is one row of TABS; app.py only puts them together."""

from dataclasses import replace
from pathlib import Path

import gradio as gr
import pytest

from app import TABS
from probe.models.library import ModelCache
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.html.elements import note
from probe.ui.page import Core, Page, TabEntry, build_page
from probe.ui.server.fair_queue import LONG_PAUSE
from probe.ui.server.serving import PROGRESS_PAUSE, launch_options, queued
from tests.support.checkout import imports

ALLOWED = (
    *("probe.ui", "finetune.ui", "probe.models.library", "probe.runs", "probe.settings"),
    *("finetune.trials.planning", "probe.native_environment"),
    *("os", "sys", "signal", "atexit", "functools", "collections", "typing"),
)
"""What app.py may import: pages, stores, settings of the app and of torch's libraries, the
registration of experiments."""


@pytest.fixture
def core(home: Path) -> Core:
    """A core with an empty store and no gallery."""
    store = Store()
    return Core(ModelCache(), store, Engine(store), home)


def titles(blocks: gr.Blocks) -> list[str]:
    """Return the tabs of a page as a browser is told of them."""
    components = blocks.get_config_file()["components"]
    return [part["props"]["label"] for part in components if part["type"] == "tabitem"]


def build_made_up(page: Page) -> None:
    """A tab made up for this test."""
    shown = gr.HTML(elem_id="made-up")
    text = gr.Textbox(elem_id="made-up-text")
    text.submit(note, text, shown)
    assert isinstance(page.core.store, Store)


def test_a_tab_costs_one_module_and_one_row(core: Core) -> None:
    blocks = build_page([*TABS, TabEntry("made-up", "Made up", build_made_up)], core)
    assert titles(blocks) == [*(entry.title for entry in TABS), "Made up"]
    ids = {part["props"].get("elem_id") for part in blocks.get_config_file()["components"]}
    assert {"made-up", "made-up-text", "answer", "catalogue"} <= ids


def test_every_tab_stands_alone(core: Core) -> None:
    for entry in TABS:
        assert titles(build_page([replace(entry, title="Alone")], core)) == ["Alone"], entry.id


def test_the_app_imports_pages_stores_and_settings() -> None:
    assert [name for name in imports("app.py") if not name.startswith(ALLOWED)] == []


def test_the_queue_rests_and_gradio_still_asks_how_long(core: Core) -> None:
    queue = queued(build_page([], core))._queue
    assert (queue.sleep_when_free, queue.progress_update_sleep_when_free) == (
        LONG_PAUSE,
        PROGRESS_PAUSE,
    )
    code = (Path(gr.__file__).parent / "queueing.py").read_text(encoding="utf-8")
    assert "asyncio.sleep(self.sleep_when_free)" in code
    assert "asyncio.sleep(self.progress_update_sleep_when_free)" in code


def test_no_run_of_an_endpoint_is_recorded() -> None:
    assert launch_options()["run_history"] is False


def test_each_endpoint_has_the_name_that_it_was_given(core: Core) -> None:
    events = build_page(TABS, core).fns.values()
    names = {event.api_name for event in events if event.fn and event.api_visibility == "public"}
    assert names == {
        *("probe", "load_model", "batch", "hub_dataset", "compare", "compare_pair", "hans"),
        *(
            "checkup",
            "inoculate",
            "calibrate",
            "mitigate",
            "transfer",
            "generalise",
            "run",
            "cancel",
            "again",
        ),
    }


def test_every_parameter_of_every_endpoint_is_described_where_gradio_shows_it(core: Core) -> None:
    endpoints = build_page(TABS, core).get_api_info()["named_endpoints"]
    described = {
        (name, parameter["parameter_name"]): parameter["python_type"]["description"]
        for name, endpoint in endpoints.items()
        for parameter in endpoint["parameters"]
    }
    assert described["/hans", "n"] == "How many pairs each sub-case has."
    assert described["/batch", "file"].startswith("A table of examples")
    assert [place for place, words in described.items() if not words] == []


def test_an_event_that_may_be_told_again_has_one_answer(core: Core) -> None:
    """Else each of two has the other sent again, for ever (`Page.mark_of`)."""
    blocks = build_page(TABS, core)
    marks = {name for name, part in blocks.blocks.items() if "first-task" in (part.elem_id or "")}
    once = {None, *marks}  # what comes after another answer has no other listeners
    answers: dict[tuple[int | None, str], list[str | None]] = {}
    for event in blocks.fns.values():
        for target in event.targets if event.fn and event.trigger_mode != "once" else ():
            answers.setdefault(target, []).append(f"{event.api_name} {event.trigger_mode}")
    shared = [
        names
        for (part, _), names in answers.items()
        if part not in once and len(names) > 1 and "always_last" in " ".join(names)
    ]
    assert len(answers) > 100 and shared == []


def test_no_choice_and_no_press_of_a_part_is_dropped(core: Core) -> None:
    """What is chosen while an answer is made is answered, and a press by what was pressed."""
    blocks = build_page(TABS, core)
    events = [event for event in blocks.fns.values() if event.fn]
    choices = {"input", "select", "change", "upload", "release"}
    dropped = [
        event.api_name
        for event in events
        if event.trigger_mode == "once" and choices & {name for _, name in event.targets}
    ]
    assert dropped == []
    of_parts = [
        event.trigger_mode
        for event in events
        if event.collects_event_data
        and not any(isinstance(blocks.blocks[part], gr.Button) for part, _ in event.targets)
    ]
    assert set(of_parts) == {"multiple"}
