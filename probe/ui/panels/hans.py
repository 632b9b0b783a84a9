"""The HANS profile: which heuristics the chosen models follow, on pairs from templates."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import gradio as gr

from probe.analysis.hans import Profiled, profile
from probe.errors import UserError
from probe.runs.model_access import ModelAccess
from probe.ui.answers.answering import in_steps
from probe.ui.api import hans as hans_api
from probe.ui.api.hans import require_profile
from probe.ui.events import QUIET
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.html.hans import progress, sentences, tables
from probe.ui.page import Page
from probe.ui.panels.hans_chart import chart

ABOUT = (
    "Does a model say entailment wherever the words of the hypothesis stand in the premise? Three "
    "heuristics with ten sub-cases each (McCoy et al. 2019), on pairs from our own templates. "
    "Entailed and not entailed are never pooled."
)


def run(
    models: ModelAccess, visitor: str, names: Sequence[str], n: float | None, seed: float | None
) -> Iterator[list[Any]]:
    """Profile the models; yield progress, sentences, chart, table by heuristic, by sub-case."""
    profiles: dict[str, list[Profiled]] = {}
    unchanged = [gr.skip()] * 4
    try:
        count = require_profile(models, visitor, names, int(n or 0))
        for name in names:
            profiles[name] = []
            rows = profile(models.get(visitor, name), count, int(seed or 0))
            for row in in_steps("file_minutes", rows):
                profiles[name].append(row)
                yield [progress(profiles, len(names)), *unchanged]
    except UserError as trouble:
        yield [alert(trouble), *unchanged]
        return
    plot = gr.Plot(chart(profiles), visible=True)
    yield [NOTHING, sentences(profiles), plot, *tables(profiles)]


def build(page: Page, names: gr.Dropdown) -> None:
    """Lay out the panel; `names` is the list of the models that it profiles."""
    with gr.Accordion("HANS profile", open=False, elem_id="hans"):
        gr.HTML(note(ABOUT))
        with gr.Row(elem_classes="tools"):
            n = gr.Number(
                40, label="Pairs for each sub-case", precision=0, minimum=1, min_width=120
            )
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            go = gr.Button("Run the HANS profile", elem_id="hans-run", min_width=160)
        shown = [
            gr.HTML(elem_id="hans-progress"),
            gr.HTML(elem_id="hans-verdicts"),
            gr.Plot(visible=False, show_label=False, elem_id="hans-plot"),
            gr.HTML(elem_id="hans-table"),
            gr.HTML(elem_id="hans-cases"),
        ]
    asked = [page.owner, names, n, seed]
    profiled = partial(run, page.core.models)
    go.click(profiled, asked, shown, concurrency_id="compare", **QUIET)
    hans_api.build(page.core.models)
