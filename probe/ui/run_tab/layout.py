"""A tab of runs, laid out and wired."""

from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.runs.gallery import gallery_runs
from probe.ui.choices import model_choices
from probe.ui.events import CHANGING, EACH, LAST, QUIET, hidden, in_turn
from probe.ui.html.elements import hint
from probe.ui.html.run import LINK_LABEL
from probe.ui.page import Page
from probe.ui.run_tab import scripts
from probe.ui.run_tab.controls import Taken, wire_taken
from probe.ui.run_tab.entry import RunTab
from probe.ui.run_tab.estimate import build_estimate
from probe.ui.run_tab.handlers import Handlers
from probe.ui.run_tab.looked_at import Offered
from probe.ui.run_tab.view import Outputs
from probe.ui.visitors.belongings import RUN_FILES

HEAD = Markup('<h2 class="title">{}</h2>')
OPENING = Markup('<p class="fine">Opening what was finished before …</p>')
SMALL: dict[str, Any] = {"visible": False, "size": "sm", "scale": 0}


@dataclass(frozen=True)
class Form:
    """The form at the left; `fields` are the entry's own, as it laid them out."""

    model: gr.Dropdown
    fields: list[Any]  # Any: components share no useful type
    estimate: gr.HTML
    start: gr.Button
    problem: gr.HTML


@dataclass(frozen=True)
class Shown:
    """What is looked at, what is shown of it, and what is taken away."""

    runs: gr.Dropdown
    outputs: Outputs
    files: gr.Files
    link: gr.Textbox


def build(page: Page, entry: RunTab) -> Shown:
    """Put the tab together and return what is looked at."""
    gr.HTML(hint(entry.hint), padding=False)
    with gr.Row(elem_id=entry.id, elem_classes="runs-tab"):
        with gr.Column(elem_id=f"{entry.id}-new", elem_classes=["card", "new-run"], min_width=240):
            form = _build_form(page, entry)
        with gr.Column(elem_id=f"{entry.id}-shown", min_width=240):
            shown = _build_shown(entry)
    core = page.core
    for kind in entry.kinds:
        RUN_FILES[kind] = lambda run, folder: entry.files([run], folder)
    files = [at for at, field in enumerate(form.fields) if isinstance(field, gr.File)]
    offered = Offered(entry, core.store, gallery_runs(core.gallery))
    handlers = Handlers(entry, core.store, core.engine, core.models, offered, files)
    _wire_form(page, entry, handlers, form, shown)
    _wire_shown(page, entry, handlers, form, shown)
    return shown


def _build_form(page: Page, entry: RunTab) -> Form:
    gr.HTML(HEAD.format(entry.head), padding=False)
    names = page.core.models.names("")
    model = entry.model or gr.Dropdown(
        model_choices(names),
        value=names[0],
        label="Model",
        interactive=True,
        elem_id=f"{entry.id}-model",
        **CHANGING,
    )
    fields = entry.fields()
    # above what changes its height, so that it stays under the finger that presses it; to be
    # pressed once the browser is known
    start = gr.Button(
        entry.start, variant="primary", elem_id=f"{entry.id}-start", interactive=False
    )
    estimate = build_estimate(f"{entry.id}-estimate")
    problem = gr.HTML(elem_id=f"{entry.id}-problem", padding=False)
    return Form(model, [*fields, *entry.settings()], estimate, start, problem)


