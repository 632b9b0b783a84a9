"""How an answer is made: within bounds and a time, once for all who ask the same."""

import sys
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from threading import Condition, Event
from typing import Literal, ParamSpec, TypeVar
from weakref import ref

import gradio as gr
from gradio.context import LocalContext
from gradio.queueing import Queue
from markupsafe import Markup

from probe.cache import ByteBoundedCache
from probe.data.rows import require_text
from probe.limits import check, message, visitor_bounds
from probe.models.library import AnyModel
from probe.models.served import Served
from probe.settings import settings
from probe.stopping import Reason, check_stop, hearing, seconds_paused, stopping
from probe.tasks.task import Example, Task
from probe.ui.events import QUIET

P = ParamSpec("P")
T = TypeVar("T")
Limit = Literal["answer_seconds", "file_minutes"]
SECONDS: dict[Limit, int] = {"answer_seconds": 1, "file_minutes": 60}
"""The seconds of the limit's unit."""
LEFT = "nobody waits for this answer any more"


def answering(limit: Limit) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a handler have another limit than that of every event, `answer_seconds`."""

    def bound(handler: Callable[P, T]) -> Callable[P, T]:
        @wraps(handler)
        def answer(*given: P.args, **named: P.kwargs) -> T:
            with stopping(time_up(limit), caller_left(), alone=True):
                return handler(*given, **named)

        return answer

    return bound


def in_steps(limit: Limit, steps: Iterator[T], *reasons: Reason) -> Iterator[T]:
    """Do the same with work that yields its parts; other reasons may end it, too."""
    every = time_up(limit), caller_left(), *reasons
    while True:
        with stopping(*every, alone=True):
            check_stop()
            try:
                step = next(steps)
            except StopIteration:
                return
        yield step


TICK = 1.0
"""Seconds between two looks how far a step is."""


@dataclass(frozen=True)
class Answered:
    """So many texts are answered of the step that is under way, after so many seconds of it."""

    texts: int
    seconds: float


def seen_in_steps(limit: Limit, steps: Iterator[T], *reasons: Reason) -> Iterator[T | Answered]:
    """Do so on a thread, and say each second of a step how far that is."""
    left, texts, context = Event(), 0, copy_context()
    work = in_steps(limit, steps, *reasons, lambda: LEFT if left.is_set() else "")

    def hear(count: int) -> None:
        nonlocal texts
        texts += count

    def step() -> list[T]:
        with hearing(hear):
            return list(islice(work, 1))

    with ThreadPoolExecutor(1) as thread:
        try:
            while True:
                texts, began = 0, time.monotonic()
                coming = thread.submit(context.run, step)
                while wait([coming], TICK).not_done:
                    yield Answered(texts, time.monotonic() - began)
                if not (found := coming.result()):
                    return
                yield found[0]
        finally:  # also where nobody looks any more
            left.set()


def time_up(limit: Limit) -> Reason:
    """Begin to count; the time that an event waited, for its turn or others' work, is not in it."""
    most = getattr(settings(), limit)
    if most is None:
        return lambda: ""
    end = time.monotonic() - seconds_paused() + most * SECONDS[limit]
    return lambda: message(limit) if time.monotonic() - seconds_paused() > end else ""


def caller_left() -> Reason:
    """Look at the event of gradio's queue that this thread answers; outside of it nobody leaves."""
    blocks, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    return event_left(blocks._queue, event_id) if blocks else lambda: ""


def event_left(queue: Queue, event_id: str | None) -> Reason:
    """Look at an event of gradio's queue; what it does not know comes from nobody who can leave.

    The queue marks an event as not alive when its page or client has closed the stream of answers,
    and has no job for one that was cancelled.
    """
    event = queue.event_ids_to_events.get(event_id or "")
    if event is None:
        return lambda: ""

    def reason() -> str:
        at_work = any(events and event in events for events in queue.active_jobs)
        return "" if event.alive and at_work else LEFT

    return reason


MAX_SHOWN = 60
"""Characters of a chain that a refusal quotes."""


def check_example(task: Task, example: Example) -> None:
    """Refuse an example without text or with too much of it. Raises ExampleError, LimitError."""
    require_text(task, example, visitor_bounds())


def check_transforms(names: Sequence[str]) -> None:
    """Refuse too many transforms, and a chain of too many. Raises LimitError."""
    check("max_transforms", len(names))
    for name in names:
        shown = name if len(name) <= MAX_SHOWN else f"{name[:MAX_SHOWN]} …"
        check("max_chain", name.count("+") + 1, shown)


ANSWER_BYTES = 32_000_000
"""Bytes of recent answers that are kept, the least recently asked dropped first."""
LOOK_SECONDS = 0.2
"""How often somebody who waits for another's computation looks whether to go on waiting."""
Answer = tuple[Markup, ...]


class SharedAnswers:
    """Keeps recent answers as markup; of those who ask the same at the same time one computes.

    A refusal is not kept, and where the one who computes is stopped the next one begins anew.
    """

    def __init__(self) -> None:
        self._answers = ByteBoundedCache(lambda: ANSWER_BYTES, _bytes)
        self._computing = set[Hashable]()
        self._ended = Condition()

    def get(self, key: Hashable, compute: Callable[[], Answer]) -> Answer:
        """Return the answer of a key, computed where there is none. Raises Stopped."""
        with self._ended:
            while key in self._computing:
                check_stop()
                self._ended.wait(LOOK_SECONDS)
            self._computing.add(key)
        try:
            return self._answers.get(key, compute)
        finally:
            with self._ended:
                self._computing.remove(key)
                self._ended.notify_all()


def model_key(model: AnyModel) -> Hashable:
    """Return what tells a loaded model from every other, without holding it.

    A model that is loaded anew, under the same name too, is another one.
    """
    own = model if isinstance(model, Served) else model.model
    return ref(own), model.name, model.order


def _bytes(answer: Answer) -> int:
    return sum(map(sys.getsizeof, answer))


STOPPED = "stopped"
STOPPING = "html => window.told('Stopping …', html)"
SHARE = 0.1
"""The share of the time that may go into showing figures of what is not finished."""


class StopRequests:
    """The browser pages whose work is to stop, by their session."""

    def __init__(self) -> None:
        self._sessions = set[str]()

    def ask(self, session: str | None) -> None:
        """Let the work of a page stop at its next chance."""
        self._sessions.add(session or "")

    def withdraw(self, session: str | None) -> None:
        """Forget an earlier wish: new work begins."""
        self._sessions.discard(session or "")

    def heed(self, halt: gr.Button, shown: gr.HTML) -> None:
        """Stop when a button is pressed; what begins new work withdraws the wish itself.

        A button's answers are asked for one after the other: one of its own that forgets the wish
        would hold the work up until it is answered, for good where the answer is lost.
        The browser itself says so at once: a word from here may come after that of the end.
        """

        def stop(request: gr.Request) -> None:
            self.ask(request.session_hash)

        halt.click(None, shown, shown, js=STOPPING, **QUIET)
        halt.click(stop, None, None, **QUIET)

    def reason(self, session: str | None) -> Reason:
        """Return what ends the work of a page once it is asked to stop."""
        return lambda: STOPPED if (session or "") in self._sessions else ""


class Pace:
    """Lets a costly step be taken only so often that it takes a tenth of the time."""

    def __init__(self) -> None:
        self._due = 0.0

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Say whether the step is due, and measure what it takes."""
        began = time.monotonic()
        due = began >= self._due
        yield due
        if due:
            ended = time.monotonic()
            self._due = ended + (ended - began) / SHARE
