"""Where a browser keeps the token by which it finds its runs again."""

import gradio as gr

from probe.runs.owners import browser_secret


def browser_token() -> gr.BrowserState:
    """Return the token's place.

    It belongs outside the tabs: gradio mounts a tab's parts only when the tab is opened, and
    until then the token would read as none.
    """
    return gr.BrowserState("", storage_key="nli-clinic-owner", secret=browser_secret())
