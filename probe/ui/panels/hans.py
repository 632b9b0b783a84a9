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
from probe.ui.html.elements import NOTHING, alert, title
from probe.ui.html.hans import about, drawn, progress, sentences, sub_cases
from probe.ui.page import Page


def run(
    models: ModelAccess, visitor: str, names: Sequence[str], n: float | None, seed: float | None
) -> Iterator[list[Any]]:
    """Profile the models; yield progress, picture, sentences, table by sub-case."""
    profiles: dict[str, list[Profiled]] = {}
    unchanged = [gr.skip()] * 3
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
    yield [NOTHING, drawn(profiles), sentences(profiles), sub_cases(profiles)]


def build(page: Page, names: gr.Dropdown) -> None:
    """Lay out the panel; `names` is the list of the models that it profiles."""
    with gr.Column(elem_classes="card", elem_id="hans"):
        gr.HTML(title("HANS profile: does it only match words?", 2) + about(), padding=False)
        with gr.Row(elem_classes="beside-button"):
            n = gr.Number(
                40, label="Pairs for each sub-case", precision=0, minimum=1, min_width=120
            )
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
            go = gr.Button("Run the HANS profile", elem_id="hans-run", min_width=160)
        shown = [
            gr.HTML(elem_id=f"hans-{part}", padding=False)
            for part in ("progress", "picture", "verdicts", "cases")
        ]
    asked = [page.owner, names, n, seed]
    profiled = partial(run, page.core.models)
    go.click(profiled, asked, shown, concurrency_id="compare", **QUIET)
    hans_api.build(page.core.models)
