"""What the Probe tab reads from a permalink."""

import gradio as gr
import pytest

from probe.ui.tabs.probe_answer import seed_in, take_example


@pytest.mark.parametrize(
    ("text", "seed"), [("7", 7), ("", 0), ("-1", 0), ("x", 0), ("9" * 5000, 0), ("9" * 10, 0)]
)
def test_a_seed_is_one_that_the_field_takes(text: str, seed: int) -> None:
    assert seed_in(text) == seed


def test_no_example_leaves_the_pair_as_it_is() -> None:
    assert take_example(None) == (gr.skip(),) * 3
