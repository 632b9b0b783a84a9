"""Names typed into the page's lists: looked up among what is offered, never a path or a pattern."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gradio as gr
import pytest
from gradio.block_function import BlockFunction
from gradio.components import Component
from gradio.events import EventData
from starlette.requests import Request

from finetune.trials.planning import register_experiments
from probe.ui.server.checked_blocks import OWN_FAULT
from probe.ui.server.serving import Session
from tests.support.coroutines import result_of
from tests.support.pages.built import built

MARK = "typed-by-a-stranger"
TYPED = (f"../{MARK}", f"{MARK}*", f"[{MARK}", f"{MARK}\0")
LOOKS = ("open", "os.listdir", "os.scandir", "glob.glob", "pathlib.Path.glob")
"""What Python tells an audit hook where a file or a folder is looked at."""
_looked_at: list[str] | None = None


def _note(event: str, given: tuple[object, ...]) -> None:
    if _looked_at is not None and event in LOOKS and MARK in str(given):
        _looked_at.append(f"{event}{given}")


sys.addaudithook(_note)  # it cannot be taken back, so it notes while a test asks for it alone


@contextmanager
def looked_at() -> Iterator[list[str]]:
    """Return what is looked at on the disk by a name that was typed."""
    global _looked_at
    _looked_at = found = []
    try:
        yield found
    finally:
        _looked_at = None


@pytest.fixture
def page(home: Path, monkeypatch: pytest.MonkeyPatch) -> gr.Blocks:
    """The whole app, as strangers have it, with the page that a password opens."""
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "yes")
    monkeypatch.setenv("NLI_CLINIC_ADMIN_PASSWORD", "secret")
    register_experiments()
    return built()


def answer(page: gr.Blocks, event: BlockFunction, place: int, typed: str) -> str:
    """Type a name into one list of an event; return the words of a refusal, "" for an answer."""
    values = [getattr(part, "value", None) for part in event.inputs]
    values = [value() if callable(value) else value for value in values]
    several = isinstance(values[place], list) or getattr(event.inputs[place], "multiselect", False)
    values[place] = [typed] if several else typed
    scope = {"type": "http", "query_string": b"", "headers": [], "client": ("127.0.0.1", 1)}
    asked = gr.Request(Request(scope), session_hash="stranger")
    state, cell = Session(page), EventData(None, {"cell": typed})
    try:
        result_of(page.process_api(event, values, state, request=asked, event_data=cell))
    except gr.Error as refused:
        return str(refused.message)
    return ""


def test_a_name_that_is_typed_is_looked_up_among_what_is_offered(page: gr.Blocks) -> None:
    faults, asked = [], 0
    for number, event in page.fns.items():
        parts: list[Component] = event.inputs if event.fn else []  # type: ignore[assignment]
        for place, part in enumerate(parts):
            if isinstance(part, gr.Dropdown) and part.allow_custom_value:
                typed = TYPED[asked % len(TYPED)]
                asked += 1
                with looked_at() as found:
                    words = answer(page, event, place, typed)
                if found or words == OWN_FAULT:
                    faults.append((number, part.label, typed, words, found))
    assert faults == []
    assert asked > 100
