"""Probe: one example, live. One set of components serves every task, relabelled by it."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial, wraps
from itertools import permutations
from pathlib import Path
from typing import Any, get_args

import gradio as gr
from markupsafe import Markup

from probe.analysis.importance import AUTO, FIRST_TITLE, METHODS, BaselineToken
from probe.errors import UserError
from probe.tasks.nli import NLI
from probe.tasks.task import Task, offered_tasks, task_named
from probe.transforms.options import OPTIONS
from probe.transforms.registry import choice, first_choice, presets, ready
from probe.ui.answers.answering import SharedAnswers
from probe.ui.api.models import build_probe
from probe.ui.choices import has_labels, short_model_choices
from probe.ui.events import CHANGING, EACH, EMPTY, LAST, PRESSED, QUIET, in_turn
from probe.ui.html.elements import alert, join
from probe.ui.html.examination import hint, not_available, notices, question, waiting
from probe.ui.html.shared_link import copy_script
from probe.ui.links import link_to_lesson
from probe.ui.page import Page
from probe.ui.panels import options
from probe.ui.tabs.example_pairs import examples_of
from probe.ui.tabs.probe import answer as answering
from probe.ui.tabs.probe import scripts
from probe.ui.tabs.probe.answer import Shown, preset_of
from probe.ui.tabs.probe.view import (
    Opened,
    absent_tab,
    example_fields,
    explained_by,
    fields_of,
    max_fields,
    names_a_view,
    open_link,
    read_file,
)

Parts = dict[str, Any]  # Any: components share no useful type
"""The parts of the view by the names of `fields_of`, `update` and `values_of`."""
FILLING = in_turn("probe-fields")
"""What fills the fields: an example comes after what the opened page shows, not before."""
LOADING = "The model is being loaded; its first answer comes in a moment."
LESSON = "word_salad"
UNKNOWN = ("not known", "")
SEVERAL = "As it stands in the passage; | between several."
PREDICTED = ("the right answer, else the predicted one", "")
HEAD = Markup('<h2 class="title small">Change the text</h2>')
TOOL = Markup(
    '<button type="button" class="btn" id="{}" data-event="{}" data-cell="{}">{}</button>'
)
TOOLS = (
    ("random", "click", "Random"),
    ("swap", "input", "Swap"),
    ("link", "submit", "Copy link"),
    ("settings-button", "expand", "Settings"),
)
"""What stands beside the example: by which event each is told, and what is written on it.

