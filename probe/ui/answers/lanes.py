"""Short work goes first: an answer that takes seconds waits, between two batches, for one place.

What an answer will take is not known before. So each begins at once, and one that has taken longer
than a moment goes on only while it has one of few places, which go round among visitors. What takes
a tenth of a second never waits for a place.
"""

import os
import time
from dataclasses import dataclass
from threading import Condition

from probe.stopping import Reason
from probe.ui.answers.turns import Turns, Visitor

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
