"""How long work stops where a person asks for it, and shows its figures as often as is cheap."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import gradio as gr

from probe.stopping import Reason
from probe.ui.events import QUIET

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
