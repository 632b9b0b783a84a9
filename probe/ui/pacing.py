"""How long work stops where a person asks for it, and shows its figures as often as is cheap."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
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

    def until(self, session: str | None, parts: Iterator[T]) -> Iterator[T]:
        """Yield the parts of a page's work until it is asked to stop."""
        while (session or "") not in self._sessions:
            try:
                part = next(parts)
            except StopIteration:
                break
            yield part
        self.withdraw(session)


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
