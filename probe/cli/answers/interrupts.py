"""Ctrl-C as a wish to stop: the work ends where it asks, and nothing is cut in the middle."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from probe.stopping import stopping

INTERRUPTED = 130
"""The exit status of a command that was interrupted."""


@contextmanager
def stopped_by_interrupt() -> Iterator[None]:
    """Let `check_stop` raise Stopped after the first Ctrl-C; a second one ends the command."""
    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    before = signal.signal(signal.SIGINT, ask)
    try:
        with stopping(lambda: "interrupted" if asked else ""):
            yield
    finally:
        signal.signal(signal.SIGINT, before)
