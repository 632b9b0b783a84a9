"""Where a browser keeps the token by which it finds its runs, models and files again."""

from contextlib import suppress

import gradio as gr

from probe.errors import UserError
from probe.runs.access import as_token, browser_secret, new_owner, redeem
from probe.runs.store import Store
from probe.ui.events import QUIET

MAX_GRANTS = 50
"""Runs that one link opens at most."""


def browser_token() -> gr.BrowserState:
    """Return the token's place.

    It belongs outside the tabs: gradio mounts a tab's parts only when the tab is opened, and
    until then the token would read as none.
    """
    return gr.BrowserState("", storage_key="nli-clinic-owner", secret=browser_secret())


def browser_memory() -> gr.BrowserState:
    """Return the place where a browser keeps what its visitor saw and guessed in the lessons.

    It belongs outside the tabs, as the token does.
    """
    return gr.BrowserState({}, storage_key="nli-clinic-lessons", secret=browser_secret())


def open_for_visitor(
    blocks: gr.Blocks, store: Store, owner: gr.BrowserState
) -> gr.events.Dependency:
    """Give a browser that comes first a token, and open for it what its link is for.

    Returns the event; what needs the token comes after it.
    """

    def visit(token: str | None, request: gr.Request) -> str:
        visitor = as_token(token) or new_owner()
        given = request.query_params.get("grant", "")
        for grant in given.split(",")[:MAX_GRANTS] if given else ():
            with suppress(UserError):  # the tab that shows the run says that it is not there
                redeem(store, visitor, grant)
        return visitor

    opened: gr.events.Dependency = blocks.load(visit, owner, owner, **QUIET)
    return opened
