"""The Generalise tab's endpoint over HTTP."""

from functools import partial
from typing import Any

import gradio as gr

from finetune.training.recipes import Mode
from finetune.trials.generalisation_plan import THRESHOLDS, Plan
from finetune.ui.generalise.form import SIZES, Form, request_of
from finetune.ui.inoculate.plan_form import USUAL_RATE
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.api.arguments import Name, Numbers, Share, Token, Whole
from probe.ui.api.endpoint import endpoint
from probe.ui.run_tab.api import start_for_owner


def build(store: Store, engine: Engine) -> None:
    """Add `/generalise`; `/run`, `/cancel` and `/again` take its runs too."""

    @endpoint
    def generalise(
        model: Name,
        phenomenon: Name = "numerical",
        vary: Name = "complexity",
        sizes: Numbers = ",".join(SIZES),
        lrs: Numbers = USUAL_RATE,
        seeds: Numbers = "0,1",
        mode: Mode = "fast",
        max_loss: Share = THRESHOLDS.loss,
        max_epochs: Whole = Plan.max_epochs,
        owner: Token = "",
    ) -> dict[str, Any]:
        """Start a run that trains on each kind of example and tests on all; returns its id.

        It comes with its owner's token: without it nobody reads the run.

        Args:
            model: A model for natural language inference that the page offers.
            phenomenon: The skill, numerical or dative.
            vary: What tells the kinds apart: complexity, lexical or (numerical) range.
            sizes: Numbers of training examples, with commas between.
            lrs: Learning rates to choose among; usual is the model's own and a lower.
            seeds: Whole numbers from 0, a repeat for each.
            mode: fast, only the upper layers learn, or full, as published.
            max_loss: The share lost elsewhere from which on the data set alone was learnt.
            max_epochs: How many epochs a training takes at most.
            owner: A token that an earlier call returned; a new one is made without.
        """
        form = Form(model, phenomenon, vary, sizes, seeds, lrs, mode, 100 * max_loss, max_epochs)
        return start_for_owner(store, engine, owner, model, partial(request_of, form))

    gr.api(generalise, api_name="generalise")