def _build_shown(entry: RunTab) -> Shown:
    runs = gr.Dropdown(
        [],
        label="Shown",
        visible=False,
        interactive=True,
        elem_id=f"{entry.id}-runs",
        elem_classes="shown-runs",
        **CHANGING,
    )
    outputs = Outputs(seen=gr.State(""), timer=gr.Timer(1.0, active=False))
    with gr.Column(visible=False, elem_classes="card", elem_id=f"{entry.id}-under-way") as column:
        outputs.under_way = column
        outputs.progress = gr.HTML(elem_id=f"{entry.id}-progress", padding=False)
        with gr.Row(elem_classes="tools"):
            outputs.halt = gr.Button("Stop", elem_id=f"{entry.id}-stop", **SMALL)
            outputs.again = gr.Button("Take up again", elem_id=f"{entry.id}-again", **SMALL)
            outputs.tell = gr.Button("Tell me when it ends", elem_id=f"{entry.id}-tell", **SMALL)
    outputs.results = gr.HTML(
        OPENING,
        elem_id=f"{entry.id}-results",
        padding=False,
        js_on_load=scripts.LIVE + scripts.RULES,
    )
    with gr.Row(elem_classes="tools"):
        outputs.take = gr.Button("Report and files", elem_id=f"{entry.id}-take", **SMALL)
        outputs.share = gr.Button("Copy link", elem_id=f"{entry.id}-share", **SMALL)
    files = gr.Files(
        visible=False, interactive=False, label="Points, figures", elem_id=f"{entry.id}-files"
    )
    link = gr.Textbox(
        label=LINK_LABEL,
        visible=False,
        interactive=False,
        buttons=["copy"],
        elem_id=f"{entry.id}-link",
    )
    outputs.ended = gr.Textbox("", label="ended runs", elem_classes="unseen")
    return Shown(runs, outputs, files, link)


def _wire_form(page: Page, entry: RunTab, handlers: Handlers, form: Form, shown: Shown) -> None:
    """Wire what is offered, the estimate, and the start."""
    owner, task, runs = page.owner, page.task, shown.runs
    seen = shown.outputs.outputs
    values = [form.model, *form.fields]
    begun = [runs, form.problem, form.start, *values]
    turn = in_turn(f"look-{entry.id}")
    began = page.on_open(handlers.choose_task, [task, owner], begun, **turn)
    if entry.follow:
        entry.follow(began)
    drawn = [
        began.then(handlers.look, [owner, runs], seen, **turn),
        page.on_return(handlers.look, [owner, runs], seen, **turn),
    ]
    drawn[0].then(None, js=scripts.to_trouble(f"{entry.id}-problem"), **QUIET)
    if entry.model is None:
        page.on_return(handlers.offer_models, [owner, task], form.model, **QUIET)
    changed = [field.change for field in values if hasattr(field, "change")]
    # after the tab is drawn, for measuring takes a moment
    asked = page.mark_of(*changed, after=drawn)
    asked.change(handlers.forecast, [owner, *values], form.estimate, **QUIET)
    followed = [form.model, runs, owner, task]
    form.model.input(handlers.follow_model, followed, [runs, *seen], **LAST, **turn)
    started = form.start.click(
        handlers.start, [owner, task, *values], [form.problem, runs], **QUIET
    )
    started.then(handlers.look, [owner, runs], seen, **turn)


def _wire_shown(page: Page, entry: RunTab, handlers: Handlers, form: Form, shown: Shown) -> None:
    """Wire what is looked at, what is under way, what is taken away."""
    owner, task, runs, outputs = page.owner, page.task, shown.runs, shown.outputs
    seen, turn, looked_at = outputs.outputs, in_turn(f"look-{entry.id}"), [owner, runs]
    runs.input(handlers.look, looked_at, seen, **LAST, **turn)
    runs.change(None, None, [shown.files, shown.link], js=hidden(2), **QUIET)
    if entry.judged_anew:
        judged = outputs.results.submit(
            handlers.judge_anew, looked_at, outputs.results, **EACH, **turn
        )
        judged.then(None, js=scripts.TO_RULE, **QUIET)
    outputs.halt.click(handlers.stop, looked_at, seen, **turn)
    outputs.again.click(handlers.take_up, looked_at, seen, **turn)
    outputs.timer.tick(handlers.tick, [outputs.seen, *looked_at, task], [*seen, runs], **turn)
    taken = Taken(outputs.ended, shown.files, shown.link, form.problem)
    wire_taken(outputs, taken, handlers.make_files, handlers.share, looked_at, [*looked_at, task])
