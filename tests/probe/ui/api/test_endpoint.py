"""What an endpoint does with its arguments, and what it answers where it refuses."""

from typing import Any, Literal

import gradio as gr
import pytest

from probe.errors import ModelError
from probe.ui.api.endpoint import (
    MAX_SENTENCE,
    MAX_WHOLE,
    Choices,
    Name,
    Names,
    Numbers,
    Seed,
    Share,
    Switch,
    Text,
    Upload,
    Whole,
    endpoint,
)

Mode = Literal["full", "fast"]


@endpoint
def echo(
    text: Text = "",
    name: Name = "",
    names: Names = [],  # noqa: B006  # as the endpoints have it
    seed: Seed = 0,
    n: Whole = 1,
    keep: Share = 0.5,
    switch: Switch = False,
    numbers: Numbers = "",
    options: Choices = {},  # noqa: B006  # as above
    mode: Mode = "full",
    file: Upload = "a.csv",
) -> dict[str, Any]:
    """Return the arguments.

    Args:
        text: A text.
    """
    return dict(locals())


def sentence(**given: Any) -> str:
    """Return what is answered to an argument that is refused."""
    with pytest.raises(gr.Error) as refusal:
        echo(**given)
    assert not refusal.value.print_exception
    return str(refusal.value.message)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"names": "sort, drop"}, ["sort", "drop"]),
        ({"names": ["sort", "drop"]}, ["sort", "drop"]),
        ({"names": ""}, []),
        ({"numbers": 10}, "10"),
        ({"numbers": [10, 50]}, "10,50"),
        ({"numbers": "10, 50, all"}, "10, 50, all"),
        ({"options": '{"senses": "first"}'}, {"senses": "first"}),
        ({"options": ""}, {}),
        ({"options": {"keep": 0.25, "by_id": True, "pin": ["."]}},) * 2,
        ({"seed": "7"}, 7),
        ({"seed": 7.0}, 7),
        ({"seed": MAX_WHOLE}, MAX_WHOLE),
    ],
)  # fmt: skip
def test_an_argument_is_read_as_it_is_meant(given: dict[str, Any], wanted: object) -> None:
    (name,) = given
    assert echo(**given)[name] == (wanted[name] if wanted is given else wanted)  # type: ignore[index]  # a dict where it is what was given


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seed": 10**30}, "seed 1000000000000000000000000000000 is not a whole number, 0 to 2"),
        ({"seed": -1}, "seed -1 is not a whole number, 0 to 2147483647"),
        ({"seed": 1.5}, "seed 1.5 is not a whole number"),
        ({"seed": float("nan")}, "seed nan is not a whole number"),
        ({"seed": None}, "seed None is not a whole number"),
        ({"seed": [[[[1]]]]}, "seed [[[...]]] is not a whole number"),
        ({"n": 10**12}, "n 1000000000000 is not a whole number up to"),
        ({"keep": 2}, "keep 2 is not a number from 0 to 1"),
        ({"keep": float("inf")}, "keep inf is not a number from 0 to 1"),
        ({"text": 5}, "text 5 is not a text"),
        ({"text": "half \ud83d"}, r"text 'half \ud83d' is not a text"),
        ({"text": None}, "text None is not a text"),
        ({"name": ["a"]}, "name ['a'] is not a name"),
        ({"name": "n" * 501}, "is not a name"),
        ({"names": 5}, "names 5 is not a list of names, or a text with commas between them"),
        ({"names": [["sort"]]}, "is not a list of names"),
        ({"names": [None]}, "is not a list of names"),
        ({"switch": "perhaps"}, "switch 'perhaps' is not true or false"),
        ({"numbers": {"a": 1}}, "numbers {'a': 1} is not a list of numbers such as 10,50,100"),
        ({"numbers": [[1]]}, "is not a list of numbers"),
        ({"numbers": "1," * 6000}, "is not a list of numbers"),
        ({"options": [1]}, "options [1] is not a JSON object"),
        ({"options": "{"}, "options '{' is not a JSON object"),
        ({"options": "[" * 9999}, "is not a JSON object"),
        ({"options": {"keep": {"a": {}}}}, "is not a JSON object"),
        ({"mode": "slow"}, "mode 'slow' is not one of full, fast"),
        ({"mode": ["full"]}, "mode ['full'] is not one of full, fast"),
        ({"file": None}, "file None is not a file that was uploaded"),
    ],
)
def test_another_value_is_refused_by_a_sentence(given: dict[str, Any], words: str) -> None:
    refusal = sentence(**given)
    assert words in refusal
    assert len(refusal) < 200


def test_a_refusal_is_answered_by_its_sentence_and_not_logged() -> None:
    @endpoint
    def refuse(model: Name) -> str:
        raise ModelError(f"no model called {model!r}")

    with pytest.raises(gr.Error) as refusal:
        refuse("x")
    assert (refusal.value.message, refusal.value.print_exception) == (
        "no model called 'x'",
        False,
    )


def test_a_refusal_that_quotes_a_page_of_text_is_cut() -> None:
    @endpoint
    def refuse(text: Text) -> str:
        raise ModelError(f"no model called {text}")

    with pytest.raises(gr.Error) as refusal:
        refuse("x" * 10_000)
    assert len(str(refusal.value.message)) == MAX_SENTENCE + 2


def test_a_bug_is_no_refusal() -> None:
    @endpoint
    def broken(name: Name) -> str:
        raise KeyError(name)

    with pytest.raises(KeyError):
        broken("x")


def test_gradio_makes_its_schema_of_the_functions_own_types() -> None:
    with gr.Blocks() as blocks:
        gr.api(echo, api_name="echo")
    described = blocks.get_api_info()["named_endpoints"]["/echo"]
    types = {each["parameter_name"]: each["type"] for each in described["parameters"]}
    assert types["text"] == {"type": "string"}
    assert types["names"] == {"type": "array", "items": {"type": "string"}}
    assert types["seed"] == {"type": "integer"}
    assert types["mode"] == {"enum": ["full", "fast"]}
    assert described["description"] == "Return the arguments."
    assert all(each["parameter_has_default"] for each in described["parameters"])
