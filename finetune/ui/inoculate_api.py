"""The Inoculate tab's endpoints over HTTP."""

from typing import Any

import gradio as gr

from finetune.experiments.inoculation.plan import THRESHOLDS
from finetune.training.recipes import Mode
from finetune.ui.plan_fields import DEFAULT_PLAN, DEFAULT_SIZES
from finetune.ui.plan_form import LIMIT_FIELDS, USUAL_RATE, Form, jobs_of
from finetune.ui.start import start_sweep
from probe.errors import UserError
from probe.runs.compute.engine import Engine
from probe.runs.experiment import run_json
from probe.runs.store import Store
from probe.ui.choices import require_choice

STANDARD_LIMITS = tuple(
    getattr(THRESHOLDS, name) * unit for name, (_, unit) in LIMIT_FIELDS.items()
)


def build(store: Store, engine: Engine) -> None:
    """Add `/inoculate`, `/run`, `/cancel` and `/again`."""

    def inoculate(
        model: str,
        challenge: str,
        sizes: str = DEFAULT_SIZES,
        lrs: str = USUAL_RATE,
        seeds: str = "0",
        mode: str = "fast",
        max_epochs: int = DEFAULT_PLAN.max_epochs,
        patience: int = DEFAULT_PLAN.patience,
        include_epoch0: bool = DEFAULT_PLAN.include_epoch0,
    ) -> dict[str, Any]:
        """Start a run on the bundled pairs; returns its id, which the other endpoints ask for."""
        exact: Mode = require_choice("mode", mode, Mode)
        form = Form(
            [model], [challenge], sizes, lrs, seeds, exact, max_epochs, patience, None,
            include_epoch0, STANDARD_LIMITS,
        )  # fmt: skip
        try:
            (run,) = start_sweep(store, engine, "api", jobs_of(form), {})
        except UserError as trouble:
            raise gr.Error(str(trouble)) from trouble
        return {"run": run.id}

    def run(run_id: str) -> dict[str, Any]:
        """Return a run: its state, its cells with their accuracies, its verdict."""
        try:
            return run_json(store.get(run_id))
        except UserError as trouble:
            raise gr.Error(str(trouble)) from trouble

    def cancel_run(run_id: str) -> dict[str, Any]:
        """Cancel a run; returns it as it stands."""
        answer = run(run_id)
        engine.cancel(run_id)
        return answer

    def run_again(run_id: str) -> dict[str, Any]:
        """Take up a failed or cancelled run with the cells it lacks; returns it as it stands."""
        answer = run(run_id)
        engine.reopen(run_id)
        return answer

    gr.api(inoculate, api_name="inoculate")
    gr.api(run, api_name="run", concurrency_id="poll")
    gr.api(cancel_run, api_name="cancel")
    gr.api(run_again, api_name="again")
