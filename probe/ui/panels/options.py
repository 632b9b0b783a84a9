"""The options of the transforms as components, made from their table."""

from collections.abc import Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.tasks.task import offered_tasks
from probe.terms import capitalised
from probe.transforms.options import DEFAULTS, OPTIONS, Option, Options, read_options
from probe.transforms.registry import FAMILIES, REGISTRY
from probe.ui.html.elements import join, title


def build() -> list[Any]:  # Any: gradio's components share no useful type
    """Lay out a control for each option, by family; return them in the order of `OPTIONS`.

    Families of which the chosen task has no transform are out of sight.
    """
    controls: dict[str, Any] = {}
    gr.HTML(_out_of_sight(), padding=False, elem_classes="style-only")
    for family, term in FAMILIES.items():
        named = {name: option for name, option in OPTIONS.items() if option.family == family}
        with gr.Column(elem_classes=["options", *_tasks_with(family)]):
            gr.HTML(title(term.title))
            with gr.Row():
                controls |= {name: _control(name, option) for name, option in named.items()}
    return [controls[name] for name in OPTIONS]


def _tasks_with(family: str) -> list[str]:
    """Return a class for each task that some transform of a family is for."""
    transforms = [each for each in REGISTRY.values() if each.family == family]
    suited = [task for task in offered_tasks() if any(each.suits(task) for each in transforms)]
    return [f"of-{task.name}" for task in suited]


def _out_of_sight() -> Markup:
    """Return a style that hides what is not for the task that is chosen at the top of the page."""
    rule = Markup(":root:has(#task input[value={0}]:checked) .options:not(.of-{0}){{display:none}}")
    rules = join(rule.format(task.name) for task in offered_tasks())
    return Markup("<style>{}</style>").format(rules)


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
