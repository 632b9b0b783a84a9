"""Ask people: they judge the texts that models are asked about."""

from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.surveys.annotation_set import modes_for
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.transforms.registry import choice, presets, ready
from probe.ui.annotation.answering import Answering, build_answering
from probe.ui.annotation.own_sets import MAX_EACH, OwnOutputs, OwnSets
from probe.ui.annotation.shown import no_set
from probe.ui.events import (
    CHANGING,
    CHOSEN,
    EACH,
    LAST,
    PRESSED,
    QUIET,
    cell_of,
    in_turn,
    scroll_to,
)
from probe.ui.html.elements import hint
from probe.ui.html.shared_link import copy_script
from probe.ui.links import code_in
from probe.ui.page import Page

ABOUT = (
    "Let a class judge the texts that models are asked about: are they still language, and what "
    "would people answer? The papers asked workers; here you hand out a link."
)
TO_TOP, TO_SET = scroll_to("annotate-answer"), scroll_to("annotate-one", after=100)
SMALL: dict[str, Any] = {"size": "sm", "min_width": 0}
DRAWING: dict[str, Any] = {"concurrency_id": "annotate", "concurrency_limit": 2, **QUIET}


def build(page: Page) -> None:
    """Put the view together, for who makes sets."""
    own = OwnSets(page.core.store, page.core.models)
    mine = _build_own(page, own)

    def opened(visitor: str, request: gr.Request) -> list[Any]:
        """List the sets, and show the one that the address names."""
        named = request.query_params.get("set", "")
        return own.open(visitor, named) if named else own.show(visitor)

    page.on_open(opened, page.owner, mine.outputs)
    page.on_return(own.show, [page.owner, mine.chosen], mine.outputs)
    mine.chosen.change(None, mine.chosen, None, js="set => window.writeAddress({ set })", **QUIET)


def build_guest(page: Page) -> None:
    """Put the page of who holds a link together."""
    answer = Answering(page.core.store)
    link = gr.Textbox("", label="set", visible=False)
    shown, nickname, radios, begin, send = build_answering()

    def open_link(visitor: str, request: gr.Request) -> list[Any]:
        """Show the set of the link."""
        code = code_in(request.query_params)
        return [code, *answer.open(visitor, code).outputs]

    to_answer = shown.outputs
    page.on_open(open_link, page.owner, [link, *to_answer], **in_turn("annotate"))
    begin.click(answer.begin, [page.owner, link, nickname], to_answer, **QUIET)
    sent = send.click(answer.send, [page.owner, link, shown.number, *radios], to_answer, **QUIET)
    sent.success(None, None, None, js=TO_TOP, **QUIET)


def _build_own(page: Page, own: OwnSets) -> OwnOutputs:
    """Lay out what makes a set, the sets of one's own, and one of them."""
    shown = OwnOutputs()
    gr.HTML(hint(ABOUT), padding=False)
    with gr.Row(elem_id="annotate-columns"):
        with gr.Column(scale=1, min_width=300):
            inputs, make = _build_form(page)
            shown.told = gr.HTML(padding=False, elem_id="annotate-trouble")
            with gr.Column(elem_classes="card"):
                gr.HTML(Markup('<h2 class="title small">Your sets</h2>'), padding=False)
                shown.listed = gr.HTML(padding=False, js_on_load=PRESSED, elem_id="annotate-sets")
        with gr.Column(scale=1, min_width=300):
            shown.empty = gr.HTML(no_set(), padding=False, elem_id="annotate-empty")
            buttons = _build_one(shown)
    outputs = shown.outputs

    def press(event: gr.EventData, visitor: str) -> list[Any]:
        return own.open(visitor, cell_of(event))

    def control(event: gr.EventData, visitor: str, chosen: str, model: str) -> list[Any]:
        return own.change_control(visitor, chosen, model, cell_of(event))

    here = [page.owner, shown.chosen, shown.beside]
    made = make.click(own.make, inputs, outputs, **DRAWING)
    made.then(None, js=TO_SET, **QUIET)
    turn = in_turn("annotate-set")
    opened = shown.listed.click(press, page.owner, outputs, **EACH, **turn)
    opened.then(None, js=TO_SET, **QUIET)
    shown.controls.select(control, here, outputs, **EACH, **turn)
    shown.beside.input(own.refresh, here, outputs, **LAST, **DRAWING)
    shown.show.input(own.set_shown, [*here, shown.show], outputs, **LAST, **turn)
    buttons["refresh"].click(own.refresh, here, outputs, **DRAWING)
    buttons["end"].click(own.end, here, outputs, **QUIET)
    buttons["export"].click(own.export, here, outputs, **DRAWING)
    buttons["copy"].click(None, js=copy_script("annotate-link"), **QUIET)
    return shown


