"""What every endpoint over HTTP goes through: its arguments are checked, refusals are sentences."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar, get_type_hints

import gradio as gr

from probe.errors import UserError, public_words
from probe.ui.api.arguments import Argument

P = ParamSpec("P")
T = TypeVar("T")
MAX_SENTENCE = 600
"""Characters of a refusal, which may quote what was sent."""


def endpoint(function: Callable[P, T]) -> Callable[P, T]:
    """Read the arguments by their annotations and answer a UserError by its sentence.

    gradio makes its schema of the function's own signature and docstring.
    """
    hints = get_type_hints(function, include_extras=True)
    form = signature(function)
    arguments = {name: Argument(name, hints[name]) for name in form.parameters}

    @wraps(function)
    def answer(*given: P.args, **named: P.kwargs) -> T:
        try:
            bound = form.bind(*given, **named)
            for name, value in bound.arguments.items():
                bound.arguments[name] = arguments[name].read(value)
            return function(*bound.args, **bound.kwargs)
        except UserError as refusal:
            raise refused(refusal) from refusal

    return answer


def refused(refusal: UserError) -> gr.Error:
    """Return a refusal as gradio sends it; it is expected, so the log has no traceback of it."""
    sentence = public_words(refusal)
    if len(sentence) > MAX_SENTENCE:
        sentence = f"{sentence[:MAX_SENTENCE]} …"
    return gr.Error(sentence, print_exception=False)
