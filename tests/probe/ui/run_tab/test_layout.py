"""How a tab of runs is wired."""

from pathlib import Path

from finetune.trials.datasets import Sets
from probe.models.library import ModelCache
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.page import Core, TabEntry, build_page
from probe.ui.run_tab.layout import build
from tests.support.runs.run_tab import run_tab


def test_nothing_that_draws_overtakes_what_was_asked_for_later(home: Path, sets: Sets) -> None:
    store = Store()
    core = Core(ModelCache(), store, Engine(store))
    entry = run_tab(sets)
    blocks = build_page([TabEntry("trial", "Trial", lambda page: build(page, entry))], core)
    drawn = {one for one in blocks.blocks.values() if one.elem_id == "trial-results"}
    drawing = [fn for fn in blocks.fns.values() if drawn & set(fn.outputs)]
    assert len(drawing) > 5
    assert {(fn.concurrency_id, fn.concurrency_limit) for fn in drawing} == {("look-trial", 1)}
