"""The options of the transforms as components, made from their table."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from probe.transforms.options import DEFAULTS, OPTIONS, Option, Options, read_options
from probe.transforms.registry import FAMILIES
from probe.ui.html.elements import capitalised, title


def build() -> list[Any]:  # Any: gradio's components share no useful type
    """Lay out a control for each option, by family; return them in the order of `OPTIONS`."""
    controls: dict[str, Any] = {}
    for family, term in FAMILIES.items():
        named = {name: option for name, option in OPTIONS.items() if option.family == family}
        gr.HTML(title(term.title))
        with gr.Row(elem_classes="options"):
            controls |= {name: _control(name, option) for name, option in named.items()}
    return [controls[name] for name in OPTIONS]


def read(values: Sequence[object]) -> Options:
    """Read the controls' values, in the order of `OPTIONS`. Raises OptionError."""
    return read_options(dict(zip(OPTIONS, values, strict=True)))


def shown(name: str, value: object) -> object:
    """Return an option's value as its control shows it."""
    return _text(value) if OPTIONS[name].values else value


def _control(name: str, option: Option) -> Any:
    default = getattr(DEFAULTS, name)
    label = f"{capitalised(option.words)} · {name}"
    if option.values:
        choices = [(words, _text(value)) for value, words in option.values.items()]
        return gr.Dropdown(choices, value=_text(default), label=label, min_width=290)
    step = 1 if isinstance(default, int) else 0.05
    return gr.Slider(option.low, option.high, default, step=step, label=label, min_width=290)


def _text(value: object) -> str:
    return ("".join(value) if isinstance(value, tuple) else str(value)).lower()
