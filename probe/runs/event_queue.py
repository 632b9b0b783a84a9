"""One thread that books what happens to runs, in the order in which news arrives."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain, repeat
from threading import Event, Thread, Timer

from probe.errors import StoreError

log = logging.getLogger(__name__)
PAUSES = (0.5, 1.0, 2.0, 5.0)
"""Seconds until something is tried again that could not be stored; the last ones go on."""

Work = Callable[[], None]


class EventQueue:
    """Does one thing after another; what could not be stored is done again until it can.

    So nothing that arrives later overtakes it: results wait in memory meanwhile.
    """

    def __init__(self, broken: Callable[[str, Exception], None]) -> None:
        """Start; `broken` takes the run and what went wrong with it, other than storing."""
        self._broken = broken
        self._closed = Event()
        self._thread = ThreadPoolExecutor(1, "bookkeeping")
        self._pulse: Thread | None = None

    def later(self, run_id: str, work: Work) -> None:
        """Do this after all that waits; nothing once closed."""
        with suppress(RuntimeError):  # closed
            self._thread.submit(self._do, run_id, work)

    def after(self, seconds: float, run_id: str, work: Work) -> None:
        """Do this when some time has passed."""
        timer = Timer(seconds, self.later, (run_id, work))
        timer.daemon = True
        timer.start()

    def pulse(self, seconds: float, work: Work) -> None:
        """Do this again and again, every so many seconds; the first call counts."""
        if self._pulse is None:
            self._pulse = Thread(target=self._beat, args=(seconds, work), daemon=True)
            self._pulse.start()

    def close(self) -> None:
        """End what is being done and drop what waits."""
        self._closed.set()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _beat(self, seconds: float, work: Work) -> None:
        while not self._closed.wait(seconds):
            self.later("", work)

    def _do(self, run_id: str, work: Work) -> None:
        try:
            self._insist(work)
        except Exception as problem:  # the outermost frame of this thread
            log.exception("run %s", run_id)
            self._insist(partial(self._broken, run_id, problem))

    def _insist(self, work: Work) -> None:
        for pause in chain(PAUSES, repeat(PAUSES[-1])):
            if self._closed.is_set():
                return
            try:
                work()
                return
            except StoreError as problem:
                log.warning("%s; trying again", problem)
                self._closed.wait(pause)
