"""How the Inoculate tab is wired."""

from pathlib import Path

import gradio as gr

from finetune.ui import inoculate_tab
from probe.runs.engine import Engine
from probe.runs.store import Store


def test_nothing_that_draws_overtakes_what_was_asked_for_later(home: Path) -> None:
    store = Store()
    with gr.Blocks() as blocks, gr.Tab("Inoculate") as tab:
        inoculate_tab.build(store, Engine(store), blocks, gr.BrowserState(""), tab)
    drawn = {one for one in blocks.blocks.values() if one.elem_id in ("curve", "compared")}
    drawing = [fn for fn in blocks.fns.values() if drawn & set(fn.outputs)]
    assert len(drawing) > 5
    assert {(fn.concurrency_id, fn.concurrency_limit) for fn in drawing} == {("look", 1)}
