"""The components of the Inoculate tab's right side, laid out with the gallery in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.report.inoculation import SELECTION_TITLES, challenge_title
from finetune.trials.inoculation import InoculationRun
from finetune.ui.inoculate import run_lists
from finetune.ui.inoculate.opening import gallery_models
from finetune.ui.inoculate.view import Outputs, ViewState, newcomers_state, pictures
from probe.tasks.nli import NLI
from probe.ui.events import CHANGING, PRESSED
from probe.ui.html.elements import join
from probe.ui.html.run import LINK_LABEL
from probe.ui.run_tab import scripts

OPENING = "before-opening"
"""The class of lists that hold more than the first task has, until opening cuts them."""


@dataclass(frozen=True)
class Results:
    """What is looked at, what is shown of it, and what is taken away."""

    runs: gr.Dropdown
    models: gr.CheckboxGroup
    challenges: gr.CheckboxGroup
    selection: gr.Radio
    opened: gr.Textbox
    outputs: Outputs
    files: gr.Files
    shared: gr.Textbox

    @property
    def shown(self) -> list[Any]:  # Any: components share no useful type
        """What the handlers answer with, in the order of `Outputs`."""
        return self.outputs.outputs


def build_results(gallery: Sequence[InoculationRun]) -> Results:
    """Lay out the results of the first task, as a newcomer sees them.

    The lists know what the gallery has of every task, for the page takes nothing else from a
    browser; those of other tasks are out of sight until opening cuts the lists to the task.
    """
    state = newcomers_state(gallery)
    public = run_lists.of_task(gallery, NLI)
    looked = run_lists.of_gallery(public, state.models, state.challenges)
    sentence, drawn, outcomes, card = pictures(looked, state)
    opened = gr.Textbox("", label="opened run", visible=False)
    outputs = Outputs(seen=gr.State(""), timer=gr.Timer(1.0, active=False))
    outputs.ended = gr.Textbox("", label="ended runs", elem_classes="unseen")
    gr.HTML(_out_of_sight(public), padding=False, elem_classes="style-only")
    with gr.Row(elem_id="looked-at"):
        runs = gr.Dropdown(
            [],
            multiselect=True,
            label="Your runs",
            visible=False,
            interactive=True,
            elem_id="runs",
            **CHANGING,
        )
        models = gr.CheckboxGroup(
            gallery_models([*public, *gallery]),
            value=list(state.models),
            label="Finished runs of",
            elem_id="of-models",
            elem_classes=OPENING,
            visible=bool(public),
        )
    _build_under_way(outputs)
    outputs.say = gr.HTML(sentence, elem_id="inoculate-say", padding=False, js_on_load=scripts.LIVE)
    outputs.curves = gr.HTML(drawn, elem_id="curve", padding=False, js_on_load=PRESSED)
    files, shared = _build_take_away(outputs)
    outputs.table = gr.HTML(outcomes, elem_id="compared", padding=False, js_on_load=PRESSED)
    outputs.card = gr.HTML(card, elem_id="outcome", padding=False, js_on_load=PRESSED)
    challenges, selection = _build_choices(public, gallery, state)
    return Results(runs, models, challenges, selection, opened, outputs, files, shared)


def _out_of_sight(public: Sequence[InoculationRun]) -> Markup:
    """Return a style that hides what lists of the first task hold behind it until opening."""
    shown = {"models": run_lists.models_of(public), "challenges": run_lists.challenges_of(public)}
    rule = Markup("#of-{}.{} label:nth-of-type(n+{}){{display:none}}")
    rules = (rule.format(name, OPENING, len(there) + 1) for name, there in shown.items())
    return Markup("<style>{}</style>").format(join(rules))


def _build_under_way(outputs: Outputs) -> None:
    with gr.Column(visible=False, elem_classes="card", elem_id="under-way") as outputs.under_way:
        outputs.progress = gr.HTML(elem_id="run-state", padding=False)
        with gr.Row(elem_classes="tools"):
            outputs.halt = gr.Button("Stop", visible=False, size="sm", scale=0, elem_id="cancel")
            outputs.again = gr.Button(
                "Take up again", visible=False, size="sm", scale=0, elem_id="again"
            )
            outputs.tell = gr.Button(
                "Tell me when it ends", visible=False, size="sm", scale=0, elem_id="tell"
            )


def _build_take_away(outputs: Outputs) -> tuple[gr.Files, gr.Textbox]:
    with gr.Row(elem_classes="tools"):
        outputs.take = gr.Button(
            "Report and files", visible=True, size="sm", scale=0, elem_id="take"
        )
        outputs.share = gr.Button("Copy link", visible=False, size="sm", scale=0, elem_id="share")
    files = gr.Files(
        visible=False, interactive=False, label="Points, figure, report", elem_id="run-files"
    )
    shared = gr.Textbox(
        label=LINK_LABEL, visible=False, interactive=False, buttons=["copy"], elem_id="link-to"
    )
    return files, shared


def _build_choices(
    public: Sequence[InoculationRun], gallery: Sequence[InoculationRun], state: ViewState
) -> tuple[gr.CheckboxGroup, gr.Radio]:
    """Lay out what is rarely changed of the results: which challenges, which learning rate."""
    titles = {run.plan.challenge: challenge_title(run) for run in (*public, *gallery)}
    with gr.Accordion(
        "What is drawn: challenges, learning rate",
        open=False,
        elem_id="drawn-settings",
        elem_classes="fold",
    ):
        challenges = gr.CheckboxGroup(
            [(title, name) for name, title in titles.items()],
            value=list(state.challenges),
            label="Challenges of finished runs",
            elem_id="of-challenges",
            elem_classes=OPENING,
            visible=bool(public),
        )
        selection = gr.Radio(
            [(words, name) for name, words in SELECTION_TITLES.items()],
            value="oracle_lr",
            label="Learning rate of each size",
            elem_id="selection",
        )
    return challenges, selection
