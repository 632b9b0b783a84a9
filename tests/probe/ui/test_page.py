"""What a view is filled with when it is first shown."""

from typing import Any

import gradio as gr

from probe.ui.page import keeping_choices


def filled(part: Any, update: Any) -> Any:
    """Return what an opening that answers with an update sets of one component."""
    (answer,) = keeping_choices(lambda: [update], [part])()
    return answer.constructor_args if isinstance(answer, gr.blocks.Block) else answer


def test_a_value_that_the_page_begins_with_is_not_set_again() -> None:
    model = gr.Dropdown(["a", "b"], value="a")
    update = gr.Dropdown(choices=["a", "b", "c"], value="a")
    assert filled(model, update) == {"choices": ["a", "b", "c"]}
    assert filled(gr.Radio(["a"], value="a"), "a") == gr.skip()
    several = gr.Dropdown(["a", "b"], value=["a"], multiselect=True)
    assert filled(several, gr.Dropdown(several.choices, value=["a"])) == {
        "choices": several.choices
    }


def test_another_value_is_set() -> None:
    model = gr.Dropdown(["a", "b"], value="a")
    assert filled(model, gr.Dropdown(["b"], value="b")) == {"choices": ["b"], "value": "b"}
    assert filled(model, "b") == "b"


def test_what_is_skipped_or_has_no_value_stays_as_it_is() -> None:
    assert filled(gr.Textbox("text"), gr.skip()) == gr.skip()
    assert filled(gr.Button("Start"), gr.Button(interactive=True)) == {"interactive": True}
    assert filled(gr.Row(), gr.Row(visible=True)) == {"visible": True}
    assert filled(gr.Row(), gr.skip()) == gr.skip()


def test_one_output_is_answered_alone() -> None:
    answer = keeping_choices(lambda: "a", gr.Radio(["a"], value="a"))
    assert answer() == gr.skip()
