"""Pairs from templates, as a file to measure on."""

from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import TemplateError, UserError
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.templates import Request, generate, kinds
from probe.templates.files import write_pairs
from probe.templates.grammar import grammar
from probe.ui.events import CHANGING, QUIET
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.page import Page
from probe.ui.visitors.visitor_files import check_room, fresh_folder

ALL = "all"
MAX_PAIRS = 20_000
"""Pairs that the page makes; the command line makes any number."""
GROUPS = {
    "both groups": ALL,
    "A (Lex1)": "A",
    "B (Lex2)": "B",
    "B, another verb (Lex2b)": "B2",
}
CHOICES: dict[str, tuple[str, list[Any]]] = {  # Any: values, or titles with them
    "complexity": ("Complexity", [ALL, "simple", "medium", "complex"]),
    "lexical": ("Words", list(GROUPS.items())),
    "heuristic": ("Heuristic", [ALL, "lexical_overlap", "subsequence", "constituent"]),
}
NUMBERS = {"low": ("Lowest number", 2), "high": ("Highest number", 999)}
HEEDED = (*CHOICES, *NUMBERS, "integer_strict")
"""The fields of a request that have a control, in the order of the controls."""


def make(
    store: Store, visitor: str, kind: str, n: float | None, seed: float | None, *heeded: Any
) -> tuple[str | None, Markup]:
    """Write `n` pairs to a CSV file; return its place and one sentence.

    `heeded` are the values of the controls, of which those count that the templates read.
    """
    try:
        count = int(n or 0)
        if not 1 <= count <= MAX_PAIRS:
            raise TemplateError(
                f"the page makes 1 to {MAX_PAIRS} pairs; the command line makes more"
            )
        asked = dict(zip(HEEDED, heeded, strict=True))
        asked |= {name: "" for name in CHOICES if asked[name] == ALL}
        asked |= {name: int(asked[name] or 0) for name in NUMBERS}
        reads = grammar(kind).reads
        request = Request(kind, **{name: each for name, each in asked.items() if name in reads})
        check_room(store, visitor)
        path = fresh_folder(visitor) / f"{kind}-{count}-seed-{int(seed or 0)}.csv"
        write_pairs(generate(request, count, int(seed or 0)), grammar(kind).task, path)
    except UserError as trouble:
        return None, alert(trouble)
    return str(path), note(f"{count} {kind} pairs made: they are the file to measure on.")


def build(page: Page, upload: gr.File) -> None:
    """Lay out the controls; what they make goes to `upload`.

    They are those that the templates of the chosen task heed; a task without templates has none.
    """
    first, heeded = kinds(NLI)[0], list[Any]()
    with gr.Accordion("Pairs from templates", elem_id="templates", elem_classes="fold") as panel:
        about = gr.HTML(note(grammar(first).summary))
        with gr.Row():
            kind = gr.Dropdown(_kinds(NLI), value=first, label="Templates", **CHANGING)
            for title, choices in CHOICES.values():
                heeded.append(gr.Dropdown(choices, value=ALL, label=title, min_width=120))
        with gr.Row():
            for title, usual in NUMBERS.values():
                number = gr.Number(usual, label=title, precision=0, minimum=1, min_width=90)
                heeded.append(number)
            heeded.append(gr.Checkbox(label="Whole numbers (integer_strict)", min_width=140))
        with gr.Row(elem_classes="beside-button"):
            n = gr.Number(300, label="Pairs", precision=0, minimum=1, min_width=90)
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            go = gr.Button("Make the pairs", size="sm", elem_id="make-pairs")
        message = gr.HTML()

    def made(*values: Any) -> tuple[str | None, Markup]:
        return make(page.core.store, *values)

    def opened(name: str, request: gr.Request) -> list[Any]:
        return offer(name, request.query_params.get("templates", ""))

    go.click(made, [page.owner, kind, n, seed, *heeded], [upload, message], **QUIET)
    for control, name in zip(heeded, HEEDED, strict=True):
        control.visible = name in grammar(first).reads
    kind.change(_heeded, kind, [about, *heeded], **QUIET)
    page.on_open(opened, page.task, [panel, kind, message])


def _kinds(task: Task) -> list[tuple[str, str | int | float]]:
    return [(f"{grammar(kind).title} · {kind}", kind) for kind in kinds(task)]


def _heeded(kind: str) -> list[Any]:
    """Say what templates make, and show the controls that they heed."""
    known = kind in kinds()
    said, reads = (note(grammar(kind).summary), grammar(kind).reads) if known else (NOTHING, ())
    return [said, *(gr.update(visible=name in reads) for name in HEEDED)]


def offer(name: str, asked: str = "") -> list[Any]:
    """Offer the templates of a task, at first those that a link asks for.

    Hide the panel where a task has none.
    """
    task = task_named(name)
    names = kinds(task)
    first = asked if asked in names else names[0] if names else ""
    offered = gr.Dropdown(choices=_kinds(task), value=first) if names else gr.skip()
    return [gr.Accordion(visible=bool(names)), offered, NOTHING]
