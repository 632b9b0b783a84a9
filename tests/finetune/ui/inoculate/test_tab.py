"""How the Inoculate tab is wired."""

from pathlib import Path

from finetune.ui.inoculate import tab as inoculate_tab
from probe.models.library import ModelCache
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.page import Core, TabEntry, build_page


def test_nothing_that_draws_overtakes_what_was_asked_for_later(home: Path) -> None:
    store = Store()
    core = Core(ModelCache(), store, Engine(store))
    blocks = build_page([TabEntry("inoculate", "Inoculate", inoculate_tab.build)], core)
    drawn = {one for one in blocks.blocks.values() if one.elem_id in ("curve", "compared")}
    drawing = [fn for fn in blocks.fns.values() if drawn & set(fn.outputs)]
    assert len(drawing) > 5
    assert {(fn.concurrency_id, fn.concurrency_limit) for fn in drawing} == {("look", 1)}
