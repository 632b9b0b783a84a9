"""The line of files to score: one at a time, visitors in turns, and each learns its place."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition

from probe.errors import Stopped
from probe.stopping import Reason
from probe.ui.answers.turns import Turns, Visitor

FILES_AT_ONCE = 8
"""Files of which each has its place in the line; those beyond wait in gradio's queue."""
LOOK_SECONDS = 0.5
"""How often somebody who waits looks whether to go on waiting."""


@dataclass(eq=False)
class Place:
    """A file in the line; `left` says why nobody waits for it any more, "" while somebody does."""

    visitor: Visitor
    left: Reason


class FileLine:
    """Lets one file be scored at a time; of those that wait, the visitor served longest ago first.

    A place whose caller has left is given up, also by others: a page that is closed may never look
    at its own again.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._waiting = list[Place]()
        self._scored: Place | None = None
        self._turns = Turns()

    @contextmanager
    def place(self, visitor: Visitor, left: Reason) -> Iterator[Iterator[int]]:
        """Stand in the line until the block ends.

        Yields how many files are before this one, as often as it may have changed; ends when it is
        this one's turn. Raises Stopped once its caller has left.
        """
        mine = Place(visitor, left)
        with self._changed:
            self._waiting.append(mine)
        try:
            yield self._ahead(mine)
        finally:
            with self._changed:
                self._give_up(mine)

    def _ahead(self, mine: Place) -> Iterator[int]:
        while ahead := self._look(mine):
            yield ahead
            with self._changed:
                self._changed.wait(LOOK_SECONDS)

    def _look(self, mine: Place) -> int:
        """Return how many files are before one; where there is none, it is scored from now on."""
        with self._changed:
            for place in [*self._waiting, self._scored]:
                if place and place.left():
                    self._give_up(place)
            if mine not in self._waiting:
                raise Stopped(mine.left())
            order = [self._waiting[at] for at in self._turns.order(self._visitors())]
            ahead = order.index(mine) + (self._scored is not None)
            if not ahead:
                self._waiting.remove(mine)
                self._scored = mine
                self._turns.take(mine.visitor)
            return ahead

    def _visitors(self) -> list[Visitor]:
        return [place.visitor for place in self._waiting]

    def _give_up(self, place: Place) -> None:
        if place in self._waiting:
            self._waiting.remove(place)
        if place is self._scored:
            self._scored = None
        self._changed.notify_all()
