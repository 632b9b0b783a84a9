"""What an opened page is filled with, so that what a person has chosen since stays."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import gradio as gr

Answer = Callable[..., Any]  # Any: a handler's values, and gradio's updates of components


def keeping_choices(answer: Answer, outputs: Any) -> Answer:
    """Return an answer to a page's opening that sets no value which its component begins with.

    Such a value stands on the page already, and the answer may come late: a person who has chosen
    another one meanwhile keeps it.
    """
    parts: Sequence[Any] = outputs if isinstance(outputs, list) else [outputs]

    @wraps(answer)
    def opened(*given: Any) -> Any:
        answers = answer(*given)
        if not isinstance(outputs, list):
            return _without_first_value(parts[0], answers)
        return [_without_first_value(*pair) for pair in zip(parts, answers, strict=True)]

    return opened


def _without_first_value(part: Any, update: Any) -> Any:
    """Return an update, or a value, without the value that the component was built with."""
    if isinstance(update, gr.blocks.Block):
        if "value" in (given := update.constructor_args) and given["value"] == part.value:
            del given["value"]
        return update
    return gr.skip() if update == part.value else update
