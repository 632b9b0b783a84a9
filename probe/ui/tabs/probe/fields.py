"""The fields of the Probe tab: laid out once, shown anew for each task and each link."""

import json
from dataclasses import dataclass
from typing import Any, get_args

import gradio as gr
from markupsafe import Markup

from probe.analysis.importance import AUTO, FIRST_TITLE, METHODS, BaselineToken
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.transforms.options import OPTIONS
from probe.transforms.registry import choice, first_choice, presets, ready
from probe.ui.choices import short_model_choices
from probe.ui.events import CHANGING, QUIET
from probe.ui.html.examination import not_available, notices, question
from probe.ui.panels import options
from probe.ui.tabs.example_pairs import examples_of
from probe.ui.tabs.probe.view import Opened, max_fields, place_of, span_of

UNKNOWN = ("not known", "")
SEVERAL = "As it stands in the passage; | between several."
PREDICTED = ("the right answer, else the predicted one", "")
MODEL, NOTICES = 1, -1
"""The places of the model and of the notices among `values_of`."""
FOLLOW_METHOD = f"""method => ({{
  __type__: "update",
  interactive: {json.dumps([AUTO, *(name for name, row in METHODS.items() if row.replaces)])}
    .includes(method)
}})"""
"""The other methods put no token in the place of another."""
HEAD = Markup('<h2 class="title small">Change the text</h2>')


@dataclass(frozen=True)
class Fields:
    """What a person sets; `shown` is the task whose titles and choices the fields have now."""

    shown: gr.Textbox
    model: gr.Dropdown
    gold: gr.Radio
    answer: gr.Textbox
    seed: gr.Number
    explain: gr.Radio
    method: gr.Dropdown
    baseline: gr.Radio
    long: gr.Radio
    names: gr.Dropdown
    texts: list[gr.Textbox]
    options: list[Any]  # Any: components share no useful type

    @property
    def settings(self) -> list[Any]:
        """What is set by a press or a choice."""
        chosen = [self.model, self.gold, self.seed, self.explain, self.method, self.baseline]
        return [*chosen, self.long, *self.options]

    @property
    def typed(self) -> list[gr.Textbox]:
        """What is typed."""
        return [*self.texts, self.answer]

    @property
    def inputs(self) -> list[Any]:
        """The fields in the order of `read_view`."""
        asked = [self.shown, self.model, self.gold, self.answer, self.seed, self.explain]
        how = [self.method, self.baseline, self.long]
        return [*asked, *how, self.names, *self.texts, *self.options]


@dataclass(frozen=True)
class Tools:
    """What stands around the fields and changes with the task."""

    example: gr.Dropdown
    swap: gr.Button
    preset: gr.Radio
    question: gr.HTML
    notices: gr.HTML


def text_boxes() -> list[gr.Textbox]:
    """Lay out a box for each text of the task that has the most."""
    first = next(iter(examples_of(NLI).values()))
    texts = list(NLI.texts(first).values())
    return [
        gr.Textbox(
            texts[at] if at < len(texts) else "",
            label=_title(NLI, at),
            lines=2,
            max_lines=8,
            visible=at < len(NLI.fields),
            elem_id=f"text-{at + 1}",
        )
        for at in range(max_fields())
    ]


def gold_choice() -> gr.Radio:
    """Lay out the choice of the right answer, by the places of the labels."""
    gold = next(iter(examples_of(NLI).values())).gold
    return gr.Radio(labels(NLI), value=place_of(NLI, gold), label="Right answer", elem_id="gold")


def answer_box() -> gr.Textbox:
    """Lay out the right answer of a task that is answered with a span."""
    return gr.Textbox(
        label="Right answer", info=SEVERAL, visible=False, elem_id="right-answer", max_lines=2
    )


def labels(task: Task, first: tuple[str, str] = UNKNOWN) -> list[tuple[str, str]]:
    """Return the choices of a task's labels by their places, with one for none before them."""
    return [first, *((label, str(place)) for place, label in enumerate(task.labels))]


def model_choice(names: list[str]) -> gr.Dropdown:
    """Lay out the choice of the model."""
    choices = short_model_choices(names)
    return gr.Dropdown(choices, label="Model", elem_id="model", elem_classes="inline", **CHANGING)


def example_choice() -> gr.Dropdown:
    """Lay out the choice of an example."""
    titles = list(examples_of(NLI))
    return gr.Dropdown(
        titles,
        value=titles[0],
        label="Example",
        elem_id="example",
        elem_classes="inline",
        **CHANGING,
    )


