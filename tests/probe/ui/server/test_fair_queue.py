"""Visitors take turns, and nobody lets too many events wait."""

import random
from collections.abc import Iterator
from threading import Event, Semaphore

import gradio as gr
import httpx
import pytest
from starlette.requests import Request

from probe.ui.server import fair_queue
from probe.ui.server.fair_queue import (
    LONG_PAUSE,
    PAGES_OF_AN_ADDRESS,
    PAUSE,
    Turns,
    Visitor,
    address,
    queued,
)

MAX_SECONDS = 30


def one_after_another(turns: Turns, waiting: list[Visitor]) -> list[Visitor]:
    """Return in which order events are served, one chosen after the other."""
    left, served = list(waiting), []
    while left:
        served.append(left.pop(turns.order(left)[0]))
        turns.take(served[-1])
    return served


def test_who_asks_once_does_not_wait_for_all_of_who_asks_often() -> None:
    waiting = [("a", "a1")] * 100 + [("b", "b1")]
    assert one_after_another(Turns(), waiting).index(("b", "b1")) == 1


def test_addresses_take_turns_and_their_pages_within_them() -> None:
    class_room = [("school", f"page {n}") for n in range(3)] * 2
    waiting = [*class_room, *[("home", "page")] * 2]
    assert one_after_another(Turns(), waiting) == [
        ("school", "page 0"),
        ("home", "page"),
        ("school", "page 1"),
        ("home", "page"),
        ("school", "page 2"),
        *class_room[:3],
    ]


def test_the_one_served_longest_ago_is_next() -> None:
    turns = Turns()
    for visitor in (("a", "1"), ("b", "1"), ("a", "2")):
        turns.take(visitor)
    assert turns.order([("a", "2"), ("a", "1"), ("b", "1"), ("c", "1")]) == [3, 2, 1, 0]


def test_the_events_of_a_page_keep_their_order() -> None:
    rng = random.Random(0)
    waiting = [(rng.choice("ab"), rng.choice("12")) for _ in range(50)]
    order = Turns().order(waiting)
    assert sorted(order) == list(range(50))
    for visitor in set(waiting):
        of_page = [at for at in order if waiting[at] == visitor]
        assert of_page == sorted(of_page)


def test_the_order_is_that_of_serving_one_after_another() -> None:
    rng = random.Random(1)
    for _ in range(50):
        waiting = [(rng.choice("abc"), rng.choice("12")) for _ in range(20)]
        planned, one_by_one = Turns(), Turns()
        for visitor in sorted(set(waiting)):
            planned.take(visitor)
            one_by_one.take(visitor)
        expected = one_after_another(one_by_one, waiting)
        assert [waiting[at] for at in planned.order(waiting)] == expected


def asked(forwarded: str) -> Request:
    """Return a request that came through a proxy."""
    headers = [(b"x-forwarded-for", forwarded.encode())]
    return Request({"type": "http", "client": ("10.0.0.1", 1), "headers": headers})


def test_on_a_space_the_address_is_what_its_proxy_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", "owner/name")
    assert address(asked("1.1.1.1, 203.0.113.7")) == "203.0.113.7"
    assert address(asked("")) == "10.0.0.1"


def test_elsewhere_a_visitor_cannot_write_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert address(asked("1.1.1.1")) == "10.0.0.1"


class Page:
    """A page whose answers wait until they may go on, and in which order they were given."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.answered = Event(), Event(), Semaphore(0)
        self.order = list[str]()
        with gr.Blocks() as blocks:
            text = gr.Textbox()
            gr.Button().click(self.answer, text, None, concurrency_limit=1)
        _, url, _ = queued(blocks).launch(prevent_thread_lock=True, quiet=True)
        self.blocks, self.url = blocks, f"{url}gradio_api/"

    def answer(self, text: str) -> None:
        """Note whose turn it is."""
        self.begun.set()
        assert self.go_on.wait(MAX_SECONDS)
        self.order.append(text)
        self.answered.release()

    def ask(self, session: str) -> httpx.Response:
        """Press the button."""
        body = {"data": [session], "fn_index": 0, "session_hash": session}
        return httpx.post(f"{self.url}queue/join", json=body)

    def begin(self, session: str) -> None:
        """Press the button and wait until it is answered."""
        self.ask(session).raise_for_status()
        assert self.begun.wait(MAX_SECONDS)

    def end(self, count: int) -> list[str]:
        """Let all go on; return whose turns it were, once there are so many."""
        self.go_on.set()
        assert all(self.answered.acquire(timeout=MAX_SECONDS) for _ in range(count))
        return self.order


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """A page that lets two events of each wait."""
    monkeypatch.setenv("NLI_CLINIC_MAX_WAITING", "2")
    page = Page()
    yield page
    page.go_on.set()
    page.blocks.close()


def test_pages_take_turns_in_the_running_queue(page: Page) -> None:
    page.begin("first")
    for session in ("first", "first", "last"):
        page.ask(session).raise_for_status()
    assert page.end(4) == ["first", "last", "first", "first"]


def test_a_page_with_too_many_waiting_is_refused_by_a_sentence(page: Page) -> None:
    page.begin("mine")
    answers = [page.ask("mine") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 400]
    assert "2 requests of yours are waiting already" in answers[-1].json()["detail"]
    assert page.ask("another").status_code == 200


def test_an_address_with_too_many_waiting_is_refused_by_a_sentence(page: Page) -> None:
    page.begin("mine")
    most = 2 * PAGES_OF_AN_ADDRESS
    answers = [page.ask(f"page {n}") for n in range(most + 1)]
    assert [answer.status_code for answer in answers] == [*[200] * most, 400]
    assert f"{most} requests of yours are waiting already" in answers[-1].json()["detail"]


def test_the_queue_is_looked_at_often_while_somebody_uses_the_app(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = page.blocks._queue
    assert queue.sleep_when_free == LONG_PAUSE
    page.begin("first")
    assert queue.sleep_when_free == PAUSE
    monkeypatch.setattr(fair_queue, "IN_USE", 0.0)
    assert queue.sleep_when_free == LONG_PAUSE
