"""How somebody tells a cell to stop: it asks before every batch."""

from collections.abc import Callable

Stop = Callable[[], bool]


class Cancelled(Exception):
    """Somebody asked the cell to stop."""


def never() -> bool:
    """Do not stop."""
    return False


def halt(stop: Stop) -> None:
    """Raise Cancelled where `stop` says so."""
    if stop():
        raise Cancelled("cancelled")
