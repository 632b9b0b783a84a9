"""The fields of the form, laid out; `plan_form` says what they mean."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr

from finetune.experiments.inoculation.challenges import MAX_PAIRS
from finetune.experiments.inoculation.plan import LIU_LRS, LIU_SIZES, THRESHOLDS, Plan
from finetune.ui.plan_form import LIMIT_FIELDS, MODES, UPLOADS, USUAL_RATE
from finetune.ui.samples import challenge_choices
from probe.ui.html.elements import note

DEFAULT_SIZES = "10, 50, 100, 400"
FIRST_MODEL, FIRST_CHALLENGE = "minilm", "word_overlap"
DEFAULT_PLAN = Plan("", "", (), (), ())
"""A plan's own settings, which the fields begin with."""
number = partial(gr.Number, min_width=130)
whole = partial(number, precision=0)


def build_fields(
    models: Sequence[str],
) -> tuple[list[Any], gr.HTML]:  # Any: components share no useful type
    """Lay out the fields; return them in the order of the form, and the place of the samples."""
    model = gr.Dropdown(
        list(models),
        value=[FIRST_MODEL],
        multiselect=True,
        allow_custom_value=True,
        label="Models (patients)",
        elem_id="models",
    )
    challenge = gr.Dropdown(
        challenge_choices(),
        value=[FIRST_CHALLENGE],
        multiselect=True,
        allow_custom_value=True,
        label="Challenges (pathogens)",
        elem_id="challenges",
    )
    shown_samples = gr.HTML(elem_id="samples")
    sizes = gr.Textbox(DEFAULT_SIZES, label="Examples (vaccine); all is a size", elem_id="sizes")
    with gr.Row():
        lrs = gr.Textbox(
            USUAL_RATE, label="Learning rates; usual is one", min_width=160, elem_id="lrs"
        )
        seeds = gr.Textbox("0", label="Seeds", min_width=70, elem_id="seeds")
    mode = gr.Radio(
        [(words, name) for name, words in MODES.items()], value="fast", label="Mode", elem_id="mode"
    )
    settings = _settings()
    files = _files()
    return [model, challenge, sizes, lrs, seeds, mode, *settings, *files], shown_samples


def _settings() -> list[Any]:
    """Lay out epochs, patience, batch, epoch 0 and the thresholds."""
    with gr.Accordion("Settings", open=False, elem_id="plan-settings"):
        with gr.Row():
            epochs = whole(DEFAULT_PLAN.max_epochs, label="Epochs at most")
            patience = whole(DEFAULT_PLAN.patience, label="Patience, epochs")
            batch = whole(DEFAULT_PLAN.batch, label="Batch; empty: as in the model's training")
        epoch0 = gr.Checkbox(
            DEFAULT_PLAN.include_epoch0,
            label="Let epoch 0, the model as it was, compete (not published)",
        )
        published = ", ".join("all" if size < 0 else str(size) for size in LIU_SIZES)
        gr.HTML(
            note(
                f"Published grid: sizes {published}; rates {', '.join(f'{lr:g}' for lr in LIU_LRS)}"
                ". The rate halves and patience counts on original dev. The thresholds below are "
                "ours; the paper gives none."
            )
        )
        with gr.Row():
            limits = [
                number(round(getattr(THRESHOLDS, name) * unit, 6), label=words)
                for name, (words, unit) in LIMIT_FIELDS.items()
            ]
    return [epochs, patience, batch, epoch0, *limits]


def _files() -> list[Any]:
    """Lay out where one's own data goes."""
    with gr.Accordion("Your own data instead of the bundled pairs", open=False):
        gr.HTML(
            note(
                "Tables with premise, hypothesis and label. Your own challenge takes the place of "
                "the challenges above: one file, with a column split or divided at random, or one "
                "to train on and one to test on."
            )
        )
        files = [
            gr.File(label=words, type="filepath", height=110, elem_id=f"own-{option}")
            for option, words in UPLOADS.items()
        ]
        with gr.Row():
            name = gr.Textbox("", label="Name of your challenge", min_width=130)
            train = whole(MAX_PAIRS, label="Pairs to train on, of one file without split")
    return [*files, name, train]
