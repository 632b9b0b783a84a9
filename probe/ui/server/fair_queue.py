"""The order of waiting events: visitors take turns, and nobody lets too many wait."""

import os
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import count
from typing import Any, Literal

from cachetools import LRUCache
from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event, Queue
from starlette.requests import Request

from probe.limits import message
from probe.settings import settings

PAGES_OF_AN_ADDRESS = 25
"""How many times as many events an address may let wait as a page: a class has one address."""
MAX_REMEMBERED = 10_000
"""Addresses and pages of which it is known when they were served."""
Visitor = tuple[str, str]
"""An address, and a page's session."""


class Turns:
    """Remembers which address and which page was served when."""

    def __init__(self) -> None:
        self._served: LRUCache[Hashable, int] = LRUCache(MAX_REMEMBERED)
        self._numbers = count(1)

    def take(self, visitor: Visitor) -> None:
        """Note that a visitor is served now."""
        self._served[visitor[0]] = self._served[visitor] = next(self._numbers)

    def order(self, waiting: Sequence[Visitor]) -> list[int]:
        """Return the places of waiting events in the order in which they are served.

        The address that was served longest ago comes first, of its pages the one that was served
        longest ago, of its events the first one. Who is served goes to the end.
        """
        of_pages = self._rounds(waiting, [(at,) for at in range(len(waiting))])
        of_addresses = self._rounds([place for place, _ in waiting], of_pages)
        return sorted(range(len(waiting)), key=of_addresses.__getitem__)

    def _rounds(
        self, groups: Sequence[Hashable], within: Sequence[tuple[int, ...]]
    ) -> list[tuple[int, ...]]:
        """Return keys that sort events so that groups take turns; `within` sorts those of one."""
        keys: list[tuple[int, ...]] = [()] * len(groups)
        taken = Counter[Hashable]()
        for at in sorted(range(len(groups)), key=within.__getitem__):
            group = groups[at]
            keys[at] = (taken[group], self._served.get(group, 0), *within[at])
            taken[group] += 1
        return keys


class FairQueue(Queue):
    """gradio's queue, whose next event is that of the visitor who was served longest ago."""

    def __init__(self, **options: Any) -> None:  # Any: as of gradio
        super().__init__(**options)
        self._turns = Turns()

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """Take the next events that can be answered now."""
        for events in self.event_queue_per_concurrency_id.values():
            if len(events.queue) > 1:
                order = self._turns.order([visitor(event) for event in events.queue])
                events.queue[:] = [events.queue[at] for at in order]
        taken = super().get_events()
        if taken:
            self._turns.take(visitor(taken[0][0]))
        return taken

    async def push(
        self, body: PredictBodyInternal, request: Request, username: str | None
    ) -> tuple[
        bool,
        str | list[dict[str, Any]],  # Any: as of gradio
        Literal["success", "error", "queue_full", "validator_error"],
    ]:
        """Let an event wait, or refuse it by a sentence."""
        refusal = self._refusal(address(request), body.session_hash)
        return (False, refusal, "error") if refusal else await super().push(body, request, username)

    def _refusal(self, place: str, session: str | None) -> str:
        """Return what is said where a page or an address has too many events waiting, or ""."""
        limit = settings().max_waiting
        if limit is None:
            return ""
        queues = self.event_queue_per_concurrency_id.values()
        waiting = [visitor(event) for events in queues for event in events.queue]
        of_page = waiting.count((place, session or ""))
        of_address = sum(other == place for other, _ in waiting)
        if of_page >= limit:
            return message("max_waiting", of_page)
        if of_address >= PAGES_OF_AN_ADDRESS * limit:
            return message("max_waiting", of_address)
        return ""


def visitor(event: Event) -> Visitor:
    """Return whose event it is."""
    return address(event.request), event.session_hash


def address(request: Request) -> str:
    """Return the address that a request came from.

    On a Space each request comes through its proxy, which adds the address that it saw at the end
    of X-Forwarded-For; what stands before that the visitor may have written. Anywhere else the
    header is not read here: uvicorn believes it where a proxy on this machine, or one that
    FORWARDED_ALLOW_IPS names, has sent it.
    """
    forwarded = request.headers.get("x-forwarded-for", "") if "SPACE_ID" in os.environ else ""
    seen = forwarded.rpartition(",")[2].strip()
    return seen or (request.client.host if request.client else "")
