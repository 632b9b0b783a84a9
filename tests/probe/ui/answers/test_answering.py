"""An answer ends when its time is up, and when nobody waits for it any more."""

import time
from collections.abc import Iterator
from threading import Event

import gradio as gr
import httpx
import pytest

from probe.errors import Stopped
from probe.stopping import check_stop
from probe.ui.answers.answering import LEFT, answering, in_steps
from probe.ui.server.checked_blocks import CheckedBlocks

MAX_SECONDS = 30


@pytest.fixture
def one_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers may take one second, files one minute."""
    monkeypatch.setenv("NLI_CLINIC_ANSWER_SECONDS", "1")
    monkeypatch.setenv("NLI_CLINIC_FILE_MINUTES", "1")


def test_an_answer_ends_when_its_time_is_up(
    one_second: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.monotonic()
    steps = 0

    @answering("answer_seconds")
    def answer() -> None:
        nonlocal steps
        for second in (0.5, 0.9, 1.1):
            monkeypatch.setattr(time, "monotonic", lambda at=began + second: at)
            check_stop()
            steps += 1

    with pytest.raises(Stopped, match="this took longer than 1 seconds"):
        answer()
    assert steps == 2


def test_a_file_ends_between_two_parts_and_inside_one(
    one_second: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.monotonic()

    def parts() -> Iterator[int]:
        for minute in (0, 0.5, 2):
            monkeypatch.setattr(time, "monotonic", lambda at=began + 60 * minute: at)
            check_stop()
            yield 1

    done = 0
    with pytest.raises(Stopped, match="this took longer than 1 minutes"):
        for part in in_steps("file_minutes", parts()):
            done += part
    assert done == 2


def test_without_a_limit_and_outside_of_the_page_nothing_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NLI_CLINIC_FILE_MINUTES", raising=False)
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "no")
    assert list(in_steps("file_minutes", iter(range(3)))) == [0, 1, 2]


class Work:
    """Two handlers that go on until they are told to stop, and how they ended."""

    def __init__(self) -> None:
        self.begun, self.ended = Event(), Event()
        self.reason = ""

    def go_on(self) -> None:
        """Work until something ends it."""
        self.begun.set()
        deadline = time.monotonic() + MAX_SECONDS
        try:
            while time.monotonic() < deadline:
                check_stop()
                time.sleep(0.01)
        except Stopped as stopped:
            self.reason = str(stopped)
        self.ended.set()

    def in_parts(self) -> Iterator[None]:
        """Yield one part before the work."""
        yield
        self.go_on()


@pytest.fixture(params=["one answer", "parts"])
def working(request: pytest.FixtureRequest) -> Iterator[tuple[Work, str]]:
    """A page whose one event works without an end, and says nothing of when to stop."""
    work = Work()

    def parts() -> Iterator[str]:
        for _ in in_steps("file_minutes", work.in_parts()):
            yield "one part"

    with CheckedBlocks() as page:
        asked = gr.Button()
        asked.click(work.go_on if request.param == "one answer" else parts, None, gr.HTML())
    _, url, _ = page.queue().launch(prevent_thread_lock=True, quiet=True)
    yield work, f"{url}gradio_api/"
    page.close()


def joined(url: str) -> str:
    """Press the button in a session called me; return the event."""
    body = {"data": [], "fn_index": 0, "session_hash": "me"}
    event_id: str = httpx.post(f"{url}queue/join", json=body).raise_for_status().json()["event_id"]
    return event_id


def test_work_ends_when_its_page_is_closed(working: tuple[Work, str]) -> None:
    work, url = working
    joined(url)
    with httpx.stream("GET", f"{url}queue/data", params={"session_hash": "me"}) as stream:
        next(stream.iter_lines())
        assert work.begun.wait(MAX_SECONDS)
    assert work.ended.wait(MAX_SECONDS)
    assert work.reason == LEFT


def test_work_ends_when_it_is_cancelled(working: tuple[Work, str]) -> None:
    work, url = working
    event_id = joined(url)
    assert work.begun.wait(MAX_SECONDS)
    body = {"session_hash": "me", "fn_index": 0, "event_id": event_id}
    httpx.post(f"{url}cancel", json=body, timeout=MAX_SECONDS).raise_for_status()
    assert work.ended.wait(MAX_SECONDS)
    assert work.reason == LEFT
