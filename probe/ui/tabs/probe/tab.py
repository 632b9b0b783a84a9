"""The Probe tab: one example, live. One set of components serves every task, relabelled by it."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
from probe.tasks.nli import NLI
from probe.ui.answers.answering import SharedAnswers
from probe.ui.api import models as probe_api
from probe.ui.events import EACH, EMPTY, LAST, QUIET, in_turn
from probe.ui.html.elements import alert
from probe.ui.html.examination import hint, question, waiting
from probe.ui.links import link_to_lesson
from probe.ui.page import Page
from probe.ui.tabs.probe import answer as answering
from probe.ui.tabs.probe import browser
from probe.ui.tabs.probe import fields as form_fields
from probe.ui.tabs.probe.fields import Fields, Tools, models_of, values_of
from probe.ui.tabs.probe.view import absent_tab, names_a_view, open_link, read_file

FILLING = in_turn("probe-fields")
"""What fills the fields: an example comes after what the opened page shows, not before."""

LOADING = "The model is being loaded; its first answer comes in a moment."
LESSON = "word_salad"


def build(page: Page) -> None:
    """Put the tab together."""
    gr.HTML(hint(link_to_lesson(LESSON)), elem_id="hint", js_on_load=browser.HINT)
    with gr.Row(elem_id="probe-strip"):
        model = form_fields.model_choice(page.core.models.names(""))
        example = form_fields.example_choice()
        random = gr.Button("Random", size="sm", min_width=0, elem_id="random")
        swap = gr.Button("Swap", size="sm", min_width=0, elem_id="swap")
        link = gr.Button("Copy link", size="sm", min_width=0, elem_id="link")
        settings = gr.Button("Settings", size="sm", min_width=0, elem_id="settings-button")
    given = gr.HTML(elem_id="share")
    shown = gr.Textbox(NLI.name, visible=False, label="task of the fields")
    with gr.Column(elem_id="probe-settings", elem_classes="card"):
        explain, method, baseline, long, seed = form_fields.explanation()
        with gr.Accordion(
            "Open a view from its file", open=False, elem_id="view-file", elem_classes="fold"
        ):
            file = gr.File(label="A file that Copy link has saved", file_types=[".json"])
        controls = form_fields.option_controls()
    notices = gr.HTML(elem_id="notices")
    with gr.Row(elem_id="probe-both"):
        with gr.Column(scale=5, min_width=300, elem_classes="card"):
            asked = gr.HTML(question(NLI), elem_id="question")
            texts = form_fields.text_boxes()
            gold = form_fields.gold_choice()
            right = form_fields.answer_box()
        with gr.Column(scale=7, min_width=300, elem_classes="card"):
            verdict = gr.HTML(waiting(LOADING), elem_id="answer")
            checked = gr.HTML(elem_id="importance-check")
    preset, names = form_fields.transform_choice()
    results = gr.HTML(elem_id="rows", js_on_load=browser.ROWS)
    said = gr.HTML(elem_id="said", elem_classes="sr-only", js_on_load=browser.LIVE)
    fields = Fields(
        shown, model, gold, right, seed, explain, method, baseline, long, names, texts, controls
    )
    tools = Tools(example, swap, preset, asked, notices)
    _forget_gold(fields, tools, random)  # before the answer is asked for
    check: dict[str, Any] = {
        "fn": partial(answering.check_importance, page.core.models),
        "inputs": [page.owner, shown, model],
        "outputs": checked,
        "concurrency_id": "importance-check",  # nobody's answer waits for it
        **QUIET,
    }
    answer = _answer_on_change(page, fields, [verdict, results, said], check)
    _open(page, fields, tools, file, answer, check)
    _fill_on_press(page, fields, tools, random)
    _open_rows(page, fields, results)
    _share(page, fields, link, given)
    settings.click(None, js=browser.TOGGLE_SETTINGS, **QUIET)
    probe_api.build_probe(page.core.models)


def _answer_on_change(
    page: Page, fields: Fields, outputs: list[gr.HTML], check: dict[str, Any]
) -> dict[str, Any]:
    """Answer each change of a field once, then check; return what answers, for other events."""
    answer: dict[str, Any] = {
        "fn": partial(answering.update, page.core.models, SharedAnswers()),
        "inputs": [page.owner, *fields.inputs],
        "outputs": outputs,
        "concurrency_id": "probe",
        **QUIET,
    }

    def answer_on(triggers: list[Any], pause: int) -> None:
        answered = page.mark_of(*triggers).change(**answer, js=browser.after_pause(pause))
        answered.then(None, js=browser.FRESH, **QUIET).then(**check)

    # a text's own change, whoever makes it: a key, a paste, an example, a permalink
    answer_on([text.change for text in fields.typed], 300)
    changes = [
        field.release if isinstance(field, gr.Slider) else field.input for field in fields.settings
    ]
    answer_on([*changes, fields.gold.change, fields.names.change], 30)
    return answer


def _open(
    page: Page,
    fields: Fields,
    tools: Tools,
    file: gr.File,
    answer: dict[str, Any],
    check: dict[str, Any],
) -> None:
    """Show what a link or a file asks for, and answer it."""
    models = page.core.models
    parts = [tools.example, tools.swap, tools.preset, tools.question, tools.notices]
    filled = [*fields.inputs, *parts]
    outputs = [page.task, *filled]

    def open_page(visitor: str, task: str, request: gr.Request) -> list[Any]:
        query = request.query_params
        opened = open_link(models, visitor, {"task": task, **query})
        opened = replace(opened, notices=(*absent_tab(query), *opened.notices))
        return values_of(opened) if names_a_view(query) else models_of(opened)

    def open_file(visitor: str, path: str | None) -> list[Any]:
        """Open the view that a file holds, or say what is wrong with it."""
        try:
            held = read_file(Path(path)) if path else {}
        except UserError as trouble:
            return [gr.skip()] * (len(outputs) - 1) + [alert(trouble)]
        opened = open_link(models, visitor, held)
        return [opened.view.task.name, *values_of(opened)]

    opened = page.on_open(open_page, [page.owner, page.task], filled, **FILLING)
    opened.then(None, js=browser.OPENED, **QUIET)
    read = file.upload(open_file, [page.owner, file], outputs, **LAST, **FILLING)
    for event in (opened, read):
        event.then(**answer).then(None, js=browser.FRESH, **QUIET).then(**check)
    read.then(None, page.task, None, js=browser.SHOW_TASK, **QUIET)


def _fill_on_press(page: Page, fields: Fields, tools: Tools, random: gr.Button) -> None:
    """Bring another example, or other changes, when a tool is pressed."""
    example = [*fields.texts, fields.gold, fields.answer]
    draws = gr.Number(0, label="random examples so far", precision=0, visible=False)
    chosen, drawn = [fields.shown, tools.example], [draws, *example, tools.example]
    tools.example.input(answering.take_example, chosen, example, **LAST, **FILLING)
    tools.swap.click(None, fields.texts, example, js=browser.SWAP, **QUIET)
    random.click(answering.draw, [fields.shown, draws], drawn, **FILLING)
    preset = [fields.shown, tools.preset]
    tools.preset.input(answering.take_preset, preset, fields.names, **LAST, **QUIET)
    # a change that is typed is told as change alone
    named = [fields.shown, fields.names]
    page.mark_of(fields.names.change).change(answering.name_preset, named, tools.preset, **QUIET)


def _forget_gold(fields: Fields, tools: Tools, random: gr.Button) -> None:
    """Let go of the right answer that came with an example once a person types another text.

    One that they have said themselves stays.
    """
    said = gr.Checkbox(False, visible=False, label="a person said the right answer")
    of_theirs = [fields.gold.input, fields.answer.input]
    of_example = [tools.example.input, tools.swap.click, random.click, fields.shown.change]
    gr.on(of_theirs, None, None, said, js="() => true", **QUIET)
    gr.on(of_example, None, None, said, js="() => false", **QUIET)
    gr.on(
        [text.change for text in fields.texts],  # what is pasted gradio tells as a change alone
        None,
        said,
        [fields.gold, fields.answer, tools.example],
        js=browser.FORGET_GOLD,
        **QUIET,
    )


def _open_rows(page: Page, fields: Fields, results: gr.HTML) -> None:
    """Fetch what a row holds when it is pressed, and put it into the row."""
    models, answers = page.core.models, SharedAnswers()
    full = gr.Textbox(visible=False, label="opened result")

    def open_row(visitor: str, pressed: gr.EventData, *values: Any) -> Markup:
        held = pressed._data
        name, number = str(held.get("transform", "")), str(held.get("number", ""))
        return answering.open_row(models, answers, visitor, name, number, *values)

    inputs = [page.owner, *fields.inputs]
    pressed = results.click(open_row, inputs, full, concurrency_id="probe", **EACH, **QUIET)
    pressed.then(None, full, js=browser.PUT_FULL, **QUIET)


def _share(page: Page, fields: Fields, link: gr.Button, given: gr.HTML) -> None:
    """Give the link to what is shown, until anything else is."""
    share_view = partial(answering.share_view, page.core.models)
    changes = [field.change for field in [*fields.typed, *fields.settings, fields.names]]
    gr.on(changes, None, None, given, js=EMPTY, **QUIET)
    shared = link.click(share_view, [page.owner, *fields.inputs], given, **QUIET)
    shared.then(None, js=browser.COPY_LINK, **QUIET)
