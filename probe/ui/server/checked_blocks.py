"""The page as gradio knows it, with every request to it checked and every refusal a sentence."""

from collections.abc import Sequence
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.data_classes import APIInfo
from gradio.exceptions import InvalidPathError
from gradio.state_holder import SessionState
from gradio.utils import get_function_description

from probe.errors import ArgumentError, UserError, public_words
from probe.stopping import pausing, stopping
from probe.ui.answers.answering import event_left, time_up
from probe.ui.answers.lanes import Lanes
from probe.ui.answers.turns import visitor_of
from probe.ui.api.endpoint import refused
from probe.ui.server.fields import may_be_empty, require_field

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
