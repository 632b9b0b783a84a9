"""The Inoculate tab: plan runs, watch their cells, read what they mean."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from finetune.experiments.inoculation.run import InoculationRun
from finetune.report.gallery import shown_runs
from finetune.report.text import SELECTION_TITLES
from finetune.ui import inoculate_api, run_lists
from finetune.ui.handlers import Handlers
from finetune.ui.plan_fields import build_fields
from finetune.ui.samples import samples
from probe.ui.choices import refresh_models
from probe.ui.events import CHANGING, PRESSED, QUIET
from probe.ui.page import Page

TICK_SECONDS = 1.0
LINK_LABEL = "For others to read the run and use its model, until you take it back in My data"
COPY_LINK = """query => {
  if (!query.startsWith("?")) return query;
  const link = new URL(query, window.location.href).href;
  navigator.clipboard?.writeText(link);
  return link;
}"""
TO_CARD = '() => document.getElementById("outcome")?.scrollIntoView({block: "nearest"})'


def build(page: Page) -> None:
    """Put the tab together; it is drawn when it is opened."""
    core, owner, tab = page.core, page.owner, page.tab
    gallery = shown_runs(core.gallery)
    handlers = Handlers(core.store, core.engine, gallery)
    timer, seen = gr.Timer(TICK_SECONDS, active=False), gr.State("")
    opened = gr.Textbox("", label="opened run", visible=False)
    with gr.Row():
        with gr.Column(scale=4, min_width=300):
            fields, shown_samples = build_fields(core.models.names(""))
            estimate = gr.HTML(elem_id="estimate")
            start = gr.Button("Inoculate", variant="primary", elem_id="inoculate")
            problem = gr.HTML(elem_id="inoculate-problem")
        with gr.Column(scale=7, min_width=300):
            runs, models, names, selection = _choosers(gallery)
            curves = gr.HTML(elem_id="curve")
            state = gr.HTML(elem_id="run-state")
            halt = gr.Button("Cancel", visible=False, size="sm", elem_id="cancel")
            again = gr.Button("Take up again", visible=False, size="sm", elem_id="again")
            take = gr.Button(
                "Make files: points, figure, report", visible=False, size="sm", elem_id="take"
            )
            give = gr.Button("Copy link", visible=False, size="sm", elem_id="share")
            shared = gr.Textbox(
                label=LINK_LABEL,
                visible=False,
                interactive=False,
                buttons=["copy"],
                elem_id="link-to",
            )
            files = gr.Files(visible=False, label="Points, figure, report", elem_id="run-files")
    table = gr.HTML(elem_id="compared", js_on_load=PRESSED)
    card = gr.HTML(elem_id="outcome")

    plan, planned_models = [owner, *fields], fields[0]
    challenges = fields[1]
    chosen = [runs, models, names, opened]
    viewed = [owner, runs, models, names, selection, opened]
    shown = [curves, state, table, card, seen, timer, halt, again, take, give]
    is_open = gr.State(False)
    last: dict[str, Any] = {"trigger_mode": "always_last", **QUIET}
    # one queue: what was looked at before must not come after the newest, drawn slowly or by a tick
    in_turn: dict[str, Any] = {"concurrency_id": "look", "concurrency_limit": 1, **QUIET}

    named = gr.State(False)
    opening = [*chosen, problem, planned_models, challenges, named]
    loaded = page.opened.then(handlers.open_page, owner, opening, **QUIET)
    loaded.then(handlers.prefill, [named, owner, *fields], [shown_samples, estimate], **QUIET)
    loaded.then(handlers.refresh_if_open, [is_open, *viewed], shown, **in_turn)
    tab.select(handlers.open_tab, viewed, [is_open, *shown], **in_turn)
    tab.select(samples, challenges, shown_samples, **QUIET)
    tab.select(handlers.forecast, plan, estimate, **QUIET)
    challenges.input(samples, challenges, shown_samples, **QUIET)
    # a list of several has no change of its own when a person chooses
    changed = [planned_models.input, challenges.input, *(field.change for field in fields[2:])]
    gr.on(changed, handlers.forecast, plan, estimate, **last)
    gr.on(
        [planned_models.input, challenges.input],
        handlers.follow_plan,
        [planned_models, challenges, *viewed],
        [models, names, *shown],
        **in_turn,
    )
    started = start.click(handlers.start_runs, plan, [problem, *chosen], **QUIET)
    started.then(handlers.refresh, viewed, shown, **in_turn)
    halt.click(handlers.cancel_runs, viewed, shown, **in_turn)
    again.click(handlers.reopen_runs, viewed, shown, **in_turn)
    gr.on(
        [part.input for part in (runs, models, names, selection)],
        handlers.refresh,
        viewed,
        shown,
        trigger_mode="always_last",
        **in_turn,
    )
    pressed = table.click(
        handlers.open_card,
        viewed,
        [opened, *shown],
        trigger_mode="multiple",  # the second of two quick presses counts too
        **in_turn,
    )
    pressed.then(None, js=TO_CARD, **QUIET)
    timer.tick(handlers.tick, [seen, *viewed], [*shown, runs], **in_turn)
    take.click(handlers.make_files, viewed, files, api_visibility="private")
    given = give.click(handlers.share_runs, viewed, [problem, shared], **QUIET)
    runs.input(lambda: gr.Textbox(visible=False), None, shared, **QUIET)
    given.then(None, shared, shared, js=COPY_LINK, **QUIET)
    inoculate_api.build(core.store, core.engine)
    refresh_models(page, planned_models)


def _choosers(
    gallery: Sequence[InoculationRun],
) -> tuple[Any, ...]:  # Any: components share no useful type
    """Lay out what is looked at: own runs, the gallery's, and which rate is drawn."""
    runs = gr.Dropdown(
        [],
        multiselect=True,
        label="Your runs",
        visible=False,
        interactive=True,
        elem_id="runs",
        **CHANGING,
    )
    visible = bool(gallery)
    with gr.Row(visible=visible):
        models = gr.CheckboxGroup(
            run_lists.models_of(gallery),
            label="Gallery: models",
            min_width=200,
            elem_id="of-models",
        )
        names = gr.CheckboxGroup(
            run_lists.challenges_of(gallery),
            label="Gallery: challenges",
            min_width=260,
            elem_id="of-challenges",
        )
    selection = gr.Radio(
        [(words, name) for name, words in SELECTION_TITLES.items()],
        value="oracle_lr",
        label="Learning rate of each size",
        elem_id="selection",
    )
    return runs, models, names, selection
