"""Profiling models from the page: what is shown at first, after a stop, after a refusal."""

from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest

from probe.ui.answers.pacing import StopRequests
from probe.ui.panels.hans import Outputs, run, waiting
from tests.support.pages.visitors import ME, page_models

PLACES = list(vars(Outputs()))
PROFILE = ("picture", "verdicts", "cases")


def profiled(stops: StopRequests, *names: str) -> Iterator[dict[str, Any]]:
    """Press the button, with one pair for each sub-case."""
    shown = run(page_models(), stops, "me", ME, names, 1, 0)
    return (dict(zip(PLACES, values, strict=True)) for values in shown)


def test_a_press_is_heard_and_no_second_one_is_taken() -> None:
    button, words = waiting()
    assert button.constructor_args == {"interactive": False}
    assert 'role="status">Waiting' in words


def test_nothing_of_an_earlier_profile_stands_while_models_load_and_stop_is_offered() -> None:
    first = next(profiled(StopRequests(), "da"))
    assert 'role="status">Loading the models' in first["progress"]
    assert [first[part] for part in PROFILE] == ["", "", ""]
    assert first["halt"].constructor_args == {"visible": True}


def test_a_profile_is_stopped_between_two_sub_cases() -> None:
    stops = StopRequests()
    shown = profiled(stops, "da")
    assert "1 of 30 sub-cases" in [next(shown), next(shown)][1]["progress"]
    stops.ask("me")
    (last,) = shown
    assert 'role="status">Stopped before the profile was complete.' in last["progress"]


def test_a_profile_is_shown_at_its_end() -> None:
    *_, last = profiled(StopRequests(), "da")
    assert last["progress"] == ""
    assert all(last[part] for part in PROFILE)


@pytest.mark.parametrize("names", [(), ("gone",)])
def test_a_refusal_leaves_an_earlier_profile(names: tuple[str, ...]) -> None:
    (refused,) = profiled(StopRequests(), *names)
    assert 'role="alert"' in refused["progress"]
    assert [refused[part] for part in PROFILE] == [gr.skip()] * 3
