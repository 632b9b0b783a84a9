"""When an answer ends before its end: its time is up, its caller has left, or Stop was pressed.

Every event of the page and every endpoint stands under the first two, by `CheckedBlocks`; files and
whole comparisons have a limit of their own.
"""

import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

from gradio.context import LocalContext
from gradio.queueing import Queue

from probe.limits import message
from probe.settings import settings
from probe.stopping import Reason, check_stop, seconds_paused, stopping

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