They are no buttons of gradio's, whose code takes a newcomer eight requests.
"""
REPLACING = [AUTO, *(name for name, row in METHODS.items() if row.replaces)]
"""The methods that put a token in the place of another."""


def build(page: Page) -> None:
    """Put the view together."""
    first = open_link(page.core.models, "", {})
    begun, parts = fields_of(first.view), Parts()
    gr.HTML(hint(link_to_lesson(LESSON)), elem_id="hint", js_on_load=scripts.HINT)
    with gr.Column(elem_id="probe-strip", elem_classes="in-a-row"):
        inline: dict[str, Any] = {"elem_classes": "inline", **CHANGING}
        parts["model"] = gr.Dropdown(
            short_model_choices(first.models),
            value=begun["model"],
            label="Model",
            elem_id="model",
            **inline,
        )
        titles = list(examples_of(NLI))
        parts["example"] = gr.Dropdown(
            titles, value=titles[0], label="Example", elem_id="example", **inline
        )
        tools = parts["tools"] = gr.HTML(tools_for(NLI), elem_id="tools", js_on_load=PRESSED)
    given = gr.HTML(elem_id="share")
    with gr.Column(visible=False, elem_id="probe-settings", elem_classes="card") as settings:
        file = _build_settings(page, parts, begun)
    parts["notices"] = gr.HTML(elem_id="notices")
    with gr.Column(elem_id="probe-both", elem_classes="in-a-row"):
        with gr.Column(scale=5, min_width=300, elem_classes="card"):
            _build_example(parts, begun)
        with gr.Column(scale=7, min_width=300, elem_classes="card"):
            parts["verdict"] = gr.HTML(waiting(LOADING), elem_id="answer")
            parts["checked"] = gr.HTML(elem_id="importance-check")
    _build_changes(parts, begun)
    parts["rows"] = gr.HTML(elem_id="rows", js_on_load=scripts.ROWS)
    parts["said"] = gr.HTML(elem_id="said", elem_classes="sr-only", js_on_load=scripts.LIVE)
    fields = {name: parts[name] for name in begun}
    _forget_gold(parts)  # before the answer is asked for
    answer = _answer_on_change(page, parts, fields)
    _open(page, parts, fields, file, answer)
    _fill_on_press(page, parts)
    _open_rows(page, parts["rows"], fields)
    _share(page, fields, tools, given)
    _open_on_press(tools, settings)
    page.core.behind.append(partial(_answer_first, page, parts, begun, answer["fn"]))
    build_probe(page.core.models)


def _answer_first(
    page: Page, parts: Parts, begun: Mapping[str, Any], update: Callable[..., dict[Any, Any]]
) -> None:
    """Answer what stands on the page as it opens: who opens it then finds it answered.

    What every answer needs is loaded with it, torch, transformers, Captum and the model; then its
    importance is checked.
    """
    for part, value in update("", NLI.name, **begun).items():
        if part is not parts["checked"]:
            part.value = value
    answering.check_importance(page.core.models, "", NLI.name, begun["model"])


def _build_settings(page: Page, parts: Parts, begun: Mapping[str, Any]) -> gr.File:
    """Lay out what is explained and how, long texts, the seed, an own model, a file, options.

    They are sent to a browser as they are first opened.
    """
    with gr.Row():
        parts["method"] = gr.Dropdown(
            [(FIRST_TITLE, AUTO), *((row.title, name) for name, row in METHODS.items())],
            value=begun["method"],
            label="Attribution method",
            elem_id="method",
        )
        parts["baseline"] = gr.Radio(
            list(get_args(BaselineToken)),
            value=begun["baseline"],
            label="Token that stands for nothing, of methods that replace tokens",
            elem_id="baseline",
        )
        # a seed below 0 is refused where the answer stands, and not in a corner of the page
        parts["seed"] = gr.Number(
            begun["seed"], label="Seed", precision=0, min_width=80, elem_id="seed"
        )
    parts["explain"] = gr.Radio(
        explainable(NLI),
        value=begun["explain"],
        label="Label explained, or why one and not another",
        elem_id="explain",
        elem_classes=[
            "of-tasks",
            *(f"of-{task.name}" for task in offered_tasks() if has_labels(task)),
        ],
    )
    parts["long"] = options.long_texts()
    with gr.Accordion(
        "Open a view from its file", open=False, elem_id="view-file", elem_classes="fold"
    ):
        file = gr.File(label="A file that Copy link has saved", file_types=[".json"])
    absent = not_available()
    gr.HTML(absent, visible=bool(absent))
    with gr.Accordion("Options of the changes", open=False, elem_id="options", elem_classes="fold"):
        parts |= dict(zip(OPTIONS, options.build(), strict=True))
    parts["method"].change(
        None,
        parts["method"],
        parts["baseline"],
        js=f"""method => ({{
          __type__: "update", interactive: {json.dumps(REPLACING)}.includes(method)
        }})""",
        **QUIET,
    )
    return file


def _open_on_press(tools: gr.HTML, settings: gr.Column) -> None:
    """Show the settings and hide them again.

    Of what is visible gradio loads the code as the page is opened, also where it stands in what is
    not: so each part becomes visible at the first press.
    """
    inside, todo = list[Any](), list[Any](settings.children)
    while todo:
        part = todo.pop()
        todo += getattr(part, "children", [])
        if part.visible:
            part.visible = False
            inside.append(part)
    outputs = [settings, *inside]
    tools.expand(None, None, outputs, js=scripts.toggle_settings(len(inside)), **QUIET)


def _build_example(parts: Parts, begun: Mapping[str, Any]) -> None:
    """Lay out a box for each text of the task that has the most, and the right answer."""
    parts["question"] = gr.HTML(question(NLI), elem_id="question")
    for at in range(1, max_fields() + 1):
        parts[f"text_{at}"] = gr.Textbox(
            begun[f"text_{at}"],
            label=_title(NLI, at),
            lines=2,
            max_lines=8,
            visible=at <= len(NLI.fields),
            elem_id=f"text-{at}",
        )
    parts["gold"] = gr.Radio(labels(NLI), value=begun["gold"], label="Right answer", elem_id="gold")
    parts["answer"] = gr.Textbox(
        begun["answer"],
        label="Right answer",
        info=SEVERAL,
        visible=False,
        elem_id="right-answer",
        max_lines=2,
    )


def _build_changes(parts: Parts, begun: Mapping[str, Any]) -> None:
    """Lay out the presets, and the list of what is chosen."""
    with gr.Column(elem_id="changes", elem_classes="card"):
        with gr.Column(elem_classes="presets in-a-row"):
            gr.HTML(HEAD)
            parts["preset"] = gr.Radio(
                list(presets(NLI)),
                value=preset_of(NLI, first_choice(NLI)),
                label="Presets",
                show_label=False,
                elem_id="presets",
            )
        parts["transforms"] = gr.Dropdown(
            changes(NLI),
            value=begun["transforms"],
            multiselect=True,
            label=_search(NLI),
            show_label=False,
            elem_id="transforms",
            **CHANGING,
        )


def values_of(opened: Opened) -> Shown:
    """Return what all parts show of a view: its values, and what its task lets one choose."""
    view, task = opened.view, opened.view.task
    values, names = fields_of(view), examples_of(task)
    title = next((title for title, example in names.items() if example == view.example), None)
    texts = {
        f"text_{at}": gr.Textbox(
            values[f"text_{at}"],
            label=_title(task, at),
            lines=_lines(task, at),
            visible=at <= len(task.fields),
        )
        for at in range(1, max_fields() + 1)
    }
    marked = not task.has_spans
    return {
        **values,
        **texts,
        **models_of(opened),
        "model": gr.Dropdown(choices=short_model_choices(opened.models), value=values["model"]),
        "gold": gr.Radio(choices=labels(task), value=values["gold"], visible=marked),
        "answer": gr.Textbox(values["answer"], visible=task.has_spans),
        "explain": gr.Radio(choices=explainable(task), value=values["explain"]),
        "transforms": gr.Dropdown(
            choices=changes(task), value=values["transforms"], label=_search(task)
        ),
        "example": gr.Dropdown(choices=list(names), value=title),
        "tools": tools_for(task),
        "preset": gr.Radio(choices=list(presets(task)), value=preset_of(task, view.names)),
        "question": question(task),
        "verdict": waiting(LOADING),
        "said": "",
    }


def models_of(opened: Opened) -> Shown:
    """Return what a page shows that no link fills: its visitor's models, and the notices.

    All else stands there already, and what was typed meanwhile stays.
    """
    return {
        "model": gr.Dropdown(choices=short_model_choices(opened.models)),
        "notices": notices(opened.notices),
    }


def tools_for(task: Task) -> Markup:
    """Return what stands beside the example; only the texts of a pair are swapped."""
    pair = len(task.fields) == 2 and not task.has_spans
    buttons = (
        TOOL.format(name, event, name, words)
        for name, event, words in TOOLS
        if pair or name != "swap"
    )
    return Markup('<div class="strip">{}</div>').format(join(buttons))


def changes(task: Task) -> list[tuple[str, str]]:
    """Return the transforms of a task as one chooses them: by title and code name."""
    return [(choice(name), name) for name in ready(task)]


def labels(task: Task, first: tuple[str, str] = UNKNOWN) -> list[tuple[str, str]]:
    """Return the choices of a task's labels by their places, with one for none before them."""
    return [first, *((label, str(place)) for place, label in enumerate(task.labels))]


