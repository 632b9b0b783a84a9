"""What every endpoint over HTTP goes through: its arguments are checked, refusals are sentences."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar, get_type_hints

import gradio as gr
from gradio.context import Context, get_render_context, set_render_context
from markupsafe import Markup

from probe.errors import UserError, public_words
from probe.ui.api.arguments import Argument

WORDS = Markup(
    '<h2 class="title">Over HTTP</h2><p>What the places do can be asked by a program: the list of '
    "functions, with what each takes and returns, opens by <em>Use via API</em> below.</p>"
)
P = ParamSpec("P")
T = TypeVar("T")
HTTP = "http"
"""The path of the page that describes the endpoints."""
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


@contextmanager
def over_http() -> Iterator[None]:
    """Lay out what is for HTTP alone on its own page, where there is one: no place has to load it.

    Every event is answered over HTTP, whatever its page.
    """
    app, inside = Context.root_block, get_render_context()
    if app is None:
        raise RuntimeError("an endpoint belongs to an app")
    place = app.current_page
    app.current_page = HTTP if any(path == HTTP for path, *_ in app.pages) else place
    set_render_context(app)
    try:
        yield
    finally:
        set_render_context(inside)
        app.current_page = place


def refused(refusal: UserError) -> gr.Error:
    """Return a refusal as gradio sends it; it is expected, so the log has no traceback of it."""
    sentence = public_words(refusal)
    if len(sentence) > MAX_SENTENCE:
        sentence = f"{sentence[:MAX_SENTENCE]} …"
    return gr.Error(sentence, print_exception=False)


def build_page(page: object) -> None:
    """Lay out the page that describes the endpoints, which stand there wherever they are made."""
    gr.HTML(WORDS, padding=False)
