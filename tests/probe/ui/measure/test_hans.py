"""Profiling models from the page: what is shown at first, after a stop, after a refusal."""

from collections.abc import Iterator
from typing import Any

import gradio as gr

from probe.runs.store import Store
from probe.ui.measure import hans
from tests.support.pages.built import alone
from tests.support.pages.views import asked_by
from tests.support.pages.visitors import ME


def profiled(*names: str) -> Iterator[dict[str, Any]]:
    """Press the button, with one pair for each sub-case; return what is shown by element."""
    blocks = alone(lambda page: hans.build(page, gr.Dropdown([])), Store("sqlite://"))
    (run,) = (
        each.fn for each in blocks.fns.values() if getattr(each.fn, "__name__", "") == "profiled"
    )
    for shown in run(asked_by(), ME, names, 1, 0):
        yield {str(part.elem_id).removeprefix("hans-"): value for part, value in shown.items()}


def test_a_press_is_heard_and_no_second_one_is_taken() -> None:
    button, words = hans.waiting()
    assert button.constructor_args == {"interactive": False}
    assert 'role="status">Waiting' in words


def test_a_profile_is_shown_at_its_end_and_nothing_of_an_earlier_one_while_models_load() -> None:
    first, *steps, last = profiled("da")
    assert "Loading the models" in first["progress"]
    assert [first[part] for part in ("picture", "verdicts", "cases")] == ["", "", ""]
    assert first["halt"].constructor_args == {"visible": True}
    assert any("1 of 30 sub-cases" in step["progress"] for step in steps)
    assert last["progress"] == ""
    assert all(last[part] for part in ("picture", "verdicts", "cases"))


def test_a_refusal_leaves_an_earlier_profile() -> None:
    for names in ((), ("gone",)):
        (refused,) = profiled(*names)
        assert 'role="alert"' in refused["progress"] and list(refused) == ["progress"]
