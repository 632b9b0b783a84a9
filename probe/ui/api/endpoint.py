"""What every endpoint over HTTP goes through: its arguments are checked, refusals are sentences."""

import json
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import gradio as gr
from gradio.context import Context, get_render_context, set_render_context
from markupsafe import Markup
from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from probe.errors import ArgumentError, ModelError, OptionError, UserError, public_words
from probe.runs.access import ModelAccess
from probe.tasks.task import Task, offered_tasks, task_named
from probe.ui.answers.answering import check_example

MAX_WHOLE = 2**31 - 1
"""The largest whole number: JSON, torch and every database hold it."""
MAX_NAME, MAX_NAMES, MAX_NUMBERS = 500, 4_000, 10_000
"""Characters of a name, names in a list, characters of a text of numbers."""

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 40
_short.maxlevel = _short.maxlist = _short.maxdict = 2


def shown(value: object) -> str:
    """Return a value as a message quotes it, shortened."""
    return _short.repr(value)


def written(text: str) -> str:
    """Return a text that can be sent back; half of a character, a lone surrogate, cannot."""
    text.encode("utf-8")
    return text


def listed(value: object) -> object:
    """Return the names of a text with commas between them; anything else as it is."""
    if not isinstance(value, str):
        return value
    return [name.strip() for name in value.split(",") if name.strip()]


def joined(value: object) -> object:
    """Return a number or a list of numbers as a text with commas; anything else as it is."""
    parts = value if isinstance(value, list) else [value]
    numbers = [part for part in parts if isinstance(part, str | int | float)]
    return ",".join(map(str, parts)) if numbers == parts else value


def opened(value: object) -> object:
    """Return the values of a JSON text, {} of an empty one; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value or "{}")
    except (ValueError, RecursionError):
        return value


Text = Annotated[str, AfterValidator(written), Field(description="a text")]
Name = Annotated[str, AfterValidator(written), Field(max_length=MAX_NAME, description="a name")]
Names = Annotated[
    list[Name],
    BeforeValidator(listed),
    Field(max_length=MAX_NAMES, description="a list of names, or a text with commas between them"),
]
Token = Annotated[
    str, Field(pattern="^([0-9a-f]{32})?$", description="a token that /inoculate returned")
]
"""Whose the runs and models are that may be used; empty for nobody's."""
Upload = Annotated[str, Field(min_length=1, description="a file that was uploaded")]
"""The place of a file in gradio's cache."""
Seed = Annotated[int, Field(ge=0, le=MAX_WHOLE, description=f"a whole number, 0 to {MAX_WHOLE}")]
Whole = Annotated[
    int, Field(ge=-MAX_WHOLE, le=MAX_WHOLE, description=f"a whole number up to {MAX_WHOLE}")
]
Share = Annotated[float, Field(ge=0, le=1, description="a number from 0 to 1")]
Real = Annotated[float, Field(ge=0, allow_inf_nan=False, description="a number from 0")]
Switch = Annotated[bool, Field(description="true or false")]
Numbers = Annotated[
    str,
    BeforeValidator(joined),
    AfterValidator(written),
    Field(max_length=MAX_NUMBERS, description="a list of numbers such as 10,50,100"),
]
Choices = Annotated[
    dict[Name, bool | int | float | Name | list[Name]],
    BeforeValidator(opened),
    Field(max_length=MAX_NAMES, description='a JSON object such as {"senses": "first"}'),
]
"""Options by name, as JSON or as its text; which there are is checked where they are read."""


NamesByName = Annotated[
    dict[Name, Name],
    BeforeValidator(opened),
    Field(max_length=MAX_NAMES, description='a JSON object such as {"gold": "label"}'),
]
"""Names by name, as JSON or as its text: columns by field, labels by value."""


Uploads = Annotated[
    list[Upload], Field(min_length=1, max_length=MAX_NAMES, description="files that were uploaded")
]
OptionalUpload = Annotated[Upload | None, Field(description="a file that was uploaded, or none")]


