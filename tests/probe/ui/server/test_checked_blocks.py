"""Requests to a page: what is wrong with them is said before any handler runs, bugs stay inside."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio.components import Component
from gradio.events import EventData
from gradio.state_holder import SessionState

from probe.errors import ModelError
from probe.stopping import check_stop
from probe.ui.server.checked_blocks import KINDS, OWN_FAULT, CheckedBlocks
from tests.support.coroutines import result_of
from tests.support.pages.built import built


def page(handler: Callable[..., Any], part: Callable[[], Any] = gr.Textbox) -> CheckedBlocks:
    """Return a page with one event: `handler` of one component."""
    with CheckedBlocks() as blocks:
        given, shown = part(), gr.Textbox()
        gr.Button().click(handler, given, shown, api_visibility="private")
    return blocks


def answer(blocks: CheckedBlocks, *values: object, **named: Any) -> object:
    """Return what the page's event answers to these values."""
    event = next(iter(blocks.fns.values()))
    asked = blocks.process_api(event, list(values), SessionState(blocks), **named)
    return result_of(asked)["data"][0]


def refusal(blocks: CheckedBlocks, *values: object, **named: Any) -> gr.Error:
    """Return how the page refuses these values."""
    with pytest.raises(gr.Error) as refused:
        answer(blocks, *values, **named)
    return refused.value


def never(value: object) -> str:
    raise AssertionError(f"the handler was asked about {value!r}")


def test_what_fits_reaches_the_handler() -> None:
    assert answer(page(str.upper), "a dog") == "A DOG"


def test_a_text_that_was_never_typed_is_an_empty_one() -> None:
    assert answer(page(repr), None) == "''"


def test_a_wrong_value_is_refused_before_the_handler_and_not_logged() -> None:
    refused = refusal(page(never, lambda: gr.Number(label="Seed", minimum=0, precision=0)), [1])
    assert refused.message == "Seed [1] is not a whole number from 0 to 2,147,483,647"
    assert not refused.print_exception


@pytest.mark.parametrize("values", [(), ("a", "b")])
def test_too_few_and_too_many_values_are_refused(values: tuple[str, ...]) -> None:
    words = f"this takes 1 values, and {len(values)} were sent"
    assert refusal(page(never), *values).message == words


def test_the_state_that_the_app_keeps_is_its_own_whatever_is_sent() -> None:
    assert answer(page(str, lambda: gr.State("kept")), {"sent": [1]}) == "kept"


def test_a_file_of_the_machine_is_refused_without_its_place(tmp_path: Path) -> None:
    blocks = page(never, gr.File)
    blocks.has_launched = True
    place = tmp_path / "secret.csv"
    place.write_text("a")
    sent = {"path": str(place), "meta": {"_type": "gradio.FileData"}}
    assert refusal(blocks, sent).message == "this file was not sent here; choose it again"


def test_a_choice_that_came_later_is_taken() -> None:
    blocks = page(str.upper, gr.Dropdown)
    event = next(iter(blocks.fns.values()))
    state = SessionState(blocks)
    assert "not one of what it offers" in str(refusal(blocks, "a").message)
    state[event.inputs[0]._id] = gr.Dropdown(["a"])
    assert result_of(blocks.process_api(event, ["a"], state))["data"] == ["A"]


def test_a_refusal_of_the_core_is_its_sentence() -> None:
    def refuse(text: str) -> str:
        raise ModelError(f"no model called {text}")

    refused = refusal(page(refuse), "a")
    assert (refused.message, refused.print_exception) == ("no model called a", False)


def test_a_bug_is_logged_and_its_words_stay_in_the_log() -> None:
    def broken(text: str) -> str:
        raise KeyError("the inside")

    refused = refusal(page(broken), "a")
    assert (refused.message, refused.print_exception) == (OWN_FAULT, True)
    assert isinstance(refused.__cause__, KeyError)


@pytest.mark.parametrize("pressed", [None, 5, "the cell", [1], {"row": "a"}])
def test_what_brings_no_cell_presses_none(pressed: object) -> None:
    def press(text: str, event: gr.EventData) -> str:
        return str(getattr(event, "cell", "none"))

    assert answer(page(press), "a", event_data=EventData(None, pressed)) == "none"


def test_it_is_known_what_each_component_of_our_pages_takes() -> None:
    parts: set[type[Component]] = {
        type(part)
        for event in built().fns.values()
        if event.fn  # what runs in the browser alone brings nothing here
        for part in event.inputs
    }  # type: ignore[assignment]  # gradio calls them blocks
    assert parts <= set(KINDS)
    assert len(parts) > 8


@pytest.mark.parametrize("form", ["one answer", "parts"])
def test_every_event_ends_when_its_time_is_up(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_ANSWER_SECONDS", "1")

    def work(_: object) -> str:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            check_stop()
        return "went on"

    def parts(_: object) -> Iterator[str]:
        yield work(_)

    refused = refusal(page(work if form == "one answer" else parts), "")
    assert str(refused.message).startswith("this took longer than 1 seconds")