def explainable(task: Task) -> list[tuple[str, str]]:
    """Return what can be explained: a label, or why one and not another."""
    pairs = permutations(task.labels, 2)
    apart = [(f"{one}, not {other}", explained_by(task, one, other)) for one, other in pairs]
    return [*labels(task, PREDICTED), *apart]


def _lines(task: Task, at: int) -> int:
    """Return how many lines a text's box has: a passage and a text that stands alone have more."""
    if task.has_spans and task.fields[at - 1 : at] != (task.target,):
        return 6
    return 2 if len(task.fields) > 1 else 4


def _title(task: Task, at: int) -> str:
    return task.title_of(task.fields[at - 1]) if at <= len(task.fields) else ""


def _search(task: Task) -> str:
    return f"Search {len(ready(task))} changes, or join two with +"


def shown_by(parts: Parts, answer: Callable[..., Shown]) -> Callable[..., Any]:
    """Return an answer whose values go to the parts by their names."""

    @wraps(answer)
    def named(*given: Any, **fields: Any) -> dict[Any, Any]:
        return {parts[name]: value for name, value in answer(*given, **fields).items()}

    return named


def _answer_on_change(page: Page, parts: Parts, fields: Parts) -> dict[str, Any]:
    """Answer each change of a field once; return what answers, for other events."""
    answer: dict[str, Any] = {
        "fn": shown_by(parts, partial(answering.update, page.core.models, SharedAnswers())),
        "inputs": [page.owner, page.task],
        "inputs_kwargs": fields,
        "outputs": [parts[name] for name in ("verdict", "rows", "said", "checked")],
        "concurrency_id": "probe",
        **QUIET,
    }
    typed = [part for part in fields.values() if isinstance(part, gr.Textbox)]
    chosen = [
        part.release if isinstance(part, gr.Slider) else part.input
        for part in fields.values()
        if part not in typed
    ]
    chosen += [fields[name].change for name in ("gold", "transforms")]
    # a text's own change, whoever makes it: a key, a paste, an example, a permalink
    for pause, events in ((300, [text.change for text in typed]), (30, chosen)):
        asked = page.mark_of(*events).change(**answer, js=scripts.after_pause(pause))
        _then_check(page, parts, asked)
    return answer