def _build_form(page: Page) -> tuple[list[Any], gr.Button]:
    """Lay out what a set is made of; return its fields and the button that makes it."""
    with gr.Column(elem_classes="card", elem_id="annotate-form"):
        gr.HTML(Markup('<h2 class="title small">A new set</h2>'), padding=False)
        mode = gr.Radio(
            _modes(NLI), value=_modes(NLI)[0][1], label="What people are asked",
            elem_id="annotate-mode", elem_classes="seg",
        )  # fmt: skip
        transforms = gr.Dropdown(
            _changes(NLI), value=_first(NLI), multiselect=True, label="Changes to the texts",
            elem_id="annotate-transforms", **CHANGING,
        )  # fmt: skip
        each = gr.Number(
            4, label=f"Texts of each change, 1 to {MAX_EACH}", precision=0, minimum=1,
            maximum=MAX_EACH, elem_id="annotate-each",
        )  # fmt: skip
        make = gr.Button(
            "Make the set", variant="primary", elem_id="annotate-make", min_width=0,
            interactive=False,
        )  # fmt: skip
        page.shared.allow(make)

    def offer(task_name: str) -> list[Any]:
        """Offer what the task has."""
        task = task_named(task_name)
        return [
            gr.Radio(choices=_modes(task), value=_modes(task)[0][1]),
            gr.Dropdown(choices=_changes(task), value=_first(task)),
        ]

    page.on_open(offer, page.task, [mode, transforms])
    return [*page.shared.inputs, mode, transforms, each], make


def _build_one(shown: OwnOutputs) -> dict[str, gr.Button]:
    """Lay out one set: link, how far it is, controls, results, files; return its buttons."""
    with gr.Column(visible=False, elem_id="annotate-one") as shown.one:
        with gr.Column(elem_classes="card"):
            shown.head = gr.HTML(padding=False, elem_id="annotate-set")
            shown.link = gr.HTML(padding=False, elem_id="annotate-link")
            with gr.Row(elem_classes="tools"):
                copy = gr.Button("Copy link", variant="primary", min_width=0, size="sm")
                refresh = gr.Button(
                    "Count anew", min_width=0, size="sm", elem_id="annotate-refresh"
                )
                export = gr.Button("Files", min_width=0, size="sm", elem_id="annotate-export")
                end = gr.Button("End", min_width=0, size="sm", elem_id="annotate-end")
            shown.show = gr.Checkbox(
                False, label="Respondents see the results", elem_id="annotate-show"
            )
            shown.files = gr.Files(visible=False, label="Files", interactive=False)
            shown.controls = gr.HTML(padding=False, js_on_load=CHOSEN, elem_id="annotate-controls")
        with gr.Column(elem_classes="card"):
            shown.beside = gr.Dropdown(
                [("none", "")], value="", label="Beside a model, on the same texts",
                elem_id="annotate-beside", **CHANGING,
            )  # fmt: skip
        shown.results = gr.HTML(padding=False, elem_id="annotate-results")
    shown.chosen = gr.Textbox("", label="chosen set", visible=False)
    return {"copy": copy, "refresh": refresh, "export": export, "end": end}


def _modes(task: Task) -> list[tuple[str, str]]:
    return [(mode.title, mode.name) for mode in modes_for(task)]


def _changes(task: Task) -> list[tuple[str, str | int | float]]:
    return [(choice(name), name) for name in ready(task)]


def _first(task: Task) -> list[str]:
    """Return the changes that are chosen at first: word salad, or distractors."""
    named = presets(task)
    return list(named.get("Distractors") or named["Word salad"])
