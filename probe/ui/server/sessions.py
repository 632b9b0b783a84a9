"""What the app remembers of each open page, and for how many of them.

gradio keeps with each session a description of every component and a copy of those that events have
changed: 0.7 MB, and most of the time that opening a page takes. They serve links that this page
does not make and parts that come and go, which it has none of. Here a session is the values of the
page's states; all else that an event needs the page sends. So nothing is lost of a page whose
session was dropped, but what a state held.
"""

from datetime import datetime
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.queueing import Queue
from gradio.state_holder import SessionState, StateHolder


class Session(SessionState):
    """The values of a page's states."""

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