def _then_check(page: Page, parts: Parts, answered: gr.events.Dependency) -> None:
    """Say what the importance does not hold where a network has not been checked before."""
    fresh = answered.then(None, js=scripts.FRESH, **QUIET)
    fresh.then(
        partial(answering.check_importance, page.core.models),
        [page.owner, page.task, parts["model"]],
        parts["checked"],
        js=scripts.UNCHECKED,
        concurrency_id="importance-check",  # nobody's answer waits for it
        **QUIET,
    )


def _open(page: Page, parts: Parts, fields: Parts, file: gr.File, answer: dict[str, Any]) -> None:
    """Show what a link or a file asks for, and answer it."""
    models, update = page.core.models, answer["fn"]

    def open_page(visitor: str, task: str, request: gr.Request) -> Iterator[dict[Any, Any]]:
        query = request.query_params
        opened = open_link(models, visitor, {"task": task, **query})
        opened = replace(opened, notices=(*absent_tab(query), *opened.notices))
        linked = names_a_view(query)
        shown = values_of(opened) if linked else models_of(opened)
        yield {parts[name]: value for name, value in shown.items()}
        if linked:
            yield update(visitor, opened.view.task.name, **fields_of(opened.view))

    def open_file(visitor: str, path: str | None) -> dict[Any, Any]:
        """Open the view that a file holds, or say what is wrong with it."""
        try:
            opened = open_link(models, visitor, read_file(Path(path)) if path else {})
        except UserError as trouble:
            return {parts["notices"]: alert(trouble)}
        shown = {parts[name]: value for name, value in values_of(opened).items()}
        return {page.task: opened.view.task.name, **shown}

    all_parts = list(parts.values())
    asked = [page.owner, page.task]
    opened = page.on_open(open_page, asked, all_parts, js=scripts.OPEN, **FILLING)
    opened.then(None, js=scripts.OPENED, **QUIET)
    # also where something was changed meanwhile, which may have been answered before the link
    changed = opened.then(**answer, js=scripts.UNANSWERED)
    read = file.upload(open_file, [page.owner, file], [page.task, *all_parts], **LAST, **FILLING)
    for answered in (opened, changed, read.then(**answer)):
        _then_check(page, parts, answered)
    read.then(None, page.task, None, js="task => window.showTask(task)", **QUIET)


