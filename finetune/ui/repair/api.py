"""The Repair tab's endpoints over HTTP."""

from functools import partial
from typing import Any

import gradio as gr

from finetune.training.recipes import Mode
from finetune.trials import calibration as calibration
from finetune.trials import mitigation as mitigation
from finetune.trials.base import Training
from finetune.trials.transfer import TRANSFER
from finetune.ui.inoculate.plan_form import USUAL_RATE
from finetune.ui.repair.form import SIZE, Form, request_of
from probe.errors import ExperimentError
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.api.arguments import Name, Names, Numbers, Share, Token, Whole
from probe.ui.api.endpoint import endpoint
from probe.ui.run_tab.api import start_for_owner

EVERY: list[str] = []
"""No names are all that there are."""
SIZES = str(SIZE)


def build(store: Store, engine: Engine) -> None:
    """Add `/calibrate`, `/mitigate` and `/transfer`; `/run`, `/cancel` and `/again` take theirs."""

    def started(form: Form, owner: str) -> dict[str, Any]:
        return start_for_owner(store, engine, owner, form.model, partial(request_of, form))

    @endpoint
    def calibrate(
        model: Name,
        methods: Names = list(calibration.REPAIRS),  # noqa: B006  # read, never changed
        sizes: Numbers = SIZES,
        lr: Numbers = USUAL_RATE,
        seeds: Numbers = "0,1",
        mode: Mode = "fast",
        epochs: Whole = Training.epochs,
        owner: Token = "",
    ) -> dict[str, Any]:
        """Start a run that calibrates a model in several ways; returns its id and owner's token.

        Without the token nobody reads the run or uses its model.

        Args:
            model: A model that the page offers, of any task but reading.
            methods: The first is the summary's, its model is kept: temperature, smoothing, focal.
            sizes: Numbers of examples of each training, with commas between.
            lr: The learning rate; usual is the model's own.
            seeds: Whole numbers from 0, a repeat for each.
            mode: fast, only the upper layers learn, or full, as published.
            epochs: How many epochs each training takes.
            owner: A token that an earlier call returned; a new one is made without.
        """
        chosen = _of_kind(methods, calibration.REPAIRS)
        form = Form(model, chosen, sizes=sizes, seeds=seeds, lr=lr, mode=mode, epochs=epochs)
        return started(form, owner)

    @endpoint
    def mitigate(
        model: Name,
        methods: Names = list(mitigation.REPAIRS),  # noqa: B006  # as above
        transforms: Names = EVERY,
        sizes: Numbers = SIZES,
        lr: Numbers = USUAL_RATE,
        seeds: Numbers = "0,1",
        share: Share = mitigation.SHARE,
        gradient_share: Share = mitigation.SHARE,
        mode: Mode = "fast",
        epochs: Whole = Training.epochs,
        owner: Token = "",
    ) -> dict[str, Any]:
        """Start a run that teaches a model to say when a text is broken; returns its id and token.

        Without the token nobody reads the run or uses its model.

        Args:
            model: A model that the page offers, of any task but reading.
            methods: The first is the summary's, its model is kept: invalid, entropic, threshold.
            transforms: What breaks the texts, by code names; all of the task's, if none.
            sizes: Numbers of examples of each training, with commas between.
            lr: The learning rate; usual is the model's own.
            seeds: Whole numbers from 0, a repeat for each.
            share: Of the examples, those that are broken too by each transform.
            gradient_share: The same for transforms that ask the model; less if it collapses.
            mode: fast, only the upper layers learn, or full, as published.
            epochs: How many epochs each training takes.
            owner: A token that an earlier call returned; a new one is made without.
        """
        chosen = _of_kind(methods, mitigation.REPAIRS)
        form = Form(
            model, chosen, tuple(transforms), sizes, seeds, lr, share, gradient_share, mode, epochs
        )
        return started(form, owner)

    @endpoint
    def transfer(
        model: Name,
        transforms: Names = EVERY,
        sizes: Numbers = SIZES,
        lr: Numbers = USUAL_RATE,
        seeds: Numbers = "0,1",
        share: Share = mitigation.SHARE,
        mode: Mode = "fast",
        epochs: Whole = Training.epochs,
        owner: Token = "",
    ) -> dict[str, Any]:
        """Start a run that teaches one kind of broken text and tests on all; returns id and token.

        Two more trainings are on whole texts and on shuffled ones alone. Without the token nobody
        reads the run.

        Args:
            model: A model that the page offers, of any task but reading.
            transforms: Rows and columns, by code names; all of the task's, if none.
            sizes: Numbers of examples of each training, with commas between.
            lr: The learning rate; usual is the model's own.
            seeds: Whole numbers from 0, a repeat for each.
            share: Of the examples, those that are broken too.
            mode: fast, only the upper layers learn, or full, as published.
            epochs: How many epochs each training takes.
            owner: A token that an earlier call returned; a new one is made without.
        """
        form = Form(
            model,
            (TRANSFER.kind,),
            tuple(transforms),
            sizes,
            seeds,
            lr,
            share,
            mode=mode,
            epochs=epochs,
        )
        return started(form, owner)

    gr.api(calibrate, api_name="calibrate")
    gr.api(mitigate, api_name="mitigate")
    gr.api(transfer, api_name="transfer")


def _of_kind(methods: list[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the methods, of which there must be some and all known. Raises ExperimentError."""
    if not methods or not set(methods) <= set(known):
        raise ExperimentError(f"methods are some of {', '.join(known)}, each once")
    return tuple(methods)
