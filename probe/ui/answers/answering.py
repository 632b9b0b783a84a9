"""When an answer ends before its end: its time is up, its caller has left, or Stop was pressed."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

from gradio.context import LocalContext

from probe.limits import message
from probe.settings import settings
from probe.stopping import Reason, check_stop, stopping

P = ParamSpec("P")
T = TypeVar("T")
Limit = Literal["answer_seconds", "file_minutes"]
SECONDS: dict[Limit, int] = {"answer_seconds": 1, "file_minutes": 60}
"""The seconds of the limit's unit."""
LEFT = "nobody waits for this answer any more"


def answering(limit: Limit) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let the work of a handler end, with Stopped, after a while or where its caller has left."""

    def bound(handler: Callable[P, T]) -> Callable[P, T]:
        @wraps(handler)
        def answer(*given: P.args, **named: P.kwargs) -> T:
            with stopping(time_up(limit)), stopping(caller_left()):
                return handler(*given, **named)

        return answer

    return bound


def in_steps(limit: Limit, steps: Iterator[T], *reasons: Reason) -> Iterator[T]:
    """Do the same with work that yields its parts; other reasons may end it, too."""
    every = time_up(limit), caller_left(), *reasons
    while True:
        with ExitStack() as asked:
            for reason in every:
                asked.enter_context(stopping(reason))
            check_stop()
            try:
                step = next(steps)
            except StopIteration:
                return
        yield step


def time_up(limit: Limit) -> Reason:
    """Begin to count; the time that an event waited for its turn is not in it."""
    most = getattr(settings(), limit)
    if most is None:
        return lambda: ""
    end = time.monotonic() + most * SECONDS[limit]
    return lambda: message(limit) if time.monotonic() > end else ""


def caller_left() -> Reason:
    """Look at the event of gradio's queue that this thread answers; outside of it nobody leaves.

    The queue marks an event as not alive when its page or client has closed the stream of answers,
    and has no job for one that was cancelled.
    """
    blocks, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    if blocks is None or event_id is None:
        return lambda: ""
    queue = blocks._queue
    event = queue.event_ids_to_events[event_id]

    def reason() -> str:
        at_work = any(events and event in events for events in queue.active_jobs)
        return "" if event.alive and at_work else LEFT

    return reason
