"""Long answers take turns between two batches; short ones never wait for them."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import gradio as gr
import httpx
import pytest

from probe.stopping import check_stop, pausing, stopping
from probe.ui.answers.answering import time_up
from probe.ui.answers.turns import ROUND_SECONDS, SHORT_SECONDS, Lanes, Work
from probe.ui.server.checked_blocks import CheckedBlocks
from probe.ui.server.fair_queue import EVENTS_AT_ONCE, queued

MAX_SECONDS = 60


def somebody_waits() -> str:
    """Say that nobody has left."""
    return ""


def long(lanes: Lanes, page: str, left: Callable[[], str] = somebody_waits) -> Work:
    """Return an answer of a page that has taken a while already."""
    work = lanes.begin(("", page), left)
    work.began -= 2 * SHORT_SECONDS
    return work


def test_a_short_answer_never_waits() -> None:
    lanes = Lanes(places=1)
    long(lanes, "a")()
    short = lanes.begin(("", "b"), somebody_waits)
    short()  # or the test would not end
    assert short.seconds == 0


def test_long_answers_go_on_one_after_the_other_and_round_among_the_pages() -> None:
    lanes, at_once, rounds, most = Lanes(places=1), 0, list[str](), 0

    def answer(page: str) -> None:
        nonlocal at_once, most
        work = long(lanes, page)
        for _ in range(3):
            work()
            at_once += 1
            most = max(most, at_once)
            rounds.append(page)
            time.sleep(0.01)
            at_once -= 1
            work.until = 0.0  # its round is over
        lanes.end(work)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(answer, "abc"))
    assert most == 1
    assert sorted(rounds[:3]) == sorted(rounds[3:6]) == ["a", "b", "c"]


def test_who_has_a_place_keeps_it_for_a_round_and_who_has_left_waits_no_longer() -> None:
    lanes = Lanes(places=1)
    first = long(lanes, "a")
    first()
    assert first.until - time.monotonic() > ROUND_SECONDS / 2
    gone = long(lanes, "b", lambda: "left")
    gone()  # or the test would not end
    lanes.end(gone)


def test_who_holds_a_place_and_waits_for_what_another_has_loses_it() -> None:
    lanes, lock = Lanes(places=1), Lock()
    holder, other = long(lanes, "a"), long(lanes, "b")
    holder()
    with lock, ThreadPoolExecutor(1) as pool:
        waits = pool.submit(lambda: lock.acquire(timeout=MAX_SECONDS))  # as the holder does
        other()  # between two batches, with the lock: or the test would not end
        lock.release()
        assert waits.result()


def test_what_an_answer_has_waited_is_not_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_ANSWER_SECONDS", "1")
    work = Lanes().begin(("", "a"), somebody_waits)
    with pausing(work), stopping(reason := time_up("answer_seconds")):
        monkeypatch.setattr(time, "monotonic", lambda at=time.monotonic() + 5: at)
        work.until, work.seconds = time.monotonic() + 1, 4.5
        check_stop()
        work.seconds = 3.5
        assert reason().startswith("this took longer than 1 seconds")


@pytest.fixture
def url() -> Iterator[str]:
    """A page that answers at once or goes on until it is told to end, and where it is."""
    ended = Event()

    def answer(how: str) -> str:
        while how == "long" and not ended.wait(0.01):
            check_stop()
        return how

    with CheckedBlocks() as page:
        gr.api(answer, api_name="answer", concurrency_id="answers")
    _, place, _ = queued(page).launch(prevent_thread_lock=True, quiet=True)
    yield f"{place}gradio_api/call/answer"
    ended.set()
    page.close()


def test_one_who_asks_for_little_is_answered_beside_many_who_ask_for_much(url: str) -> None:
    def ask(how: str, page: str) -> str:
        body = {"data": [how], "session_hash": page}
        event: str = httpx.post(url, json=body, timeout=MAX_SECONDS).json()["event_id"]
        return event

    for number in range(2 * EVENTS_AT_ONCE):
        ask("long", f"page {number}")
    time.sleep(SHORT_SECONDS)
    answered = httpx.get(f"{url}/{ask('short', 'another')}", timeout=MAX_SECONDS)
    assert 'data: ["short"]' in answered.text
