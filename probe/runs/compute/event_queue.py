"""One thread that handles what happens to runs, in the order in which it is reported."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain, repeat
from threading import Event, Thread, Timer

from probe.errors import StoreError

log = logging.getLogger(__name__)
RETRY_SECONDS = (0.5, 1.0, 2.0, 5.0)
"""Seconds until something is tried again that could not be stored; the last of them goes on."""

Work = Callable[[], None]


class EventQueue:
    """Handles one event after another; what could not be stored is tried again until it can.

    So nothing that arrives later overtakes it: results wait in memory meanwhile.
    """

    def __init__(self, on_error: Callable[[str, Exception], None]) -> None:
        """Start; `on_error` takes the run and what went wrong with it, other than storing."""
        self._on_error = on_error
        self._closed = Event()
        self._thread = ThreadPoolExecutor(1, "run-events")
        self._periodic: Thread | None = None

    def put(self, run_id: str, work: Work) -> None:
        """Do this after all that waits; nothing once closed."""
        with suppress(RuntimeError):  # closed
            self._thread.submit(self._handle, run_id, work)

    def put_after(self, seconds: float, run_id: str, work: Work) -> None:
        """Do this when some time has passed."""
        timer = Timer(seconds, self.put, (run_id, work))
        timer.daemon = True
        timer.start()

    def repeat(self, seconds: float, work: Work) -> None:
        """Do this again and again, every so many seconds; only the first call counts."""
        if self._periodic is None:
            self._periodic = Thread(target=self._put_repeatedly, args=(seconds, work), daemon=True)
            self._periodic.start()

    def close(self) -> None:
        """End what is being done and drop what waits."""
        self._closed.set()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _put_repeatedly(self, seconds: float, work: Work) -> None:
        while not self._closed.wait(seconds):
            self.put("", work)

    def _handle(self, run_id: str, work: Work) -> None:
        try:
            self._retry(work)
        except Exception as problem:  # the outermost frame of this thread
            log.exception("run %s", run_id)
            self._retry(partial(self._on_error, run_id, problem))

    def _retry(self, work: Work) -> None:
        for pause in chain(RETRY_SECONDS, repeat(RETRY_SECONDS[-1])):
            if self._closed.is_set():
                return
            try:
                work()
                return
            except StoreError as problem:
                log.warning("%s; trying again", problem)
                self._closed.wait(pause)
