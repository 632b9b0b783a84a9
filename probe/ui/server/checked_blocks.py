"""The page as gradio knows it, with every request to it checked and every refusal a sentence."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.components import Component
from gradio.components.api_component import Api
from gradio.data_classes import APIInfo, BlocksConfigDict, FileData
from gradio.exceptions import InvalidPathError
from gradio.state_holder import SessionState
from gradio.utils import get_function_description
from pydantic import ValidationError

from probe.errors import ArgumentError, UserError, public_words
from probe.stopping import pausing, stopping
from probe.ui.answers.answering import event_left, time_up
from probe.ui.answers.turns import Lanes, visitor_of
from probe.ui.api.endpoint import MAX_NAME, MAX_NAMES, MAX_WHOLE, refused, shown, written
from probe.ui.server.fair_queue import queued

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
        known = type(value) in (int, float) and low <= value <= high  # neither holds of NaN
        return known and (part.precision != 0 or value % 1 == 0)  # gradio rounds without a word

    kind = "a whole number" if part.precision == 0 else "a number"
    return Taken(fits, f"{kind} from {low:,} to {high:,}")


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


def files(part: gr.File) -> Taken:
    """Return that a file is taken, or a list of them where a component takes several."""
    if part.file_count == "multiple":
        return Taken(lambda value: every(value, is_file), "files that were sent here")
    return Taken(is_file, "a file that was sent here")


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
    gr.File: files,
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


OWN_FAULT = (
    "Something went wrong that is this app's own fault; its log says what. "
    "Nothing of yours is lost: try again, or ask for something else."
)


class CheckedBlocks(gr.Blocks):
    """A page whose events and endpoints are all answered here, whoever calls them and however."""

    def __init__(self, *given: Any, **named: Any) -> None:  # Any: as gradio's
        """Begin with places for long work."""
        super().__init__(*given, **named)
        self.lanes = Lanes()
        self._config: tuple[object, Any] = None, {}  # Any: nothing, or as gradio's

    def queue(self, *_: Any, **__: Any) -> gr.Blocks:  # Any: as gradio's
        """Give the page its queue."""
        return queued(self)

    def get_config_file(self) -> BlocksConfigDict:
        """Describe the page as browsers are sent it.

        gradio (6.31) asks four times before it serves: as the page is laid out, where nobody reads
        it, and twice as it is launched. Once it is served, what parts begin with may change. A page
        keeps no connection to say that it is open: the stream of its answers says so.
        """
        now = time.monotonic() if self.is_running else 0
        state = len(self.blocks), len(self.fns), getattr(self, "theme_hash", None), now
        if self.exited and self._config[0] != state:
            self._config = state, {**super().get_config_file(), "connect_heartbeat": False}
        config: BlocksConfigDict = self._config[1]
        return config

    async def process_api(self, *given: Any, **named: Any) -> dict[str, Any]:  # Any: as gradio's
        """Answer a request. A refusal is not logged; a bug is, and its words stay in the log."""
        try:
            event_object(named.get("event_data"))
            return await super().process_api(*given, **named)
        except UserError as refusal:
            raise refused(refusal) from refusal
        except gr.Error as own:
            own.message = public_words(own.message)
            raise
        except Exception as bug:  # the outermost frame of ours
            raise gr.Error(OWN_FAULT) from bug

    async def call_function(
        self,
        block_fn: BlockFunction | int,
        processed_input: list[Any],
        iterator: Any = None,
        requests: Any = None,
        event_id: str | None = None,
        *given: Any,
        **named: Any,
    ) -> Any:  # Any: as gradio's
        """Answer an event, or one step of it, as long as somebody waits and its time is not up."""
        left = event_left(self._queue, event_id)
        work = self.lanes.begin(visitor_of(requests), left)
        try:
            with pausing(work), stopping(time_up("answer_seconds"), left, alone=True):
                return await super().call_function(
                    block_fn, processed_input, iterator, requests, event_id, *given, **named
                )
        finally:
            self.lanes.end(work)

    async def preprocess_data(
        self,
        block_fn: BlockFunction,
        inputs: list[Any],
        state: SessionState | None,
        explicit_call: bool = False,
    ) -> list[Any]:
        """Read the values of an event as its components take them. Raises ArgumentError."""
        require_fields(block_fn, inputs, state)
        inputs = [typed(part, value) for part, value in zip(block_fn.inputs, inputs, strict=True)]
        try:
            read: list[Any] = await super().preprocess_data(block_fn, inputs, state, explicit_call)
        except InvalidPathError as elsewhere:
            raise ArgumentError("this file was not sent here; choose it again") from elsewhere
        return read

    def get_api_info(self, *given: Any, **named: Any) -> APIInfo:  # Any: as gradio's
        """Describe the endpoints, each parameter by its line of the function's docstring.

        gradio reads these lines for MCP alone.
        """
        self.config = self.get_config_file()
        info = super().get_api_info(*given, **named)
        for event in self.fns.values():
            endpoint = info["named_endpoints"].get(f"/{event.api_name}")
            if endpoint and event.fn:
                _, described, _ = get_function_description(event.fn)
                for parameter in endpoint["parameters"]:
                    words = described.get(parameter["parameter_name"] or "", "")
                    parameter["python_type"]["description"] = words
        return info


def require_fields(
    function: BlockFunction, values: Sequence[Any], state: SessionState | None
) -> None:
    """Refuse values that the page would not send. Raises ArgumentError."""
    parts: Sequence[Any] = function.inputs  # Any: components, of whatever kind
    if len(values) != len(parts):
        raise ArgumentError(f"this takes {len(parts)} values, and {len(values)} were sent")
    for name, part, value in zip(names_of(function), parts, values, strict=True):
        if not part.stateful:  # the app's own, whatever is sent
            now = state[part._id] if state and part._id in state else part
            require_field(name, now, value, may_be_empty(part))


def typed(part: object, value: Any) -> Any:  # Any: what was sent
    """Return a value; of a text where nothing was ever typed an empty one."""
    return "" if value is None and isinstance(part, gr.Textbox) else value


def names_of(function: BlockFunction) -> list[str]:
    """Return what the values of an event are called: an endpoint's arguments, a page's labels."""
    if function.api_visibility == "public":
        return [str(name) for name in function.input_parameter_names or ()]
    return [getattr(part, "label", None) or "this field" for part in function.inputs]


def event_object(event: gr.EventData | None) -> None:
    """Let an event that brings no object bring an empty one, in which a handler can look."""
    if event is not None and not isinstance(event._data, dict):
        event._data = {}