class Argument:
    """An argument of an endpoint: its name and its annotation, ready to read values."""

    def __init__(self, name: str, annotation: Any) -> None:  # Any: a type of any form
        self._name = name
        self._adapter = TypeAdapter[Any](annotation)
        self._wanted = wanted(annotation)

    def read(self, value: object) -> Any:  # Any: of the annotation's type
        """Return the value as the annotation has it. Raises ArgumentError."""
        try:
            return self._adapter.validate_python(value)
        except ValidationError as wrong:
            raise ArgumentError(f"{self._name} {shown(value)} is not {self._wanted}") from wrong


def wanted(annotation: Any) -> str:
    """Return in words what an annotation takes."""
    if get_origin(annotation) is Literal:
        named = filter(None, map(str, get_args(annotation)))  # "" is for none
        return f"one of {', '.join(named)}"
    fields = [each for each in get_args(annotation)[1:] if isinstance(each, FieldInfo)]
    return next((field.description for field in fields if field.description), "of its type")


def whole_in(text: str) -> int | None:
    """Return the whole number from 0 to MAX_WHOLE that a link names, None where it is none."""
    if not text.isdecimal() or len(text) > len(str(MAX_WHOLE)):
        return None
    return number if (number := int(text)) <= MAX_WHOLE else None


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


REQUIRED = Parameter.empty
"""The default of an argument that has none."""


class Stated(NamedTuple):
    """An argument of an endpoint as a table has it: its type says in words what it takes."""

    name: str
    type: Any  # Any: a type of any form
    help: str
    default: object = REQUIRED


def endpoint_of(
    function: Callable[[dict[str, Any]], dict[str, Any]], about: str, arguments: Sequence[Stated]
) -> Callable[..., dict[str, Any]]:
    """Return the endpoint of a function that takes the values of arguments by name."""

    def called(*given: Any, **named: Any) -> dict[str, Any]:  # Any: as their types have them
        bound = form.bind(*given, **named)
        bound.apply_defaults()
        return function(bound.arguments)

    types = {"return": dict[str, Any]} | {each.name: each.type for each in arguments}
    form = Signature(
        [
            Parameter(
                each.name,
                Parameter.POSITIONAL_OR_KEYWORD,
                annotation=each.type,
                default=each.default,
            )
            for each in arguments
        ],
        return_annotation=types["return"],
    )
    called.__signature__ = form  # type: ignore[attr-defined]  # inspect and gradio read it
    called.__annotations__ = types
    lines = (f"    {each.name}: {each.help}" for each in arguments)
    called.__doc__ = "\n".join([about, "", "Args:", *lines])
    return endpoint(called)


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


Texts = Annotated[
    dict[Name, Text],
    BeforeValidator(opened),
    Field(max_length=MAX_NAMES, description='a JSON object such as {"text1": "A dog barks."}'),
]
"""The texts of an example by field, as JSON or as its text."""


def task_of(models: ModelAccess, owner: str, name: str, model: str) -> Task:
    """Return a task that the page offers; where none is named, the model's. Raises OptionError."""
    if not name:
        return models.task(owner, model)
    known = [task.name for task in offered_tasks()]
    if name not in known:
        raise OptionError(f"there is no task {name!r} here; there are: {', '.join(known)}")
    return task_named(name)


def first_model(models: ModelAccess, owner: str, task: Task) -> str:
    """Return the model that the page offers first for a task. Raises ModelError where none is."""
    name = next(iter(models.names(owner, task)), None)
    if name is None:
        raise ModelError(f"no model of the task {task.name} is here; name one of your own")
    return name


def read_example(
    task: Task, texts: Mapping[str, str], premise: str, hypothesis: str, gold: str
) -> Any:  # Any: of the task's own dataclass
    """Return the example of a task; premise and hypothesis are a shorthand for inference's texts.

    Raises OptionError for a text that the task has not or that is given twice, ExampleError without
    a text, LabelError.
    """
    short = {"premise": premise, "hypothesis": hypothesis}
    said = {name: text for name, text in short.items() if text}
    if twice := [name for name in said if name in texts]:
        raise OptionError(f"the text {twice[0]} is given twice")
    given = {**texts, **said}
    if unknown := [name for name in given if name not in task.fields]:
        fields = ", ".join(task.fields)
        raise OptionError(f"the task {task.name} has no text {unknown[0]!r}; it has: {fields}")
    whole = {field: given.get(field, "") for field in task.fields}
    example = task.example(**whole, gold=task.read_gold(gold))
    check_example(task, example)
    return example
