"""How work ends when nobody wants it any more: long loops ask, whoever started the work answers.

They also tell how many texts a model has answered, to whoever wants to know how far they are.

Training takes its question as an argument, `stop`. What answers a request of the page asks
`check_stop`, so that a caller who has left, a press on Stop or a time that is up ends it between
two batches, inside one example too.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from probe.errors import Stopped

Stop = Callable[[], bool]
Reason = Callable[[], str]
"""Returns why the work is to end, "" where it is to go on."""


class Cancelled(Exception):
    """Somebody asked the cell to stop."""


def never() -> bool:
    """Do not stop."""
    return False


def raise_if_stopped(stop: Stop) -> None:
    """Raise Cancelled where `stop` says so."""
    if stop():
        raise Cancelled("cancelled")


class Pause(Protocol):
    """Lets other work go first where there is some; `seconds` are those that this has taken."""

    @property
    def seconds(self) -> float:
        """Seconds for which the work has waited."""

    def __call__(self) -> None:
        """Wait for as long as other work goes first."""


_pause: ContextVar[Pause | None] = ContextVar("pause", default=None)
_hear: ContextVar[Callable[[int], None]] = ContextVar("hear", default=lambda texts: None)
_reasons: ContextVar[tuple[Reason, ...]] = ContextVar("reasons", default=())


@contextmanager
def stopping(*reasons: Reason, alone: bool = False) -> Iterator[None]:
    """Let `check_stop` ask these too, or `alone`, in this thread, until the block ends.

    A generator must not yield inside: its next step may run in another context.
    """
    token = _reasons.set(reasons if alone else (*_reasons.get(), *reasons))
    try:
        yield
    finally:
        _reasons.reset(token)


@contextmanager
def cancelled_by(stop: Stop) -> Iterator[None]:
    """Let `check_stop` ask `stop` too, in this thread, and raise Cancelled for Stopped."""
    try:
        with stopping(lambda: "cancelled" if stop() else ""):
            yield
    except Stopped as stopped:
        raise Cancelled("cancelled") from stopped


@contextmanager
def pausing(pause: Pause) -> Iterator[None]:
    """Let `check_stop` wait for other work, in this thread, until the block ends."""
    token = _pause.set(pause)
    try:
        yield
    finally:
        _pause.reset(token)


@contextmanager
def hearing(hear: Callable[[int], None]) -> Iterator[None]:
    """Hear what `tell_answered` tells in this thread, until the block ends."""
    token = _hear.set(hear)
    try:
        yield
    finally:
        _hear.reset(token)


def tell_answered(texts: int) -> None:
    """Tell that so many more texts are answered."""
    _hear.get()(texts)


def seconds_paused() -> float:
    """Return for how long this work has waited for other work."""
    pause = _pause.get()
    return pause.seconds if pause else 0.0


def check_stop() -> None:
    """Let other work go first; then raise Stopped with the first reason there is to end."""
    if pause := _pause.get():
        pause()
    for reason in _reasons.get():
        if words := reason():
            raise Stopped(words)
