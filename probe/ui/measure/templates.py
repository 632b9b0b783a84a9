"""Pairs from templates, as a file to measure on."""

from functools import partial
from pathlib import Path
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
COMPLEXITIES = (ALL, "simple", "medium", "complex")
GROUPS = {
    "both groups": "",
    "A (Lex1)": "A",
    "B (Lex2)": "B",
    "B, another verb (Lex2b)": "B2",
}
HEURISTICS = (ALL, "lexical_overlap", "subsequence", "constituent")


def make(
    store: Store,
    visitor: str,
    kind: str,
    complexity: str,
    group: str,
    low: float | None,
    high: float | None,
    strict: bool,
    heuristic: str,
    n: float | None,
    seed: float | None,
) -> tuple[str | None, Markup]:
    """Write `n` pairs to a CSV file; return its place and one sentence."""
    try:
        count = int(n or 0)
        if not 1 <= count <= MAX_PAIRS:
            raise TemplateError(
                f"the page makes 1 to {MAX_PAIRS} pairs; the command line makes more"
            )
        asked: dict[str, Any] = {  # Any: the fields' own types
            "complexity": "" if complexity == ALL else complexity,
            "lexical": group,
            "low": int(low or 0),
            "high": int(high or 0),
            "integer_strict": strict,
            "heuristic": "" if heuristic == ALL else heuristic,
        }
        meant = {name: value for name, value in asked.items() if name in grammar(kind).reads}
        request = Request(kind, **meant)
        check_room(store, visitor)
        path = _write(fresh_folder(visitor), request, count, int(seed or 0))
    except UserError as trouble:
        return None, alert(trouble)
    return str(path), note(f"{count} {kind} pairs made and loaded below.")


def _write(folder: Path, request: Request, count: int, seed: int) -> Path:
    path = folder / f"{request.kind}-{count}-seed-{seed}.csv"
    write_pairs(generate(request, count, seed), grammar(request.kind).task, path)
    return path


def build(page: Page, upload: gr.File) -> None:
    """Lay out the controls; what they make goes to `upload`.

    They are those that the templates of the chosen task heed; a task without templates has none.
    """
    first = kinds(NLI)[0]
    with gr.Accordion("Pairs from templates", elem_id="templates", elem_classes="fold") as panel:
        about = gr.HTML(note(grammar(first).summary))
        with gr.Row():
            kind = gr.Dropdown(_kinds(NLI), value=first, label="Templates", **CHANGING)
            complexity = gr.Dropdown(list(COMPLEXITIES), value=ALL, label="Complexity")
            group = gr.Dropdown(list(GROUPS.items()), value="", label="Words", min_width=120)
            heuristic = gr.Dropdown(list(HEURISTICS), value=ALL, label="Heuristic")
        with gr.Row():
            low = gr.Number(2, label="Lowest number", precision=0, minimum=1, min_width=90)
            high = gr.Number(999, label="Highest number", precision=0, minimum=1, min_width=90)
            strict = gr.Checkbox(label="Whole numbers (integer_strict)", min_width=140)
        with gr.Row(elem_classes="beside-button"):
            n = gr.Number(300, label="Pairs", precision=0, minimum=1, min_width=90)
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            go = gr.Button("Make the pairs", size="sm", elem_id="make-pairs")
        message = gr.HTML()
    asked: list[Any] = [page.owner, kind, complexity, group, low, high, strict, heuristic, n, seed]
    go.click(partial(make, page.core.store), asked, [upload, message], **QUIET)
    heeded = [complexity, group, low, high, strict, heuristic]
    for control, visible in zip(heeded, _reads(first), strict=True):
        control.visible = visible
    kind.change(_heeded, kind, [about, *heeded], **QUIET)
    page.on_open(offer, page.task, [panel, kind, message])


READS = ("complexity", "lexical", "low", "high", "integer_strict", "heuristic")
"""The fields of a request that have a control, in the order of the controls."""


def _kinds(task: Task) -> list[tuple[str, str | int | float]]:
    return [(f"{grammar(kind).title} · {kind}", kind) for kind in kinds(task)]


def _heeded(kind: str) -> list[Any]:
    """Say what templates make, and show the controls that they heed."""
    if kind not in kinds():
        return [NOTHING, *([gr.update(visible=False)] * len(READS))]
    return [note(grammar(kind).summary), *(gr.update(visible=shown) for shown in _reads(kind))]


def _reads(kind: str) -> list[bool]:
    """Return for each of `READS` whether the templates of a kind heed it."""
    return [name in grammar(kind).reads for name in READS]


def offer(name: str) -> list[Any]:
    """Offer the templates of a task, or hide the panel where it has none."""
    task = task_named(name)
    names = kinds(task)
    offered = gr.Dropdown(choices=_kinds(task), value=names[0]) if names else gr.skip()
    return [gr.Accordion(visible=bool(names)), offered, NOTHING]
