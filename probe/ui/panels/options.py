"""The options of the transforms as components, made from their table."""

from collections.abc import Collection, Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.models.windows import LONG, LONG_TITLE, Long
from probe.tasks.task import Task, offered_tasks
from probe.terms import capitalised
from probe.transforms.options import DEFAULTS, OPTIONS, Option, Options, read_options
from probe.transforms.registry import GROUPS, group_of, options_of
from probe.ui.html.elements import join, title


def build() -> list[Any]:  # Any: gradio's components share no useful type
    """Lay out a control for each option, in their groups; return them in the order of `OPTIONS`.

    Those that the chosen task has not are out of sight, and so are groups without any.
    """
    controls: dict[str, Any] = {}
    gr.HTML(_out_of_sight(), padding=False, elem_classes="style-only")
    for group, term in GROUPS.items():
        names = [name for name in OPTIONS if group_of(name) == group]
        with gr.Column(elem_classes=tasks_with(names)):
            gr.HTML(title(term.title))
            with gr.Row():
                controls |= {
                    name: control(name, OPTIONS[name], getattr(DEFAULTS, name), tasks_with([name]))
                    for name in names
                }
    return [controls[name] for name in OPTIONS]


def long_texts() -> gr.Radio:
    """Lay out what is done with texts longer than a model reads, for tasks where one can choose."""
    suited = [f"of-{task.name}" for task in offered_tasks() if task.settled]
    choices = [(capitalised(words), name) for name, words in LONG.items()]
    return gr.Radio(choices, value="cut", label=LONG_TITLE, elem_classes=["of-tasks", *suited])


def read_long(value: Long, task: Task) -> Long:
    """Return what a task does with them; the control of one without a choice is out of sight."""
    return value if task.settled else "cut"


def tasks_with(names: Collection[str]) -> list[str]:
    """Return the classes of what stands for some options: one for each task that has any."""
    suited = [task for task in offered_tasks() if not set(names).isdisjoint(options_of(task))]
    return ["of-tasks", *(f"of-{task.name}" for task in suited)]


def _out_of_sight() -> Markup:
    """Return a style that hides what is not for the task that is chosen at the top of the page."""
    rule = Markup("body[data-task={0}] .of-tasks:not(.of-{0}){{display:none}}")
    rules = join(rule.format(task.name) for task in offered_tasks())
    return Markup("<style>{}</style>").format(rules)


def read(values: Sequence[object], task: Task) -> Options:
    """Read the values of a task's controls among all, in the order of `OPTIONS`.

    The others are out of sight, and may hold what was set for another task. Raises OptionError.
    """
    shown = dict(zip(OPTIONS, values, strict=True))
    return read_options({name: shown[name] for name in options_of(task)})


def shown(name: str, value: object) -> object:
    """Return an option's value as its control shows it."""
    return _text(value) if OPTIONS[name].values else value


def control(
    name: str, option: Option, default: Any, classes: Sequence[str], **more: Any
) -> Any:  # Any: components share no useful type, nor do values
    """Lay out the control of an option that begins with a value."""
    label = f"{capitalised(option.words)} · {name}"
    place: dict[str, Any] = {"min_width": 290, "elem_classes": classes, **more}
    if option.values:
        choices = [(words, _text(value)) for value, words in option.values.items()]
        return gr.Dropdown(choices, value=_text(default), label=label, **place)
    step = 1 if isinstance(default, int) else 0.05
    return gr.Slider(option.low, option.high, default, step=step, label=label, **place)


def _text(value: object) -> str:
    return ("".join(value) if isinstance(value, tuple) else str(value)).lower()