def transform_choice() -> tuple[gr.Radio, gr.Dropdown]:
    """Lay out the presets, and the list of what is chosen."""
    with gr.Column(elem_id="changes", elem_classes="card"):
        with gr.Row(elem_classes="presets"):
            gr.HTML(HEAD)
            preset = gr.Radio(
                list(presets(NLI)),
                value=preset_of(NLI, first_choice(NLI)),
                label="Presets",
                show_label=False,
                elem_id="presets",
            )
        names = gr.Dropdown(
            changes(NLI),
            value=list(first_choice(NLI)),
            multiselect=True,
            label=_search(NLI),
            show_label=False,
            elem_id="transforms",
            **CHANGING,
        )
    return preset, names


def changes(task: Task) -> list[tuple[str, str]]:
    """Return the transforms of a task as one chooses them: by title and code name."""
    return [(choice(name), name) for name in ready(task)]


def explanation() -> tuple[gr.Radio, gr.Dropdown, gr.Radio, gr.Radio, gr.Number]:
    """Lay out what is explained and how, what becomes of long texts, and the seed."""
    with gr.Row():
        method = gr.Dropdown(
            [(FIRST_TITLE, AUTO), *((row.title, name) for name, row in METHODS.items())],
            value=AUTO,
            label="Attribution method",
            elem_id="method",
        )
        baseline = gr.Radio(
            list(get_args(BaselineToken)),
            value="pad",
            label="Baseline token, of methods that replace tokens",
            elem_id="baseline",
        )
        # a seed below 0 is refused where the answer stands, and not in a corner of the page
        seed = gr.Number(0, label="Seed", precision=0, min_width=80, elem_id="seed")
    method.change(None, method, baseline, js=FOLLOW_METHOD, **QUIET)
    explain = gr.Radio(labels(NLI, PREDICTED), value="", label="Label explained", elem_id="explain")
    return explain, method, baseline, options.long_texts(), seed


def option_controls() -> list[Any]:  # Any: components share no useful type
    """Lay out the options of the transforms, and say which transforms cannot run here."""
    missing = not_available()
    gr.HTML(missing, visible=bool(missing))
    with gr.Accordion("Options of the changes", open=False, elem_id="options", elem_classes="fold"):
        return options.build()


def values_of(opened: Opened) -> list[Any]:  # Any: values and gradio's updates
    """Return what everything shows: `Fields.inputs`, then `Tools`."""
    view, task = opened.view, opened.view.task
    texts = list(task.texts(view.example).values())
    title = next(
        (title for title, example in examples_of(task).items() if example == view.example), None
    )
    chosen = view.names
    return [
        task.name,
        gr.Dropdown(choices=short_model_choices(opened.models), value=view.model or None),
        gr.Radio(
            choices=labels(task),
            value=place_of(task, view.example.gold),
            visible=not task.has_spans,
        ),
        gr.Textbox(span_of(task, view.example.gold), visible=task.has_spans),
        view.seed,
        gr.Radio(
            choices=labels(task, PREDICTED),
            value=place_of(task, view.label),
            visible=not task.has_spans,
        ),
        view.method,
        view.baseline,
        view.long,
        gr.Dropdown(choices=changes(task), value=list(chosen), label=_search(task)),
        *(
            gr.Textbox(
                texts[at] if at < len(texts) else "",
                label=_title(task, at),
                lines=_lines(task, at),
                visible=at < len(texts),
            )
            for at in range(max_fields())
        ),
        *(options.shown(name, getattr(view.options, name)) for name in OPTIONS),
        gr.Dropdown(choices=list(examples_of(task)), value=title),
        gr.Button(visible=len(task.fields) == 2 and not task.has_spans),
        gr.Radio(choices=list(presets(task)), value=preset_of(task, chosen)),
        question(task),
        notices(opened.notices),
    ]


def models_of(opened: Opened) -> list[Any]:  # Any: gradio's updates
    """Return the like of `values_of` for a page that no link fills: its visitor's models.

    The notices come with them. All else stands there already, and what was typed meanwhile stays.
    """
    values = [gr.skip() for _ in values_of(opened)]
    values[MODEL] = gr.Dropdown(choices=short_model_choices(opened.models))
    values[NOTICES] = notices(opened.notices)
    return values


def preset_of(task: Task, names: object) -> str | None:
    """Return the preset that has just these transforms, None where none has."""
    chosen = set(names) if isinstance(names, list | tuple) else set()
    return next((title for title, held in presets(task).items() if set(held) == chosen), None)


def _lines(task: Task, at: int) -> int:
    """Return how many lines a text's box has: a passage and a text that stands alone have more."""
    if task.has_spans and task.fields[at : at + 1] != (task.target,):
        return 6
    return 2 if len(task.fields) > 1 else 4


def _title(task: Task, at: int) -> str:
    return task.title_of(task.fields[at]) if at < len(task.fields) else ""


def _search(task: Task) -> str:
    return f"Search {len(ready(task))} changes, or join two with +"
