"""The check-up's endpoint over HTTP."""

import json
from functools import partial
from typing import Any

import gradio as gr

from probe.checkup.measuring import Asked
from probe.models.windows import Long
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.api.endpoint import (
    Name,
    NamesByName,
    OptionalUpload,
    Seed,
    Token,
    Whole,
    endpoint,
    over_http,
)
from probe.ui.checkup.form import Form, request_of
from probe.ui.run_tab.api import start_for_owner
from probe.ui.visitors.visitor_files import own_file


@over_http()
def build(store: Store, engine: Engine) -> None:
    """Add `/checkup`; `/run`, `/cancel` and `/again` take its runs."""

    @endpoint
    def checkup(
        model: Name,
        n: Whole = Asked.n,
        per_subcase: Whole = Asked.per_subcase,
        seed: Seed = Asked.seed,
        owner: Token = "",
        file: OptionalUpload = None,
        label_values: NamesByName = {},  # noqa: B006  # read, never changed
        long: Long = Asked.long,
    ) -> dict[str, Any]:
        """Start a check-up of a model; returns its id and owner's token.

        Without the token nobody reads the run. What `/run` returns at its end holds the findings.

        Args:
            model: A model of any task that the page offers.
            n: How many examples are changed in each way.
            per_subcase: How many pairs each sub-case of HANS has.
            seed: Which examples are changed, and how.
            owner: A token that an earlier call returned; a new one is made without.
            file: A labelled table of the model's task, in place of the app's examples.
            label_values: Labels by the value of the file that means them, as a JSON object.
            long: cut, or windows, in which a premise longer than the model reads is read.
        """
        path = own_file(owner, file) if file else None
        meanings = json.dumps(label_values)
        form = Form(model, Asked(n, per_subcase, seed, long=long), path, meanings=meanings)
        return start_for_owner(store, engine, owner, model, partial(request_of, form), False)

    with gr.Row(visible=False):  # a file needs components of its own to travel in
        asked = [
            gr.Textbox("", label="model"),
            gr.Number(Asked.n, label="n", precision=0),
            gr.Number(Asked.per_subcase, label="per_subcase", precision=0),
            gr.Number(Asked.seed, label="seed", precision=0),
            gr.Textbox("", label="owner"),
            gr.File(type="filepath", label="file"),
            gr.Textbox("{}", label="label_values"),
            gr.Textbox(Asked.long, label="long"),
        ]
        answered = gr.JSON(label="run")
        call = gr.Button()
    call.click(checkup, asked, answered, api_name="checkup")
