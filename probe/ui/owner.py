"""The token by which a browser finds its runs again."""

import secrets

import gradio as gr

from probe.settings import settings


def browser_secret() -> str:
    """Return the key that seals a browser's token, the same after a restart."""
    path = settings().home / "browser-secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(secrets.token_hex(32), encoding="utf-8")
        path.chmod(0o600)
    return path.read_text(encoding="utf-8")


def browser_token() -> gr.BrowserState:
    """Return the token's place.

    It belongs outside the tabs: gradio mounts a tab's parts only when the tab is opened, and
    until then the token would read as none.
    """
    return gr.BrowserState("", storage_key="nli-clinic-owner", secret=browser_secret())
