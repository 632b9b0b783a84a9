"""How Score is wired."""

from pathlib import Path

from probe.models.library import ModelCache
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.measure import choice
from probe.ui.page import Core, Place, View, build_pages
from probe.ui.tabs.batch import build


def test_a_press_of_either_button_is_dropped_while_one_of_them_is_answered(home: Path) -> None:
    store = Store()
    core = Core(ModelCache(), store, Engine(store))
    place = Place("measure", "Measure", (View("score", "Score", build),), shared=choice.build)
    blocks = build_pages([place], core)
    buttons = {
        name: part.elem_id
        for name, part in blocks.blocks.items()
        if part.elem_id in ("score", "score-later")
    }
    scoring = [
        (event.trigger_mode, {buttons.get(part) for part, _ in event.targets})
        for event in blocks.fns.values()
        if event.fn and buttons.keys() & {part for part, _ in event.targets}
    ]
    assert scoring == [("once", {"score", "score-later"})]
