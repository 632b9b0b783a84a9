"""How the page looks, is served, and what is loaded behind it."""

import hmac
import secrets
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio import route_utils
from gradio.queueing import Queue
from gradio.state_holder import SessionState, StateHolder
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from probe.pictures.svg import pdf_file
from probe.settings import ASSETS, settings
from probe.ui.html.picture import seal
from probe.ui.server.fair_queue import queued
from probe.ui.server.passwords import login, read_logins
from probe.ui.server.request_check import RequestCheck, refusal

FONT = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "DejaVu Sans", "sans-serif"]
MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "DejaVu Sans Mono", "monospace"]
COLOURS = {
    "body_background_fill": "var(--page)",
    "body_text_color": "var(--ink)",
    "body_text_color_subdued": "var(--soft)",
    "background_fill_primary": "var(--card)",
    "background_fill_secondary": "var(--page)",
    "border_color_primary": "var(--line)",
    "border_color_accent": "var(--accent)",
    "border_color_accent_subdued": "var(--accent)",
    "color_accent_soft": "var(--accent-soft)",
    "link_text_color": "var(--accent)",
    "link_text_color_active": "var(--accent)",
    "link_text_color_hover": "var(--accent)",
    "link_text_color_visited": "var(--accent)",
    "block_background_fill": "transparent",
    "block_border_color": "var(--line)",
    "block_border_width": "0px",
    "block_info_text_color": "var(--soft)",
    "block_label_background_fill": "transparent",
    "block_label_border_width": "0px",
    "block_label_text_color": "var(--soft)",
    "block_title_text_color": "var(--soft)",
    "block_shadow": "none",
    "panel_background_fill": "transparent",
    "panel_border_width": "0px",
    "checkbox_background_color": "var(--field)",
    "checkbox_background_color_focus": "var(--field)",
    "checkbox_background_color_hover": "var(--field)",
    "checkbox_background_color_selected": "var(--accent)",
    "checkbox_border_color": "var(--soft)",
    "checkbox_border_color_focus": "var(--accent)",
    "checkbox_border_color_hover": "var(--accent)",
    "checkbox_border_color_selected": "var(--accent)",
    "checkbox_label_background_fill": "var(--card)",
    "checkbox_label_background_fill_hover": "var(--accent-soft)",
    "checkbox_label_background_fill_selected": "var(--accent-soft)",
    "checkbox_label_border_color": "var(--line)",
    "checkbox_label_border_color_hover": "var(--line)",
    "checkbox_label_border_color_selected": "var(--accent)",
    "checkbox_label_border_width": "1px",
    "checkbox_label_text_color": "var(--ink)",
    "checkbox_label_text_color_selected": "var(--ink)",
    "input_background_fill": "var(--field)",
    "input_background_fill_focus": "var(--field)",
    "input_background_fill_hover": "var(--field)",
    "input_border_color": "var(--line)",
    "input_border_color_focus": "var(--accent)",
    "input_border_color_hover": "var(--line)",
    "input_border_width": "1px",
    "input_placeholder_color": "var(--soft)",
    "input_shadow": "none",
    "input_shadow_focus": "none",
    "loader_color": "var(--accent)",
    "slider_color": "var(--accent)",
    "table_border_color": "var(--line)",
    "table_even_background_fill": "var(--card)",
    "table_odd_background_fill": "var(--card)",
    "button_border_width": "1px",
    "button_primary_background_fill": "var(--accent)",
    "button_primary_background_fill_hover": "var(--accent)",
    "button_primary_border_color": "var(--accent)",
    "button_primary_border_color_hover": "var(--accent)",
    "button_primary_text_color": "var(--on-accent)",
    "button_primary_text_color_hover": "var(--on-accent)",
    "button_primary_shadow": "none",
    "button_secondary_background_fill": "var(--card)",
    "button_secondary_background_fill_hover": "var(--accent-soft)",
    "button_secondary_border_color": "var(--line)",
    "button_secondary_border_color_hover": "var(--line)",
    "button_secondary_text_color": "var(--ink)",
    "button_secondary_text_color_hover": "var(--ink)",
    "button_secondary_shadow": "none",
}
"""What gradio takes the tokens for, in light and dark alike: the tokens change, not their use."""
SIZES = {
    "body_text_size": "var(--t1)",
    "prose_text_size": "var(--t1)",
    "block_title_text_size": "var(--t0)",
    "block_title_text_weight": "400",
    "block_label_text_size": "var(--t0)",
    "block_info_text_size": "var(--t0)",
    "block_padding": "0px",
    "block_radius": "var(--r)",
    "container_radius": "var(--r)",
    "layout_gap": "var(--s3)",
    "form_gap_width": "0px",
    "input_radius": "8px",
    "input_padding": "7px 10px",
    "input_text_size": "var(--t1)",
    "checkbox_label_padding": "6px 12px",
    "checkbox_label_gap": "var(--s2)",
    "checkbox_label_text_size": "var(--t1)",
    "button_large_radius": "8px",
    "button_large_padding": "0 16px",
    "button_large_text_size": "var(--t1)",
    "button_large_text_weight": "500",
    "button_medium_radius": "8px",
    "button_small_radius": "8px",
    "button_small_padding": "0 12px",
    "button_small_text_size": "var(--t1)",
    "button_small_text_weight": "400",
}


def theme() -> gr.themes.Base:
    """Return a calm theme that needs no font from the network."""
    dark = {f"{name}_dark": value for name, value in COLOURS.items()}
    base = gr.themes.Base(primary_hue="teal", neutral_hue="slate", font=FONT, font_mono=MONO)
    return base.set(**COLOURS, **dark, **SIZES, color_accent="var(--accent)")


