"""The fields of the Repair tab, laid out; `form` says what they mean."""

from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.training.recipes import Mode
from finetune.trials.calibration import CALIBRATION
from finetune.trials.mitigation import MITIGATION, SHARE
from finetune.trials.params import USUAL_RATE
from finetune.trials.transfer import TRANSFER
from finetune.ui.inoculate.plan_fields import mode_choice, number, several, whole
from finetune.ui.repair.form import REPEATS, SIZE, usual_size
from finetune.ui.repair.titles import (
    ALL,
    FIRST,
    METHODS,
    change_choices,
    method_choices,
)
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.ui.events import QUIET
from probe.ui.html.elements import note

OFFERED_SIZES = ("100", "300", str(SIZE))
TIDY = f"""chosen => {{
  const some = chosen.filter(name => name !== "{ALL}");
  const kept = some.length && chosen.at(-1) !== "{ALL}" ? some : ["{ALL}"];
  return [kept.length === chosen.length ? {{ __type__: "update" }} : kept];
}}"""
"""`tidy` in the browser, where no answer comes after the next choice; what is tidy stays, since
gradio takes a new list for a change."""
ABOUT_SETTINGS = (
    "The other methods of the same kind are run too, so that what each finds and costs stands side "
    "by side; the chosen one comes first, and its model is the one that is kept. One repeat keeps "
    "it short. As published: whole training sets, all weights, half of the examples broken by each "
    "change. Drop, repeat, replace and copy one token ask the model which tokens matter: where a "
    "model collapses, a smaller share of these helps."
)


class Fields:
    """The fields of one page; the settings that are shown are those of the chosen method."""

    def __init__(self) -> None:
        self._method: Any = None  # Any: components share no useful type
        self._about: Any = None
        self._transforms: Any = None

    def build(self) -> list[Any]:
        """Lay out what is always seen: the method, what it is, what it is taught with."""
        method = gr.Radio(method_choices(), value=FIRST, label="Method", elem_id="repair-method")
        about = gr.HTML(summary(FIRST), elem_id="repair-about", padding=False)
        transforms = several(
            change_choices(NLI), value=[ALL], label="Taught with", elem_id="repair-transforms"
        )
        # gradio tells a choice by the keyboard as a change alone
        told = [transforms.input, transforms.change]
        gr.on(told, None, transforms, transforms, js=TIDY, **QUIET)
        self._method, self._about, self._transforms = method, about, transforms
        return [method, transforms]

    def build_settings(self) -> list[Any]:
        """Lay out what is rarely changed, folded."""
        with gr.Accordion(
            "Settings: examples, repeats, rate, shares",
            open=False,
            elem_id="repair-settings",
            elem_classes="fold",
        ):
            sizes, repeats, lr = _draws()
            compare = gr.Checkbox(
                True, label="Compare with the other methods of its kind", elem_id="repair-compare"
            )
            with gr.Row():
                share = number(
                    100 * SHARE, label="Broken too, % of examples", elem_id="repair-broken-share"
                )
                asking_share = number(
                    100 * SHARE,
                    label="By changes that ask the model, %",
                    elem_id="repair-asking-share",
                )
            mode = mode_choice("repair-mode", first_mode(FIRST))
            gr.HTML(note(ABOUT_SETTINGS), padding=False)
        followed = [self._about, self._transforms, compare, share, asking_share, mode]
        self._method.change(follow, self._method, followed, **QUIET)
        return [sizes, repeats, lr, compare, share, asking_share, mode]


def _draws() -> list[Any]:
    """Lay out how many examples are trained on, how often, and at which rate."""
    sizes = several(
        list(OFFERED_SIZES),
        value=[str(SIZE)],
        label="Train on this many examples",
        elem_id="repair-sizes",
    )
    with gr.Row():
        repeats = whole(REPEATS, label="Repeats", elem_id="repair-repeats")
        lr = gr.Textbox(USUAL_RATE, label="Learning rate", min_width=110, elem_id="repair-lr")
    return [sizes, repeats, lr]


def offered(task: Task) -> list[Any]:
    """Return an update for each field, then for each setting: what a task has to choose from."""
    size = str(usual_size(task))
    sizes = [*(each for each in OFFERED_SIZES if int(each) < int(size)), size]
    return [
        gr.skip(),
        gr.Dropdown(change_choices(task), value=[ALL]),
        gr.Dropdown(sizes, value=[size]),
        *[gr.skip()] * 6,
    ]


def summary(method: str) -> Markup:
    """Say what a method is."""
    return note(METHODS[method].term.summary)


def first_mode(method: str) -> Mode:
    """Return how a method begins: all weights where the upper layers alone cost much accuracy."""
    return "full" if METHODS[method].kind == MITIGATION.kind else "fast"


def follow(method: str) -> tuple[Any, ...]:
    """Show what belongs to a method: what it is, is taught and compared with, shares, and how."""
    kind = METHODS[method].kind
    return (
        summary(method),
        gr.Dropdown(visible=kind != CALIBRATION.kind),
        gr.Checkbox(visible=kind != TRANSFER.kind),
        gr.Number(visible=kind != CALIBRATION.kind),
        gr.Number(visible=kind == MITIGATION.kind),
        gr.Radio(value=first_mode(method)),
    )
