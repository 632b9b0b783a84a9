"""The same question is computed once, whoever asks it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from markupsafe import Markup

from probe.errors import ExampleError, Stopped
from probe.stopping import stopping
from probe.ui.answers import answering
from probe.ui.answers.answering import Answer, SharedAnswers, model_key
from tests.support.models.tiny_models import tiny_classifier

ANSWER = (Markup("yes"),)


def counted(answer: Answer = ANSWER) -> tuple[Callable[[], Answer], list[int]]:
    """Return a computation and the list of its calls."""
    calls = list[int]()

    def compute() -> Answer:
        calls.append(1)
        return answer

    return compute, calls


def test_an_answer_is_kept() -> None:
    answers = SharedAnswers()
    compute, calls = counted()
    assert [answers.get("key", compute) for _ in range(3)] == [ANSWER] * 3
    assert len(calls) == 1


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


def test_another_question_does_not_wait() -> None:
    answers = SharedAnswers()
    compute, _ = counted()
    assert answers.get("one", lambda: answers.get("another", compute)) == ANSWER


def test_a_refusal_is_not_kept() -> None:
    answers = SharedAnswers()
    compute, _ = counted()

    def refuse() -> Answer:
        raise ExampleError("the premise is empty")

    for _ in range(2):
        with pytest.raises(ExampleError):
            answers.get("key", refuse)
    assert answers.get("key", compute) == ANSWER


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
    monkeypatch.setattr(answering, "ANSWER_BYTES", 2500)
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