def style_files() -> list[Path]:
    """Return the style files: the page's tokens first, then the places'."""
    return sorted((ASSETS / "style").glob("*.css"), key=lambda path: (path.stem != "page", path))


class Session(SessionState):
    """The values of a page's states.

    gradio keeps with each session a description of every component and a copy of those that events
    have changed: 0.7 MB, and most of the time that opening a page takes. They serve links that this
    page does not make and parts that come and go, which it has none of. All else that an event
    needs the page sends: nothing is lost of one whose session was dropped, but what a state held.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        # the parent reads no more than this, and describes each component of `blocks`: none
        page: Any = SimpleNamespace(default_config=blocks.default_config, blocks={})
        super().__init__(page)
        self.blocks_config = blocks.default_config  # not a copy: nothing of it is changed
        self._update = dict[int, Any]()  # Any: a component

    def __getitem__(self, key: int) -> Any:  # Any: as above, or a state's value
        """Return a state's value, a component, or once the component that an update has made.

        gradio makes one to read from it at once what the browser is to be told.
        """
        return self._update.pop(key) if key in self._update else super().__getitem__(key)

    def __setitem__(self, key: int, value: Any) -> None:  # Any: a component, or a state's value
        block = self.blocks_config.blocks.get(key)
        if isinstance(block, gr.State):
            self._state_ttl[key] = block.time_to_live, datetime.now()
            self.state_data[key] = value
        else:
            self._update = {key: value}

    def _update_config(self, key: int) -> None:
        """Describe no component."""

    def _update_value_in_config(self, key: int, value: Any) -> None:  # Any: as above
        """Keep no value."""


class Sessions(StateHolder):
    """The sessions of the pages that were used last; what gradio's queue holds goes with them."""

    def __init__(self, page: gr.Blocks) -> None:
        """The page's `state_session_capacity` bounds how many there are."""
        super().__init__()  # type: ignore[no-untyped-call]  # has no types
        self.set_blocks(page)

    def __getitem__(self, session_id: str) -> SessionState:
        with self.lock:
            session = self.session_data.pop(session_id, None) or Session(self.blocks)
            self.session_data[session_id] = session  # at the end: it is the last used
            self.time_last_used[session_id] = datetime.now()
            while len(self.session_data) > self.capacity:
                oldest, _ = self.session_data.popitem(last=False)
                self.time_last_used.pop(oldest, None)
                forget_messages(self.blocks._queue, oldest)
        return session


def forget_messages(queue: Queue, session_id: str) -> None:
    """Forget the messages of a session, unless one of its events still waits or works."""
    events = queue.pending_event_ids_session.get(session_id, set())
    if not any(event in queue.event_ids_to_events for event in events):
        queue.pending_event_ids_session.pop(session_id, None)
        queue.pending_messages_per_session.pop(session_id, None)


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


async def picture_pdf(request: Request) -> Response:
    """Answer a drawing that this app has made with its PDF; its seal says that it has."""
    svg = await request.body()
    if not hmac.compare_digest(seal(svg).encode(), request.query_params.get("seal", "").encode()):
        return refusal("this drawing is of an earlier start of the app: make it anew", 404)
    drawn = await run_in_threadpool(pdf_file, svg.decode())
    return Response(drawn, media_type="application/pdf")


STORAGE = Markup("""<script>try { window.localStorage.length; } catch {
  const kept = new Map();
  Object.defineProperty(window, "localStorage", { value: {
    getItem: name => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: name => kept.delete(name),
    forgetful: true,
  } });
}</script>""")
"""Lets the page be shown in a frame of a browser that keeps nothing there: gradio (6.31) shows none
where what it wants to keep cannot be read. What would be kept ends with the page."""


def launch_options() -> dict[str, Any]:
    """Return what is passed to launch(). Raises SettingsError for logins that cannot be read."""
    logins = settings().login.get_secret_value()
    return {
        "auth": login(read_logins(logins)) if logins else None,
        "theme": theme(),
        "css_paths": style_files(),
        "head": str(STORAGE),
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
            "routes": [Route("/picture.pdf", picture_pdf, methods=["POST"])],
            "middleware": [Middleware(GZipMiddleware, compresslevel=5), Middleware(RequestCheck)],
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


def register_zero_gpu() -> None:
    """Report a function that wants a GPU; nothing anywhere but on ZeroGPU. Imports torch there.

    The hub's `spaces` package reports the functions that want a GPU when the page is launched, and
    an app without one is ended. Ours all run on the CPU: the one it reports does nothing and is
    never called. The package patches torch, and must be imported before CUDA is initialised;
    `torch.cuda.is_available` then says yes, and `probe.models.hardware` knows better.
    """
    if settings().zero_gpu:
        import_module("spaces").GPU(do_nothing)


def do_nothing() -> None:
    """Want a GPU."""


LET_THE_PAGE_PASS = 1.0
"""Seconds for those who wait for the first page, which would share the interpreter with this."""


def load_behind(page: gr.Blocks, work: Sequence[Callable[[], object]]) -> None:
    """Do what the views want done behind the first page, on a thread of its own.

    What parts of the page begin with from then on is sent to whoever opens it next.
    """

    def done() -> None:
        time.sleep(LET_THE_PAGE_PASS)
        for each in work:
            each()
            page.config = page.get_config_file()

    Thread(target=done, daemon=True).start()