def _fill_on_press(page: Page, parts: Parts) -> None:
    """Bring another example, or other changes, when a tool is pressed."""
    first = next(iter(examples_of(NLI).values()))
    example = [parts[name] for name in example_fields(NLI, first)]
    chosen = [page.task, parts["example"]]
    taken, drawn = (shown_by(parts, each) for each in (answering.take_example, answering.draw))
    parts["example"].input(taken, chosen, example, **LAST, **FILLING)
    parts["tools"].click(drawn, page.task, [*example, parts["example"]], **FILLING)
    texts = [parts["text_1"], parts["text_2"]]
    parts["tools"].input(
        None, texts, [*texts, parts["gold"], parts["answer"]], js=scripts.SWAP, **QUIET
    )

    def take_preset(task: str, title: str) -> list[str]:
        return list(presets(task_named(task)).get(title, ()))

    def name_preset(task: str, names: list[str]) -> str | None:
        return preset_of(task_named(task), names)

    preset = [page.task, parts["preset"]]
    parts["preset"].input(take_preset, preset, parts["transforms"], **LAST, **QUIET)
    # a change that is typed is told as change alone
    named = [page.task, parts["transforms"]]
    told = page.mark_of(parts["transforms"].change)
    told.change(name_preset, named, parts["preset"], **QUIET)


def _forget_gold(parts: Parts) -> None:
    """Let go of the right answer that came with an example once a person types another text.

    One that they have said themselves stays.
    """
    gold, answer, example = (parts[name] for name in ("gold", "answer", "example"))
    said = [gold.input, answer.input]
    brought = [example.input, parts["tools"].click, parts["tools"].input]
    for events, by_a_person in ((said, "true"), (brought, "false")):
        gr.on(events, None, js=f"() => {{ window.saidGold = {by_a_person}; }}", **QUIET)
    gr.on(  # what is pasted gradio tells as a change alone
        [part.change for name, part in parts.items() if name.startswith("text_")],
        None,
        None,
        [gold, answer, example],
        js=scripts.FORGET_GOLD,
        **QUIET,
    )


def _open_rows(page: Page, rows: gr.HTML, fields: Parts) -> None:
    """Fetch what a row holds when it is pressed, and put it into the row."""
    models, answers = page.core.models, SharedAnswers()
    full = gr.HTML(elem_classes="unseen", padding=False)

    def open_row(visitor: str, task: str, event: gr.EventData, **values: Any) -> Markup:
        pressed = str(event._data.get("transform", "")), str(event._data.get("number", ""))
        return answering.open_row(models, answers, visitor, task, pressed, **values)

    given: dict[str, Any] = {"inputs_kwargs": fields, "concurrency_id": "probe", **EACH, **QUIET}
    pressed = rows.click(open_row, [page.owner, page.task], full, **given)
    pressed.then(None, full, js=scripts.PUT_FULL, **QUIET)


def _share(page: Page, fields: Parts, tools: gr.HTML, given: gr.HTML) -> None:
    """Give the link to what is shown, until anything else is."""
    gr.on([part.change for part in fields.values()], None, None, given, js=EMPTY, **QUIET)
    share_view = partial(answering.share_view, page.core.models)
    asked: dict[str, Any] = {"inputs_kwargs": fields, **QUIET}
    shared = tools.submit(share_view, [page.owner, page.task], given, **asked)
    shared.then(None, js=copy_script("share"), **QUIET)
