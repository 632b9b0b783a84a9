"""How the page is served."""

import gradio as gr
import pytest
from gradio import networking

from probe.ui.server.serving import start


def test_the_page_is_served_however_long_its_first_answer_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(networking, "url_ok", lambda url: False)
    with gr.Blocks() as blocks:
        gr.Textbox()
    start(blocks, quiet=True)
    try:
        assert blocks.is_running
    finally:
        blocks.close()
