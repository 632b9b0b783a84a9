"""What a served page remembers of its visitors, asked by gradio's own client."""

from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest
from gradio_client import Client

from probe.ui.events import CHANGING
from probe.ui.server.serving import start

CAPACITY = 3


def count(number: int) -> int:
    """Count the presses of a session."""
    return number + 1


def page() -> gr.Blocks:
    """A page with a list whose choices change, and a state."""
    blocks: gr.Blocks
    with gr.Blocks() as blocks:
        choices, presses = gr.Dropdown(["a"], **CHANGING), gr.State(0)
        go, more = gr.Button(), gr.Button()
        more.click(lambda: gr.Dropdown(["a", "b"]), None, choices, api_name="more")
        go.click(lambda choice: f"{choice}!", choices, gr.Textbox(), api_name="choose")
        go.click(count, presses, presses, api_name="press")
        go.click(lambda number: number, presses, gr.Number(), api_name="presses")
    return blocks


@pytest.fixture(scope="module")
def served() -> Iterator[gr.Blocks]:
    """The page, which remembers three sessions."""
    blocks = page()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NLI_CLINIC_MAX_SESSIONS", str(CAPACITY))
        patch.delenv("GRADIO_SERVER_PORT", raising=False)
        start(blocks, quiet=True)
    yield blocks
    blocks.close(verbose=False)


def visitor(blocks: gr.Blocks) -> Client:
    return Client(blocks.local_url, verbose=False)


def ask(client: Client, name: str, *values: object) -> Any:  # Any: what the event gives
    return client.predict(*values, api_name=f"/{name}")


def sessions(blocks: gr.Blocks) -> set[str]:
    return set(blocks.app.state_holder.session_data)


def test_the_sessions_that_were_used_last_are_remembered(served: gr.Blocks) -> None:
    clients = [visitor(served) for _ in range(CAPACITY + 2)]
    for client in clients:
        ask(client, "press")
    ask(clients[2], "press")
    ask(visitor(served), "press")
    assert {client.session_hash for client in clients} & sessions(served) == {
        clients[2].session_hash,
        clients[4].session_hash,
    }
    assert len(sessions(served)) == CAPACITY
    assert [ask(client, "presses") for client in (clients[2], clients[4])] == [2, 1]


def test_what_the_queue_holds_of_a_session_goes_with_it(served: gr.Blocks) -> None:
    for _ in range(CAPACITY + 4):
        ask(visitor(served), "press")
    queue = served._queue
    assert set(queue.pending_messages_per_session) == sessions(served)
    assert set(queue.pending_event_ids_session) == sessions(served)
    assert len(queue.event_analytics) == 1
    assert queue.event_ids_to_events == {}


def test_a_session_that_was_dropped_begins_anew(served: gr.Blocks) -> None:
    first = visitor(served)
    ask(first, "press")
    for _ in range(CAPACITY):
        ask(visitor(served), "press")
    assert ask(first, "presses") == 0
    ask(first, "press")
    assert ask(first, "presses") == 1


def test_a_session_holds_no_component_and_a_choice_that_an_event_brought_is_taken(
    served: gr.Blocks,
) -> None:
    client = visitor(served)
    assert ask(client, "more")["choices"] == [["a", "a"], ["b", "b"]]
    assert ask(client, "choose", "b") == "b!"
    session = served.app.state_holder[client.session_hash]
    assert list(session.components) == []
    assert session.blocks_config.blocks == served.blocks
