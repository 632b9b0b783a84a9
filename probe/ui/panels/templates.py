"""Pairs from templates, as a file for the Batch tab."""

from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import TemplateError, UserError
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.templates import Request, generate, kinds
from probe.templates.files import write_pairs
from probe.templates.grammar import grammar
from probe.ui.events import QUIET
from probe.ui.html.elements import alert, note
from probe.ui.page import Page
from probe.ui.visitors.visitor_files import check_room, fresh_folder

ABOUT = (
    "Dative alternation and numerical reasoning after Rozen et al. 2019, and pairs like those of "
    "HANS (McCoy et al. 2019): three heuristics, ten sub-cases each. Their gold labels are certain "
    "by construction."
)
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
    """Lay out the controls; what they make goes to `upload`."""
    with gr.Accordion("Or make pairs from templates", open=False, elem_id="templates"):
        gr.HTML(note(ABOUT))
        with gr.Row():
            kind = gr.Dropdown(list(kinds(NLI)), value="hans", label="Templates", min_width=120)
            complexity = gr.Dropdown(list(COMPLEXITIES), value=ALL, label="Complexity")
            group = gr.Dropdown(list(GROUPS.items()), value="", label="Words", min_width=120)
            heuristic = gr.Dropdown(list(HEURISTICS), value=ALL, label="Heuristic (hans)")
        with gr.Row():
            low = gr.Number(2, label="Lowest number", precision=0, minimum=1, min_width=90)
            high = gr.Number(999, label="Highest number", precision=0, minimum=1, min_width=90)
            n = gr.Number(300, label="Pairs", precision=0, minimum=1, min_width=90)
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            strict = gr.Checkbox(label="Whole numbers (integer_strict)", min_width=140)
        go = gr.Button("Make the pairs", size="sm", elem_id="make-pairs")
        message = gr.HTML()
    asked: list[Any] = [page.owner, kind, complexity, group, low, high, strict, heuristic, n, seed]
    go.click(partial(make, page.core.store), asked, [upload, message], **QUIET)
