"""What endpoints over HTTP take: a type for each kind of argument, with what it is in words."""

import json
import reprlib
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from probe.errors import ArgumentError

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
        return f"one of {', '.join(map(str, get_args(annotation)))}"
    fields = [each for each in get_args(annotation)[1:] if isinstance(each, FieldInfo)]
    return next((field.description for field in fields if field.description), "of its type")


def whole_in(text: str) -> int | None:
    """Return the whole number from 0 to MAX_WHOLE that a link names, None where it is none."""
    if not text.isdecimal() or len(text) > len(str(MAX_WHOLE)):
        return None
    return number if (number := int(text)) <= MAX_WHOLE else None
