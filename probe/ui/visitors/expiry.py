"""What has been kept long enough goes, while the app runs; several apps may look at once."""

import logging
import time
from threading import Thread

from probe.errors import UserError
from probe.runs.access import DAY, remove_old_runs
from probe.runs.store import Store
from probe.settings import settings
from probe.surveys.survey import remove_old_surveys
from probe.ui.lessons.live import remove_old_findings
from probe.ui.visitors.visitor_files import delete_old_files

log = logging.getLogger(__name__)
SWEEP_SECONDS = 300
"""Seconds between two looks for what is too old."""


def remove_old(store: Store) -> None:
    """Remove the files, runs and surveys that are too old, and what is left of deleted runs."""
    try:
        delete_old_files()
        remove_old_findings()
        remove_old_runs(store)
        days = settings().keep_days
        remove_old_surveys(store, time.time() - days * DAY if days else 0.0)
    except UserError as problem:  # the database may be back at the next look
        log.error("what is too old could not be removed: %s", problem)
    except OSError:  # the disk too
        log.exception("what is too old could not be removed")


def remove_old_regularly(store: Store) -> None:
    """Look from now on, in a thread that ends with the app."""

    def look() -> None:
        while True:
            remove_old(store)
            time.sleep(SWEEP_SECONDS)

    Thread(target=look, daemon=True, name="expiry").start()
