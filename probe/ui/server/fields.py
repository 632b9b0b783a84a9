"""What each kind of component of the page takes.

A browser sends nothing else; who writes requests by hand may send anything to any of the page's own
events, and is answered before a handler sees it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component
from gradio.components.api_component import Api
from gradio.data_classes import FileData
from pydantic import ValidationError

from probe.errors import ArgumentError
from probe.ui.api.arguments import MAX_NAME, MAX_NAMES, MAX_WHOLE, shown, written

MAX_NUMBER = 10**15
"""Beyond it a number is a slip."""
MAX_DEPTH = 16
"""Lists and objects in one another; the arguments of endpoints need three."""


@dataclass(frozen=True)
class Taken:
    """What a component takes: whether a value is of that kind, and what that is in words."""

    fits: Callable[[Any], bool]  # Any: what was sent
    words: str


Kind = Callable[[Any], Taken]  # Any: a component, of the kind that the table says


def is_text(value: object) -> bool:
    """Whether a value is a text that can be written."""
    try:
        return isinstance(value, str) and written(value) == value
    except UnicodeEncodeError:
        return False


def is_name(value: object) -> bool:
    """Whether a value is a text no longer than a name."""
    return is_text(value) and len(str(value)) <= MAX_NAME


def is_file(value: object) -> bool:
    """Whether a value is a file that was sent here; one at an address would have to be fetched."""
    try:
        path = FileData.model_validate(value, context={"validate_meta": True}).path
    except ValidationError:
        return False
    return is_text(path) and "\0" not in path and "://" not in path


def is_plain(value: object, depth: int = MAX_DEPTH) -> bool:
    """Whether a value holds no file, which gradio would fetch, and is not nested without end."""
    if isinstance(value, Mapping):
        return depth > 0 and "meta" not in value and is_plain(list(value.values()), depth)
    if isinstance(value, list):
        return depth > 0 and all(is_plain(part, depth - 1) for part in value)
    return True


def number(part: gr.Number | gr.Slider) -> Taken:
    """Return what a number's field takes."""
    most = MAX_WHOLE if part.precision == 0 else MAX_NUMBER
    low = -most if part.minimum is None else part.minimum
    high = most if part.maximum is None else part.maximum

    def fits(value: Any) -> bool:
        return type(value) in (int, float) and low <= value <= high  # neither holds of NaN

    return Taken(fits, f"a number from {low:,} to {high:,}")


def dropdown(part: gr.Dropdown) -> Taken:
    """Return what a list takes: what it offers, and names of one's own where it allows them."""
    one = is_name if part.allow_custom_value else offered(part).fits
    if part.multiselect:
        return Taken(lambda value: every(value, one), "a list of what it offers")
    return Taken(one, "a name" if part.allow_custom_value else "one of what it offers")


def offered(part: gr.Dropdown | gr.Radio | gr.CheckboxGroup) -> Taken:
    """Return that one of the choices is taken."""
    values = [value for _, value in part.choices]
    return Taken(lambda value: value in values, "one of what it offers")


def every(value: object, fits: Callable[[Any], bool]) -> bool:
    """Whether a value is a list, and each in it fits."""
    return isinstance(value, list) and len(value) <= MAX_NAMES and all(map(fits, value))


def dataset(part: gr.Dataset) -> Taken:
    """Return that the number of an example is taken."""
    most = len(part.raw_samples or [])
    return Taken(lambda value: type(value) is int and 0 <= value < most, "one of the examples")


def browser_state(part: gr.BrowserState) -> Taken:
    """Return what a browser may have kept: a token, or plain JSON where it began as an object."""
    if isinstance(part.default_value, Mapping):
        return Taken(lambda value: isinstance(value, Mapping) and is_plain(value), "a plain object")
    return Taken(is_name, "a token of this page")


KINDS: Mapping[type[Component], Kind] = {
    gr.Textbox: lambda part: Taken(is_text, "a text"),
    gr.Number: number,
    gr.Slider: number,
    gr.Checkbox: lambda part: Taken(lambda value: isinstance(value, bool), "true or false"),
    gr.Dropdown: dropdown,
    gr.Radio: offered,
    gr.CheckboxGroup: lambda part: Taken(
        lambda value: every(value, offered(part).fits), "a list of what it offers"
    ),
    gr.Dataset: dataset,
    gr.File: lambda part: Taken(is_file, "a file that was sent here"),
    gr.UploadButton: lambda part: Taken(is_file, "a file that was sent here"),
    gr.BrowserState: browser_state,
    gr.HTML: lambda part: Taken(
        lambda value: isinstance(value, Mapping) and is_plain(value), "a plain object"
    ),
    gr.State: lambda part: Taken(lambda value: True, "kept by the app"),
    Api: lambda part: Taken(is_plain, "plain JSON"),
}
"""By the kind of component; of an endpoint's arguments the rest is checked by `endpoint`."""
OPTIONAL = (gr.Textbox, gr.Number, gr.File, gr.UploadButton, gr.BrowserState, gr.State)
"""The kinds that may be empty; a list may where it begins empty."""


def require_field(name: str, part: Component, value: object, optional: bool) -> None:
    """Refuse a value that a component does not take. Raises ArgumentError with the field's name."""
    if value is None and optional:
        return
    taken = next(KINDS[kind] for kind in type(part).__mro__ if kind in KINDS)(part)
    if not taken.fits(value):
        what = "is empty; it takes" if value is None else f"{shown(value)} is not"
        raise ArgumentError(f"{name} {what} {taken.words}")


def may_be_empty(part: Component) -> bool:
    """Whether the page itself may send nothing for a component."""
    if isinstance(part, gr.Dropdown):
        return part.value is None and not part.multiselect
    if isinstance(part, gr.Radio):
        return part.value is None
    return isinstance(part, OPTIONAL)
