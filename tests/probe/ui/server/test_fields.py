"""What the components of the page take, and what they refuse from who writes requests by hand."""

from typing import Any

import gradio as gr
import pytest
from gradio.components.api_component import Api

from probe.errors import ArgumentError
from probe.ui.api.endpoint import MAX_WHOLE
from probe.ui.server.checked_blocks import MAX_DEPTH, may_be_empty, require_field

CHOICES = [("first words", "first"), ("second words", "second")]
UPLOADED = {"path": "mine.csv", "meta": {"_type": "gradio.FileData"}}
SEED = gr.Number(0, label="Seed", precision=0, minimum=0)
SLIDER = gr.Slider(0, 20, 6, step=1)
ONE = gr.Dropdown(CHOICES, value="first")
OWN = gr.Dropdown(CHOICES, allow_custom_value=True)
MANY = gr.Dropdown(CHOICES, multiselect=True)
GROUP = gr.CheckboxGroup(CHOICES)
RADIO = gr.Radio(CHOICES, value="first")


def refusal(part: Any, value: object) -> str:
    """Return how a value is refused, "" where it is taken."""
    try:
        require_field("Field", part, value, optional=False)
    except ArgumentError as refused:
        return str(refused)
    return ""


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("part", "value"),
    [
        (gr.Textbox(), "A dog's 🩺\n<b>"), (gr.Textbox(), ""), (SEED, 0), (SEED, 1.0),
        (SEED, MAX_WHOLE), (gr.Number(), -3.5), (SLIDER, 20), (gr.Checkbox(), True),
        (ONE, "second"),
        (OWN, "mine"), (MANY, []), (MANY, ["second", "first"]), (GROUP, ["first"]),
        (RADIO, "second"), (gr.File(), UPLOADED), (gr.File(file_count="multiple"), [UPLOADED]),
        (gr.BrowserState(""), "0f"),
        (gr.BrowserState({}), {"seen": ["word_salad.task"], "guesses": {}}),
        (Api(None, {}), {"keep": [1, None, {"a": True}]}), (Api(None, {}), nested(MAX_DEPTH)),
        (gr.Dataset(components=[gr.Textbox()], samples=[["a"]]), 0),
    ],
)  # fmt: skip
def test_what_a_page_sends_is_taken(part: Any, value: object) -> None:
    assert refusal(part, value) == ""


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        (gr.Textbox(), 5, "5 is not a text"),
        (gr.Textbox(), ["a"], "['a'] is not a text"),
        (gr.Textbox(), "\ud800", "is not a text"),
        (SEED, -1, "-1 is not a whole number from 0 to 2,147,483,647"),
        (SEED, 2.5, "2.5 is not a whole number"),
        (SEED, 10**30, "is not a whole number from 0 to"),
        (SEED, float("nan"), "nan is not a whole number"),
        (SEED, float("inf"), "inf is not a whole number"),
        (SEED, True, "True is not a whole number"),
        (SEED, "5", "'5' is not a whole number"),
        (gr.Number(), 1e300, "is not a number from"),
        (SLIDER, None, "is empty; it takes a number from 0 to 20"),
        (SLIDER, 21, "21 is not a number from 0 to 20"),
        (gr.Checkbox(), "yes", "'yes' is not true or false"),
        (ONE, "third", "'third' is not one of what it offers"),
        (ONE, ["first"], "['first'] is not one of what it offers"),
        (ONE, {}, "{} is not one of what it offers"),
        (OWN, 5, "5 is not a name"),
        (OWN, "x" * 10_000, "is not a name"),
        (MANY, "first", "'first' is not a list of what it offers"),
        (MANY, ["third"], "is not a list of what it offers"),
        (MANY, ["first"] * 5000, "is not a list of what it offers"),
        (GROUP, None, "is empty; it takes a list of what it offers"),
        (GROUP, [["first"]], "is not a list of what it offers"),
        (RADIO, 0, "0 is not one of what it offers"),
        (gr.File(), "mine.csv", "is not a file that was sent here"),
        (gr.File(), [UPLOADED], "is not a file that was sent here"),
        (gr.File(), {"path": "mine.csv"}, "is not a file that was sent here"),
        (gr.File(file_count="multiple"), [UPLOADED, "mine.csv"], "is not files that were sent"),
        (gr.File(), UPLOADED | {"path": 5}, "is not a file that was sent here"),
        (gr.File(), UPLOADED | {"path": "a\0b"}, "is not a file that was sent here"),
        (gr.File(), UPLOADED | {"path": "https://example.org/a.csv"}, "is not a file"),
        (gr.BrowserState(""), ["a"], "is not a token of this page"),
        (Api(None, {}), {"a": [UPLOADED]}, "is not plain JSON"),
        (Api(None, {}), nested(MAX_DEPTH + 1), "is not plain JSON"),
        (gr.Dataset(components=[gr.Textbox()], samples=[["a"]]), 1, "is not one of the examples"),
        (gr.Dataset(components=[gr.Textbox()], samples=[["a"]]), [0], "is not one of the"),
    ],
)
def test_what_no_page_sends_is_refused(part: Any, value: object, words: str) -> None:
    sentence = refusal(part, value)
    assert sentence.startswith("Field ") and words in sentence


def test_a_field_may_be_empty_where_the_page_lets_it() -> None:
    assert all(map(may_be_empty, (gr.Textbox(), SEED, gr.File(), gr.Dropdown(CHOICES, value=None))))
    assert not any(map(may_be_empty, (ONE, MANY, RADIO, SLIDER, GROUP)))
