"""The fields of the form, laid out; `plan_form` says what they mean."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr

from finetune.training.recipes import MODES, Mode
from finetune.trials.challenges import MAX_PAIRS
from finetune.trials.inoculation import KIND, LIU_LRS, LIU_SIZES
from finetune.trials.params import USUAL_RATE, param_of
from finetune.ui.inoculate.plan_form import LIMITS, UPLOADS
from finetune.ui.inoculate.samples import FIRST_CHALLENGE, challenge_choices
from probe.tasks.examples import bundled_examples
from probe.tasks.task import Task, offered_tasks
from probe.ui.html.elements import note
from probe.ui.page import Page
from probe.ui.panels import hub_dataset

DEFAULT_SIZES = param_of(KIND, "sizes").begins.split(",")
SPAN_SIZES = ["5", "10", "all"]
"""The numbers of examples to begin with; the bundled passages give few questions to train on."""
OFFERED_SIZES = ["all" if size < 0 else str(size) for size in LIU_SIZES]
FIRST_MODEL = "minilm"
number = partial(gr.Number, min_width=110)
whole = partial(number, precision=0)
several = partial(gr.Dropdown, multiselect=True, allow_custom_value=True, interactive=True)


def build_fields(
    models: Sequence[tuple[str, str]],
) -> tuple[list[Any], gr.HTML]:  # Any: components share no useful type
    """Lay out the fields; return them in the order of the form, and the place of the samples.

    What is rarely changed is laid out by `build_settings`.
    """
    model = several(list(models), value=[FIRST_MODEL], label="Model", elem_id="models")
    challenge = several(
        challenge_choices(), value=[FIRST_CHALLENGE], label="It fails on", elem_id="challenges"
    )
    shown_samples = gr.HTML(elem_id="samples", padding=False)
    sizes = several(
        OFFERED_SIZES,
        value=DEFAULT_SIZES,
        label="Show it this many examples",
        elem_id="sizes",
    )
    mode = mode_choice("mode")
    return [model, challenge, sizes, mode], shown_samples


def sizes_for(task: Task, chosen: Sequence[str]) -> list[str]:
    """Return the numbers of examples to begin with, or those that a person has chosen instead."""
    begun_with = [usual_sizes(other) for other in offered_tasks()]
    return usual_sizes(task) if list(chosen) in begun_with else list(chosen)


def usual_sizes(task: Task) -> list[str]:
    """Return the numbers of examples to begin with; all in place of more than the task has."""
    if task.has_spans:
        return SPAN_SIZES
    there = len(bundled_examples(task, "pool"))
    sizes = [size for size in DEFAULT_SIZES if int(size) <= there]
    return sizes if sizes == DEFAULT_SIZES else [*sizes, "all"]


def mode_choice(elem_id: str, value: Mode = "fast") -> gr.Radio:
    """Offer the modes of training."""
    return gr.Radio(
        [(mode.title, name) for name, mode in MODES.items()],
        value=value,
        label="How",
        elem_id=elem_id,
        elem_classes="seg",
    )


def build_settings(page: Page, fields: Sequence[Any]) -> list[Any]:
    """Lay out what is rarely changed, folded; return all fields in the order of the form."""
    model, challenge, sizes, mode = fields
    with gr.Accordion(
        "Settings: rates, seeds, stopping, your own data",
        open=False,
        elem_id="plan-settings",
        elem_classes="fold",
    ):
        with gr.Row():
            lrs = gr.Textbox(
                USUAL_RATE, label="Learning rates, “usual” or numbers", min_width=110, elem_id="lrs"
            )
            seeds = gr.Textbox("0", label="Seeds", min_width=70, elem_id="seeds")
        settings = _settings()
        files = _files(page)
    return [model, challenge, sizes, lrs, seeds, mode, *settings, *files]


def _settings() -> list[Any]:
    """Lay out epochs, patience, batch, epoch 0 and the thresholds."""
    with gr.Row():
        epochs, patience = (
            whole(each.begins, label=each.title)
            for each in (param_of(KIND, name) for name in ("max_epochs", "patience"))
        )
    batch = whole(0, label="Batch; 0: as in the model's training")
    epoch0 = gr.Checkbox(
        param_of(KIND, "include_epoch0").begins,
        label="Let epoch 0, the model as it was, compete (not published)",
    )
    gr.HTML(
        note(
            f"Published grid: {', '.join(OFFERED_SIZES)} examples; rates "
            f"{', '.join(f'{lr:g}' for lr in LIU_LRS)}. The rate halves and patience counts on "
            "original dev. The thresholds below are ours; the paper gives none."
        ),
        padding=False,
    )
    with gr.Row(elem_classes="limits"):
        limits = [number(round(each.default * each.unit, 6), label=each.title) for each in LIMITS]
    return [epochs, patience, batch, epoch0, *limits]


def _files(page: Page) -> list[Any]:
    """Lay out where one's own data goes."""
    gr.HTML(
        note(
            "Your own data instead of the bundled examples: tables with the task's texts and a "
            "label. Your own challenge takes the place of the challenges above: one file, with a "
            "column split or divided at random, or one to train on and one to test on."
        ),
        padding=False,
    )
    files = [
        gr.File(label=each.title, type="filepath", height=150, elem_id=f"own{each.option[1:]}")
        for each in UPLOADS
    ]
    hub_dataset.build(page, files, "own")
    name = gr.Textbox("", label="Name of your challenge")
    train = whole(MAX_PAIRS, label="Examples to train on, of one file without split")
    return [*files, name, train]
