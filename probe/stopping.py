"""How work ends when nobody wants it any more: long loops ask, whoever started the work answers.

Training takes its question as an argument, `stop`. What answers a request of the page asks
`check_stop`, so that a caller who has left, a press on Stop or a time that is up ends it between
two batches, inside one example too.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from probe.errors import Stopped

Stop = Callable[[], bool]
Reason = Callable[[], str]
"""Returns why the work is to end, "" where it is to go on."""


class Cancelled(Exception):
    """Somebody asked the cell to stop."""


def never() -> bool:
    """Do not stop."""
    return False


def halt(stop: Stop) -> None:
    """Raise Cancelled where `stop` says so."""
    if stop():
        raise Cancelled("cancelled")


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


def check_stop() -> None:
    """Raise Stopped with the first reason there is to end."""
    for reason in _reasons.get():
        if words := reason():
            raise Stopped(words)
