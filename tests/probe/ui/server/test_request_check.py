"""Requests that are none are answered by a sentence, before gradio reads them."""

import time
from collections.abc import Iterator
from contextlib import ExitStack

import gradio as gr
import httpx
import pytest

from probe.ui.server.fair_queue import PAGES_OF_AN_ADDRESS, queued
from probe.ui.server.request_check import MAX_BODY, MAX_DEPTH
from probe.ui.server.serving import launch_options
from tests.support.waiting import MAX_SECONDS

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """A client of a page with one endpoint."""
    with gr.Blocks() as blocks:
        gr.api(shout, api_name="shout")
    _, url, _ = queued(blocks).launch(**launch_options(), prevent_thread_lock=True, quiet=True)
    with httpx.Client(base_url=f"{url}gradio_api/", timeout=60) as asking:
        yield asking
    blocks.close()


def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


def join(data: str, fn_index: object = 0) -> bytes:
    """Return a request to join the queue."""
    return f'{{"data": {data}, "fn_index": {fn_index}, "session_hash": "s"}}'.encode()


def test_a_request_is_answered_from_the_queue(client: httpx.Client) -> None:
    event = client.post("call/shout", json={"data": ["a"]}).json()["event_id"]
    assert 'data: ["A"]' in client.get(f"call/shout/{event}").text


def test_pages_and_json_are_sent_compressed_and_streams_are_not(client: httpx.Client) -> None:
    encodings = {}
    for address in ("/", "/config", "/gradio_api/info", "/theme.css"):
        came = client.get(str(client.base_url.join(address)), headers={"accept-encoding": "gzip"})
        assert came.text, address
        encodings[address] = came.headers.get("content-encoding")
    assert set(encodings.values()) == {"gzip"}, encodings
    event = client.post("call/shout", json={"data": ["a" * 5000]}).json()["event_id"]
    with client.stream("GET", f"call/shout/{event}") as stream:
        assert "content-encoding" not in stream.headers
        assert "A" * 5000 in "".join(stream.iter_text())


@pytest.mark.parametrize(
    ("address", "body", "words"),
    [
        ("queue/join", b"", "not JSON that can be read"),
        ("queue/join", b"{", "not JSON that can be read"),
        ("queue/join", b'"\xff"', "not JSON that can be read"),
        ("queue/join", b"[]", "not a JSON object"),
        ("queue/join", join("[" + "9" * 4301 + "]"), "not JSON that can be read"),
        ("queue/join", join("[" * 100_000 + "]" * 100_000), "not JSON that can be read"),
        ("queue/join", join("[" * MAX_DEPTH + "]" * MAX_DEPTH), "nests its values more than 32"),
        ("queue/join", join('["a"]', 99), "there is no such function"),
        ("call/nosuch", b'{"data": []}', "there is no such function"),
        ("call/v2/nosuch", b"{}", "there is no such function"),
        ("call/v2/shout", b"{}", "it lacks an argument"),
        ("call/v2/shout", b'{"words": "a"}', "it lacks an argument"),
    ],
)
def test_a_request_that_is_none_is_answered_by_a_sentence(
    client: httpx.Client, address: str, body: bytes, words: str
) -> None:
    came = client.post(address, content=body, headers=JSON)
    assert came.status_code == httpx.codes.BAD_REQUEST
    assert words in came.json()["detail"]


def test_a_body_of_one_byte_too_much_is_refused(client: httpx.Client) -> None:
    most = join('["' + "x" * (MAX_BODY - len(join('[""]'))) + '"]')
    assert len(most) == MAX_BODY
    assert client.post("queue/join", content=most, headers=JSON).status_code == httpx.codes.OK
    came = client.post("queue/join", content=most + b" ", headers=JSON)
    assert (came.status_code, came.json()["detail"]) == (
        httpx.codes.REQUEST_ENTITY_TOO_LARGE,
        "a request has at most 2,000,000 bytes; send a file as a file",
    )


def test_nobody_passes_the_queue(client: httpx.Client) -> None:
    came = client.post("run/shout", json={"data": ["a"]})
    assert came.status_code == httpx.codes.NOT_FOUND


def test_an_unknown_session_is_said_in_gradios_own_words(client: httpx.Client) -> None:
    came = client.get("queue/data", params={"session_hash": "nobody"})
    assert '"session_not_found":true' in came.text


@pytest.mark.parametrize(
    "address",
    ["process_recording", "vibe-edit", "dev/reload", "component_server", "queue/status"],
)
def test_what_no_page_uses_is_closed(client: httpx.Client, address: str) -> None:
    for method in ("GET", "POST"):
        with client.stream(method, address) as came:
            assert came.status_code == httpx.codes.NOT_FOUND


def test_an_answer_that_nobody_asked_for_is_refused(client: httpx.Client) -> None:
    came = client.get("call/shout/0123456789abcdef")
    assert (came.status_code, came.json()["detail"]) == (
        httpx.codes.NOT_FOUND,
        "there is no such answer; it is handed out once",
    )


def test_an_address_has_no_more_streams_open_than_requests_may_wait(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_WAITING", "1")
    most = PAGES_OF_AN_ADDRESS
    with ExitStack() as open_ones:
        streams = [
            open_ones.enter_context(client.stream("GET", f"heartbeat/{number}"))
            for number in range(most)
        ]
        assert [stream.status_code for stream in streams] == [httpx.codes.OK] * most
        for place in ("heartbeat/one-more", "upload_progress?upload_id=a"):
            came = client.get(place)
            assert came.status_code == httpx.codes.TOO_MANY_REQUESTS
            assert f"{most} requests of yours are waiting already" in came.json()["detail"]
    deadline = time.monotonic() + MAX_SECONDS
    while client.get("theme.css").status_code != httpx.codes.OK:  # until all are seen to be closed
        assert time.monotonic() < deadline


def test_an_upload_is_as_large_as_gradio_lets_it(client: httpx.Client) -> None:
    came = client.post("upload", files={"files": ("a.csv", b"x" * (MAX_BODY + 1))})
    assert came.status_code == httpx.codes.OK
