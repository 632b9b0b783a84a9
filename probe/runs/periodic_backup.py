"""The app's own back-ups: the home is restored at the start and backed up while it is used."""

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from probe.errors import UserError
from probe.runs.backup import (
    Fingerprint,
    back_up,
    check_folder,
    fingerprint,
    has_backup,
    is_empty,
    restore,
)
from probe.settings import settings

log = logging.getLogger(__name__)


def start_backups(folder: Path) -> Callable[[], None]:
    """Restore into an empty home, then back it up every few minutes; return what ends that.

    To be called before the run database is opened. The end backs up once more. Raises FileError
    where the home is empty and the back-ups are damaged, and where they are another home's: an app
    that went on would put its own in their place.
    """
    if is_empty() and has_backup(folder):
        restore(folder)
    check_folder(folder)
    ended = Event()

    def work() -> None:
        before = None
        while not ended.wait(60 * settings().backup_minutes):
            before = _try(folder, before)
        _try(folder, before)

    thread = Thread(target=work, name="backups", daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join()

    return end


def _try(folder: Path, before: Fingerprint | None) -> Fingerprint | None:
    """Back up where something has changed since; return how the home was, None where it failed.

    What goes wrong is logged, and tried again the next time.
    """
    try:
        now = fingerprint()
        if now != before:
            back_up(folder)
        return now
    except Exception as problem:  # the outermost frame of this thread
        log.error("no back-up: %s", problem, exc_info=not isinstance(problem, UserError))
        return None
