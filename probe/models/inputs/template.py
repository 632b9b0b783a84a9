"""How a decoder's two texts become one: a template, kept in the model's config.

A decoder was trained on one text, in which both stood in some frame that its files do not say, as
`Premise: {premise} Hypothesis: {hypothesis}`. Without one they are joined as the tokenizer does.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probe.errors import ModelError

TEMPLATE = "text_template"
"""The entry of the config."""
FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Framed:
    """A text made by a template, and where in it each field's text stands."""

    text: str
    places: Sequence[tuple[int, int]]  # of the task's fields, in their order

    def place(self, start: int, end: int) -> tuple[int, int, int] | None:
        """Return the number of the text that holds these characters, and where they stand in it.

        None for characters of the frame.
        """
        for number, (first, last) in enumerate(self.places):
            if start < last and end > first:
                return number, max(start, first) - first, min(end, last) - first
        return None


def is_decoder(model: Any) -> bool:  # Any: a network, and torch is not imported here
    """Whether a classifier's head, a linear layer, reads the last token."""
    return hasattr(getattr(model, "score", None), "out_features")


def read_template(config: Any, fields: Sequence[str]) -> str:  # Any: transformers' configs
    """Return a config's template, "" where it has none. Raises ModelError for one of other texts.

    It names each field of the task once.
    """
    template = getattr(config, TEMPLATE, "")
    named = FIELD.findall(template) if isinstance(template, str) else []
    if template and sorted(named) != sorted(fields):
        wanted = " and ".join(f"{{{field}}}" for field in fields)
        raise ModelError(
            f"the template of a model's texts ({TEMPLATE} in its config.json) names {wanted}, each "
            f"once, and is {template!r}"
        )
    return str(template)


def framed_sentence(frame: str) -> str:
    """Say how a decoder reads its texts as one, which its files do not."""
    return (
        f"its texts are read as {frame!r}; if it was trained on another form, give that as its "
        "template where it is opened, or write it into its folder with python -m probe models "
        "export MODEL FOLDER --template"
    )


def framed(template: str, texts: Mapping[str, str]) -> Framed:
    """Put the texts of an example, by field in their order, into a template."""
    parts, places, length = [], {}, 0
    for number, part in enumerate(FIELD.split(template)):
        text = texts[part] if number % 2 else part  # every second part is a field's name
        if number % 2:
            places[part] = length, length + len(text)
        parts.append(text)
        length += len(text)
    return Framed("".join(parts), [places[field] for field in texts])
