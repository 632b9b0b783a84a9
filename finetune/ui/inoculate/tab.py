"""The Inoculate tab: plan runs, watch their trainings, read what they mean."""

from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.report.inoculation import shown_runs
from finetune.ui.inoculate import api
from finetune.ui.inoculate.handlers import Handlers
from finetune.ui.inoculate.opening import Opening
from finetune.ui.inoculate.plan_fields import build_fields, build_settings
from finetune.ui.inoculate.results import Results, build_results
from finetune.ui.inoculate.samples import samples
from probe.tasks.task import task_named
from probe.ui.choices import model_choices
from probe.ui.events import EACH, LAST, QUIET, hidden, in_focus, in_turn
from probe.ui.html.elements import hint
from probe.ui.page import Page
from probe.ui.run_tab import scripts
from probe.ui.run_tab.controls import Taken, wire_taken
from probe.ui.run_tab.estimate import build_estimate

HINT = (
    "Show the model a few examples of what it fails on. If it recovers, it only lacked the "
    "examples; if it learns them all and fails as before, it lacks the ability."
)
HEAD = Markup('<h2 class="title">New run</h2>')
TO_CARD = """opened => {
  for (const button of document.querySelectorAll("#inoculation-results button[data-cell]"))
    button.closest(".panel, tr")?.classList.toggle("opened", button.dataset.cell === opened);
  document.getElementById("outcome")?.scrollIntoView({block: "nearest"});
}"""
"""Marks what was pressed, where it stands, so that the focus stays there; shows the card."""
BY_A_PERSON = f"""(models, ...others) => [
  {in_focus("models", "challenges")} ? models : [], ...others
]"""
"""Names no model unless a person changes a list."""
# one queue: what was looked at before must not come after the newest, drawn slowly or by a tick
IN_TURN = in_turn("look")


def build(page: Page) -> None:
    """Put the tab together, with the gallery in it."""
    core, owner, task = page.core, page.owner, page.task
    gallery = shown_runs(core.gallery)
    handlers = Handlers(core.store, core.engine, gallery, core.cache.loaded)
    opening = Opening(core.store, core.models, gallery)
    gr.HTML(hint(HINT), padding=False)
    with gr.Row(elem_id="inoculation", elem_classes="runs-tab"):
        with gr.Column(elem_id="new-run", elem_classes=["card", "new-run"], min_width=240):
            gr.HTML(HEAD, padding=False)
            first_fields, shown_samples = build_fields(model_choices(core.models.names("")))
            start = gr.Button(  # once the page has opened, whose answer would hide the run
                "Start", variant="primary", elem_id="inoculate", interactive=False
            )
            estimate = build_estimate("estimate")
            problem = gr.HTML(elem_id="inoculate-problem", padding=False)
            fields = build_settings(page, first_fields)
        with gr.Column(elem_id="inoculation-results", min_width=240):
            results = build_results(gallery)

    plan, models, challenges = [owner, *fields], fields[0], fields[1]
    looked_at = [results.runs, results.models, results.challenges]
    viewed = [owner, *looked_at, results.selection, results.opened, task]
    chosen, shown = [*looked_at, results.opened], results.shown

    sizes, mode = first_fields[2:]
    begun = [*chosen, problem, models, challenges, sizes, mode, start]
    began = page.on_open(opening.choose_task, [task, owner, sizes], begun, **IN_TURN)

    def sampled(names: list[str], name: str) -> Markup:
        """Show examples of the first challenge that is chosen."""
        return samples(names, task_named(name))

    began.then(sampled, [challenges, task], shown_samples, **QUIET)
    drawn = [
        began.then(handlers.refresh, viewed, shown, **IN_TURN),
        page.on_return(handlers.refresh, viewed, shown, **IN_TURN),
    ]
    drawn[0].then(None, js=scripts.to_trouble("inoculate-problem"), **QUIET)

    def offered(visitor: str, name: str) -> Any:
        """Offer the visitor's own models, and those that came meanwhile."""
        return gr.Dropdown(model_choices(core.models.names(visitor, task_named(name))))

    page.on_return(offered, [owner, task], models, **QUIET)
    # a list of several tells a choice as input alone, and what is typed as change alone
    other = page.mark_of(challenges.input, challenges.change)
    other.change(sampled, [challenges, task], shown_samples, **QUIET)
    changed = [*(field.input for field in fields[:3]), *(field.change for field in fields)]
    # after the tab is drawn, for measuring takes a moment
    page.mark_of(*changed, after=drawn).change(handlers.forecast, plan, estimate, **QUIET)
    planned = [models, challenges, *viewed]
    followed = [results.models, results.challenges, results.opened, *shown]
    told, typed = [models.input, challenges.input], [models.change, challenges.change]
    gr.on(told, handlers.follow_plan, planned, followed, **LAST, **IN_TURN)
    gr.on(typed, handlers.follow_plan, planned, followed, js=BY_A_PERSON, **IN_TURN)
    started = start.click(handlers.start_runs, [owner, task, *fields], [problem, *chosen], **QUIET)
    started.then(handlers.refresh, viewed, shown, **IN_TURN)
    told_more = results.outputs.card.click(
        handlers.start_telling, viewed, [problem, *chosen], **EACH, **QUIET
    )
    told_more.then(handlers.refresh, viewed, shown, **IN_TURN)
    _watch(handlers, results, viewed, problem)
    api.build(core.store, core.engine, handlers.telling)


def _watch(handlers: Handlers, results: Results, viewed: list[Any], problem: gr.HTML) -> None:
    """Wire the right side: what is looked at, what is under way, what is taken away."""
    shown = results.shown
    timer = results.outputs.timer
    results.outputs.halt.click(handlers.cancel_runs, viewed, shown, **IN_TURN)
    results.outputs.again.click(handlers.reopen_runs, viewed, shown, **IN_TURN)
    looked_at = (results.runs, results.models, results.challenges, results.selection)
    gr.on(
        [part.input for part in looked_at],
        handlers.refresh,
        viewed,
        shown,
        **LAST,
        **IN_TURN,
    )
    for pressable in (results.outputs.curves, results.outputs.table):
        pressed = pressable.click(
            handlers.open_card,
            viewed,
            [results.opened, results.outputs.card],
            **EACH,
            **IN_TURN,
        )
        pressed.then(None, results.opened, None, js=TO_CARD, **QUIET)
    seen = results.outputs.seen
    timer.tick(handlers.tick, [seen, *viewed], [*shown, results.runs], **IN_TURN)
    taken = Taken(results.outputs.ended, results.files, results.shared, problem)
    wire_taken(results.outputs, taken, handlers.make_files, handlers.share_runs, viewed, viewed)
    elsewhere = [part.change for part in looked_at]
    gr.on(elsewhere, None, None, [results.files, results.shared], js=hidden(2), **QUIET)
