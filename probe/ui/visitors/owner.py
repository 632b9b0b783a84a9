"""Where a browser keeps the token by which it finds its runs, models and files again."""

from contextlib import suppress

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
from probe.runs.access import as_token, browser_secret, new_owner, redeem
from probe.runs.store import Store
from probe.ui.events import QUIET
from probe.ui.html.header import count
from probe.ui.visitors.belongings import count_of

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
    blocks: gr.Blocks, store: Store, owner: gr.BrowserState, kept: gr.HTML
) -> gr.events.Dependency:
    """Give a browser that comes first a token, and open for it what its link is for.

    The head shows how much is kept of one that came before.

    Returns the event; what needs the token comes after it.
    """

    def visit(token: str | None, request: gr.Request) -> tuple[str, Markup]:
        known, number = as_token(token), 0
        visitor = known or new_owner()
        given = request.query_params.get("grant", "")
        for grant in given.split(",")[:MAX_GRANTS] if given else ():
            with suppress(UserError):  # the view that shows the run says that it is not there
                redeem(store, visitor, grant)
        with suppress(UserError):  # what needs the database says what is wrong with it
            number = count_of(store, known) if known else 0
        return visitor, count(number)

    opened: gr.events.Dependency = blocks.load(visit, owner, [owner, kept], **QUIET)
    return opened
