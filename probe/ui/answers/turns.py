"""Whose turn it is, by address and page, and the places of long work: short work goes first."""

import os
import time
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from threading import Condition

import gradio as gr
from cachetools import LRUCache
from starlette.requests import Request

from probe.stopping import Reason

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


def visitor_of(request: gr.Request | None) -> Visitor:
    """Return whose request the page answers, nobody's without one."""
    if request is None:
        return "", ""
    place = address(request.request) if request.request else ""
    return place, request.session_hash or ""


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


SHORT_SECONDS = 0.5
"""An answer that takes no longer is short."""
PLACES = max(1, (os.cpu_count() or 1) // 2)
"""Long answers that go on at the same time; the batches of one take several cores."""
ROUND_SECONDS = 1.0
"""How long one goes on before the next has its place."""
LOOK_SECONDS = 0.1
"""How often one that waits looks whether somebody still waits for its answer."""


@dataclass(eq=False)
class Work:
    """An answer that is being made; `until` is when its place goes to the next, `seconds` are those
    for which it has waited."""

    lanes: "Lanes"
    visitor: Visitor
    left: Reason
    began: float
    until: float = 0.0
    seconds: float = 0.0

    def __call__(self) -> None:
        """Wait, where the work is long and others have the places."""
        now = time.monotonic()
        if now - self.began > SHORT_SECONDS and now >= self.until:
            self.lanes.wait(self)
            self.seconds += time.monotonic() - now


class Lanes:
    """The places of long work, and who waits for one."""

    def __init__(self, places: int = PLACES) -> None:
        """So many go on at the same time."""
        self._places = places
        self._changed = Condition()
        self._going = list[Work]()
        self._waiting = list[Work]()
        self._turns = Turns()

    def begin(self, visitor: Visitor, left: Reason) -> Work:
        """Begin an answer; `left` says that nobody waits for it any more."""
        return Work(self, visitor, left, time.monotonic())

    def end(self, work: Work) -> None:
        """Give its place to the next."""
        with self._changed:
            if work in self._going:
                self._going.remove(work)
                self._changed.notify_all()

    def wait(self, work: Work) -> None:
        """Wait for a place, behind those who have waited; return too where nobody asks any more."""
        self.end(work)
        with self._changed:
            self._waiting.append(work)
            try:
                while not self._is_next(work) and not work.left():
                    self._changed.wait(LOOK_SECONDS)
            finally:
                self._waiting.remove(work)
            self._going.append(work)
            self._turns.take(work.visitor)
            work.until = time.monotonic() + ROUND_SECONDS
            self._changed.notify_all()

    def _is_next(self, work: Work) -> bool:
        """Whether a place is free for a work.

        One whose round has long ended without its looking is no longer held: it may wait for a lock
        that the one which waits for its place has.
        """
        now = time.monotonic()
        held = [each for each in self._going if now < each.until + ROUND_SECONDS]
        free = self._places - len(held)
        order = self._turns.order([each.visitor for each in self._waiting])
        return work in [self._waiting[at] for at in order[: max(0, free)]]
