"""An answer ends when its time is up or nobody waits, and is made once for all who ask the same."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import gradio as gr
import httpx
import pytest
from markupsafe import Markup

from probe.errors import ExampleError, Stopped
from probe.stopping import check_stop, stopping, tell_answered
from probe.ui.answers import answering as module
from probe.ui.answers.answering import (
    LEFT,
    SHARE,
    STOPPED,
    Answer,
    Answered,
    Pace,
    SharedAnswers,
    StopRequests,
    answering,
    in_steps,
    model_key,
    seen_in_steps,
)
from probe.ui.server.checked_blocks import CheckedBlocks
from tests.support.models.tiny_models import tiny_classifier

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


def test_how_far_a_step_is_is_seen_while_it_takes_long_and_who_leaves_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "TICK", 0.01)
    seen, ended = Event(), Event()

    def steps() -> Iterator[int]:
        tell_answered(3)
        tell_answered(4)
        assert seen.wait(MAX_SECONDS)
        yield 1
        try:
            while not ended.wait(0.01):
                check_stop()
        except Stopped:
            ended.set()
            raise

    shown = seen_in_steps("file_minutes", steps())
    first = next(shown)
    while first == Answered(0, first.seconds):  # it has only begun
        first = next(shown)
    assert isinstance(first, Answered) and first.texts in (3, 7)
    seen.set()
    assert next(each for each in shown if not isinstance(each, Answered)) == 1
    assert next(shown) == Answered(0, pytest.approx(0, abs=MAX_SECONDS))
    shown.close()
    assert ended.is_set()


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
        lines = stream.iter_lines()  # kept: one that is forgotten closes its stream
        next(lines)
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


def test_a_page_asks_its_own_work_to_stop_and_no_other_until_it_takes_that_back() -> None:
    stops = StopRequests()
    mine, others = stops.reason("mine"), stops.reason("another")
    stops.ask("mine")
    assert (mine(), others()) == (STOPPED, "")
    stops.withdraw("mine")
    assert mine() == ""


def test_the_first_step_is_due_and_the_next_one_only_after_a_while() -> None:
    pace, cost = Pace(), 0.02
    due = []
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        with pace.turn() as now:
            due.append(now)
            time.sleep(cost if now else 0.001)
    assert due[:2] == [True, False]
    assert 2 <= sum(due) <= 1.0 * SHARE / cost + 1


ANSWER = (Markup("yes"),)


def counted(answer: Answer = ANSWER) -> tuple[Callable[[], Answer], list[int]]:
    """Return a computation and the list of its calls."""
    calls = list[int]()

    def compute() -> Answer:
        calls.append(1)
        return answer

    return compute, calls


def test_a_class_that_asks_at_the_same_time_waits_for_one_computation() -> None:
    answers, calls = SharedAnswers(), list[int]()
    begun, go_on = Event(), Event()

    def compute() -> Answer:
        calls.append(1)
        begun.set()
        go_on.wait(30)
        return ANSWER

    with ThreadPoolExecutor(8) as visitors:
        asked = [visitors.submit(answers.get, "key", compute) for _ in range(8)]
        begun.wait(30)
        go_on.set()
    assert [each.result() for each in asked] == [ANSWER] * 8
    assert len(calls) == 1


def test_an_answer_is_kept_and_a_refusal_is_not_and_another_question_does_not_wait() -> None:
    answers = SharedAnswers()
    compute, calls = counted()

    def refuse() -> Answer:
        raise ExampleError("the premise is empty")

    for _ in range(2):
        with pytest.raises(ExampleError):
            answers.get("key", refuse)
    assert [answers.get("key", compute) for _ in range(3)] == [ANSWER] * 3 and len(calls) == 1
    assert answers.get("one", lambda: answers.get("another", compute)) == ANSWER


def test_who_waits_goes_on_where_the_first_is_stopped() -> None:
    answers = SharedAnswers()
    begun, stop = Event(), Event()
    compute, _ = counted()

    def stopped() -> Answer:
        begun.set()
        stop.wait(30)
        raise Stopped("the first one has left")

    with ThreadPoolExecutor(2) as visitors:
        first = visitors.submit(answers.get, "key", stopped)
        begun.wait(30)
        second = visitors.submit(answers.get, "key", compute)
        stop.set()
    assert isinstance(first.exception(), Stopped)
    assert second.result() == ANSWER


def test_who_waits_can_be_stopped_meanwhile() -> None:
    answers = SharedAnswers()
    begun, go_on = Event(), Event()

    def compute() -> Answer:
        begun.set()
        go_on.wait(30)
        return ANSWER

    def ask_and_leave() -> Answer:
        with stopping(lambda: "the second one has left"):
            return answers.get("key", compute)

    with ThreadPoolExecutor(2) as visitors:
        first = visitors.submit(answers.get, "key", compute)
        begun.wait(30)
        assert isinstance(visitors.submit(ask_and_leave).exception(), Stopped)
        go_on.set()
    assert first.result() == ANSWER


def test_the_answers_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_BYTES", 2500)
    answers = SharedAnswers()
    compute, calls = counted((Markup("x" * 1000),))
    for key in "abca":
        answers.get(key, compute)
    assert len(calls) == 4


def test_a_model_loaded_anew_under_its_name_is_another() -> None:
    one, other = tiny_classifier(), tiny_classifier()
    key = model_key(one)
    assert one.name == other.name
    assert key == model_key(one) != model_key(other)
    del one
    assert key != model_key(other)
