"""How the page looks and is served."""

import secrets
import sys
from typing import Any

import gradio as gr
from gradio import route_utils
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from probe.settings import ASSETS, settings
from probe.ui.server.fair_queue import FairQueue
from probe.ui.server.passwords import login, read_logins
from probe.ui.server.request_check import RequestCheck
from probe.ui.server.sessions import Sessions
from probe.ui.theme import style_files, theme

EVENTS_AT_ONCE = 4
"""How many events of one kind are answered at the same time."""
MAX_WAITING = 10_000
"""Events in the queue, whoever asks; NLI_CLINIC_MAX_WAITING bounds those of a page and an address.
Where no bound is given gradio lets a single event wait on a ZeroGPU Space."""
PROGRESS_PAUSE = 0.1
"""Seconds between two looks for progress to tell; gradio looks a hundred times a second."""


class Upload(route_utils.GradioUploadFile):
    """An upload whose folder has a random name, although another with the same content is there.

    gradio names an upload's folder after its content, so that two visitors with the same file share
    one.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: as of gradio
        """Begin the hash that names the folder with bytes that nobody knows."""
        super().__init__(*args, **kwargs)
        self.sha.update(secrets.token_bytes(32))


def launch_options() -> dict[str, Any]:
    """Return what is passed to launch(). Raises SettingsError for logins that cannot be read."""
    logins = settings().login.get_secret_value()
    return {
        "auth": login(read_logins(logins)) if logins else None,
        "theme": theme(),
        "css_paths": style_files(),
        "js": (ASSETS / "page.js").read_text(encoding="utf-8"),
        "max_file_size": settings().max_upload,
        "allowed_paths": [],
        "footer_links": ["api", "settings"],
        "run_history": False,  # the footer leads nobody to it, and our runs are kept elsewhere
        "enable_monitoring": False,
        "state_session_capacity": settings().max_sessions,
        "ssr_mode": False,
        "show_error": True,
        # pages and JSON go out compressed; gradio does so with files, and streams are left alone
        "app_kwargs": {
            "middleware": [Middleware(GZipMiddleware, compresslevel=5), Middleware(RequestCheck)]
        },
    }


def start(page: gr.Blocks, **options: Any) -> None:  # Any: as of launch()
    """Serve the page from now on, in threads of its own; `options` are passed to launch() too.

    gradio is not to ask whether its page can be reached: it waits three seconds for the answer,
    which a busy machine may need, and gives up.
    """
    route_utils.GradioUploadFile = Upload  # type: ignore[misc]  # gradio has no setting for it
    queued(page).launch(**launch_options(), **options, prevent_thread_lock=True, _frontend=False)
    page.app.state_holder = Sessions(page)


def queued(page: gr.Blocks) -> gr.Blocks:
    """Give the page its queue: fair, free of cost while nobody asks, without statistics."""
    page.queue(api_open=False, max_size=MAX_WAITING)
    page._queue = FairQueue(
        live_updates=True,
        concurrency_count=page.max_threads,
        update_intervals=1,
        max_size=MAX_WAITING,
        blocks=page,
        default_concurrency_limit=EVENTS_AT_ONCE,
    )
    page._queue.progress_update_sleep_when_free = PROGRESS_PAUSE
    page._queue.ANALYTICS_MAX_EVENTS = 1
    page._queue.ANAYLTICS_CACHE_FREQUENCY = sys.maxsize  # else it makes a table of them each time
    return page
