"""The order of waiting events: visitors take turns, and nobody lets too many wait."""

import sys
import time
from collections.abc import Sequence
from typing import Any, Literal
from weakref import WeakKeyDictionary

import gradio as gr
from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event, EventQueue, Queue
from starlette.requests import Request

from probe.limits import message
from probe.settings import settings
from probe.ui.answers.turns import SHORT_SECONDS, Turns, Visitor, address

PAGES_OF_AN_ADDRESS = 25
"""How many times as many requests an address may let wait as a page: a class has one address."""

PAUSE, LONG_PAUSE = 0.02, 0.1
"""Seconds between two looks at the queue while people use the app, and once nobody does.

gradio has no setting for them: it looks a thousand times a second and keeps a core busy.
"""
IN_USE = 60.0
"""For so many seconds after an event the app counts as used."""
OF_A_PAGE, OF_AN_ADDRESS = 2, 12
"""Long answers of one kind that a page and an address may have going on; further ones wait."""


EVENTS_AT_ONCE = 4
"""How many events of one kind are answered at the same time."""
MAX_WAITING = 10_000
"""Events in the queue, whoever asks; NLI_CLINIC_MAX_WAITING bounds those of a page and an address.
Where no bound is given gradio lets a single event wait on a ZeroGPU Space."""
PROGRESS_PAUSE = 0.1
"""Seconds between two looks for progress to tell; gradio looks a hundred times a second."""


class FairQueue(Queue):
    """gradio's queue, whose next event is that of the visitor who was served longest ago."""

    def __init__(self, **options: Any) -> None:  # Any: as of gradio
        super().__init__(**options)
        self._turns = Turns()
        self._asked = time.monotonic() - IN_USE
        self._begun = WeakKeyDictionary[Event, float]()
        self._limits = dict[str, int | None]()

    @property
    def sleep_when_free(self) -> float:
        """Return how many seconds gradio waits before it looks at the queue again."""
        return PAUSE if time.monotonic() - self._asked < IN_USE else LONG_PAUSE

    @sleep_when_free.setter
    def sleep_when_free(self, _: float) -> None:
        """Leave what gradio sets when it makes a queue."""

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """Take the next events that can be answered now.

        An event whose answer has become long has a lane of its own (`Lanes`), and leaves its place
        among those of its kind to the next.
        """
        long = self._long()
        held = list[tuple[EventQueue, list[Event]]]()
        for name, events in self.event_queue_per_concurrency_id.items():
            order = self._turns.order([visitor(event) for event in events.queue])
            events.queue[:] = [events.queue[at] for at in order]
            limit = self._limits.setdefault(name, events.concurrency_limit)
            if limit is not None and limit == self.default_concurrency_limit:
                alike = [visitor(event) for event in long if event.concurrency_id == name]
                events.concurrency_limit = limit + len(alike)
                wait = [event for event in events.queue if has_enough(visitor(event), alike)]
                events.queue[:] = [event for event in events.queue if event not in wait]
                held.append((events, wait))
        taken = super().get_events()
        for events, wait in held:
            events.queue += wait
        if taken:
            self._turns.take(visitor(taken[0][0]))
            self._begun[taken[0][0]] = time.monotonic()
        return taken

    def _long(self) -> list[Event]:
        """Return the events whose answers have taken longer than short ones do."""
        since = time.monotonic() - SHORT_SECONDS
        events = [event for job in self.active_jobs if job for event in job]
        return [event for event in events if self._begun.get(event, since) < since]

    async def push(
        self, body: PredictBodyInternal, request: Request, username: str | None
    ) -> tuple[
        bool,
        str | list[dict[str, Any]],  # Any: as of gradio
        Literal["success", "error", "queue_full", "validator_error"],
    ]:
        """Let an event wait, or refuse it by a sentence."""
        self._asked = time.monotonic()
        refusal = self._refusal(address(request), body.session_hash)
        return (False, refusal, "error") if refusal else await super().push(body, request, username)

    def _refusal(self, place: str, session: str | None) -> str:
        """Return what is said where a page or an address has too many events waiting, or ""."""
        queues = self.event_queue_per_concurrency_id.values()
        waiting = [visitor(event) for events in queues for event in events.queue]
        of_page = waiting.count((place, session or ""))
        return too_many(sum(other == place for other, _ in waiting), of_page)


def queued(page: gr.Blocks) -> gr.Blocks:
    """Give the page its queue: fair, free of cost while nobody asks, without statistics.

    `Blocks.queue` would make an app for it, which launch() makes anew.
    """
    page.api_open = False
    page._queue = FairQueue(
        live_updates=True,
        concurrency_count=page.max_threads,
        update_intervals=1,
        max_size=MAX_WAITING,
        blocks=page,
        default_concurrency_limit=EVENTS_AT_ONCE,
    )
    page._queue.progress_update_sleep_when_free = PROGRESS_PAUSE
    page._queue.ANALYTICS_MAX_EVENTS = 1
    page._queue.ANAYLTICS_CACHE_FREQUENCY = sys.maxsize  # else it makes a table of them each time
    return page


def too_many(of_address: int, of_page: int = 0) -> str:
    """Return what is said where so many requests of an address and a page wait already, or ""."""
    limit = settings().max_waiting
    if limit is None or (of_page < limit and of_address < PAGES_OF_AN_ADDRESS * limit):
        return ""
    return message("max_waiting", of_page if of_page >= limit else of_address)


def visitor(event: Event) -> Visitor:
    """Return whose event it is."""
    return address(event.request), event.session_hash


def has_enough(one: Visitor, long: Sequence[Visitor]) -> bool:
    """Whether so many long answers of one kind are a page's or an address's that it has to wait."""
    of_address = sum(place == one[0] for place, _ in long)
    return long.count(one) >= OF_A_PAGE or of_address >= OF_AN_ADDRESS
