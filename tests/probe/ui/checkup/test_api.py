"""What `/checkup` starts and refuses, without a server."""

from collections.abc import Callable
from typing import Any

import gradio as gr
import pytest

from probe.runs.access import as_token
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.checkup.api import build
from tests.support.pages.visitors import ME

Call = Callable[..., dict[str, Any]]
NUMBERS = ("5", "2", "0")
"""As the components that they travel in hold them: n, per_subcase, seed."""


@pytest.fixture
def call(waiting_engine: tuple[Store, Engine]) -> Call:
    """The endpoint's function; all runs wait."""
    with gr.Blocks() as blocks:
        build(*waiting_engine)
    (found,) = [each.fn for each in blocks.fns.values() if each.api_name == "checkup"]
    assert found is not None
    return found


def test_it_starts_a_check_up_for_its_owner(call: Call) -> None:
    started = call("da", *NUMBERS, ME, None)
    (run,) = Store().runs(ME)
    assert (started["run"], started["owner"]) == (run.id, ME)
    assert run.plan["asked"] | {"precision": ""} == {
        "n": 5, "per_subcase": 2, "seed": 0, "precision": "", "long": "cut"
    }  # fmt: skip
    assert as_token(call("da", *NUMBERS, "", None)["owner"])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("da", "many", "2", "0"), "n 'many' is not a whole number"),
        (("da", "5", "2", "-1"), "seed '-1' is not a whole number"),
        (("da", "0", "2", "0"), "at least one example must be changed"),
        (("da", "5", "501", "0"), "the command line takes more"),
        (("nobody", *NUMBERS), "there is no model called 'nobody'"),
        (("da", *NUMBERS, "", "/etc/hostname"), "this file is not here any more"),
    ],
)
def test_what_cannot_be_is_refused_by_a_sentence(
    call: Call, given: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(gr.Error, match=sentence):
        call(*given)
    assert not Store().runs()
