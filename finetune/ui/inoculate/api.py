"""The Inoculate tab's endpoints over HTTP."""

from typing import Any

import gradio as gr

from finetune.training.recipes import Mode
from finetune.trials.inoculation import fast_notes
from finetune.trials.inoculation_plan import KIND, THRESHOLDS, inoculation_run
from finetune.ui.inoculate.plan_fields import DEFAULT_PLAN, DEFAULT_SIZES
from finetune.ui.inoculate.plan_form import LIMIT_FIELDS, USUAL_RATE, Form, jobs_of
from finetune.ui.inoculate.start import start_sweep
from finetune.ui.inoculate.telling import Telling
from probe.models.library import require_on_disk
from probe.runs.access import hidden_models, new_owner, own_run, readable_run
from probe.runs.engine import Engine
from probe.runs.experiment import run_json
from probe.runs.store import Store
from probe.ui.api.arguments import Name, Numbers, Switch, Token, Whole
from probe.ui.api.endpoint import endpoint

STANDARD_LIMITS = tuple(
    getattr(THRESHOLDS, name) * unit for name, (_, unit) in LIMIT_FIELDS.items()
)


def build(store: Store, engine: Engine, telling: Telling) -> None:
    """Add `/inoculate`, `/run`, `/cancel` and `/again`."""

    @endpoint
    def inoculate(
        model: Name,
        challenge: Name,
        sizes: Numbers = ", ".join(DEFAULT_SIZES),
        lrs: Numbers = USUAL_RATE,
        seeds: Numbers = "0",
        mode: Mode = "fast",
        max_epochs: Whole = DEFAULT_PLAN.max_epochs,
        patience: Whole = DEFAULT_PLAN.patience,
        include_epoch0: Switch = DEFAULT_PLAN.include_epoch0,
        owner: Token = "",
    ) -> dict[str, Any]:
        """Start a run on the bundled examples of a model's task; returns its id and owner's token.

        Without the token nobody reads the run or uses its model. The warnings beside them say what
        fast mode is known to find otherwise than full mode, or that this was not measured.

        Args:
            model: A model of any task that the page offers.
            challenge: A challenge that the page offers for the model's task.
            sizes: Numbers of examples, with commas between; all is one.
            lrs: Learning rates, with commas between; usual is the model's own.
            seeds: Whole numbers from 0, with commas between.
            mode: fast, only the upper layers learn, or full, as published.
            max_epochs: How many epochs a cell takes at most.
            patience: After how many epochs without gain a cell ends.
            include_epoch0: Whether the model as it was may be the best epoch.
            owner: A token that an earlier call returned; a new one is made without.
        """
        visitor = owner or new_owner()
        require_on_disk(model, hidden_models(store, visitor))
        form = Form(
            [model], [challenge], sizes, lrs, seeds, mode, max_epochs, patience, None,
            include_epoch0, STANDARD_LIMITS,
        )  # fmt: skip
        jobs = jobs_of(form)
        (run,) = start_sweep(store, engine, visitor, jobs, {})
        warnings = list(fast_notes([plan for plan, _ in jobs]))
        return {"run": run.id, "owner": visitor, "warnings": warnings}

    @endpoint
    def run(run_id: Name, owner: Token = "") -> dict[str, Any]:
        """Return a run: its state, its cells with their accuracies, its verdict, what would tell.

        Where the verdict is too little to tell, `tells` holds the arguments of /inoculate that
        would, with the seconds that takes on one core; it is null where no run would.

        Args:
            run_id: The id that /inoculate returned.
            owner: The token that came with it.
        """
        found = readable_run(store, owner, run_id)
        told = run_json(found)
        if found.kind == KIND:
            told["tells"] = telling.facts(owner, inoculation_run(found))
        return told

    @endpoint
    def cancel_run(run_id: Name, owner: Token = "") -> dict[str, Any]:
        """Cancel a run; returns it as it then stands, which may be on its way to the end.

        Args:
            run_id: The id that /inoculate returned.
            owner: The token that came with it.
        """
        own_run(store, owner, run_id)
        engine.cancel(run_id)
        return run_json(own_run(store, owner, run_id))

    @endpoint
    def run_again(run_id: Name, owner: Token = "") -> dict[str, Any]:
        """Take up a failed or cancelled run with the cells it lacks; returns it as it then is.

        Args:
            run_id: The id that /inoculate returned.
            owner: The token that came with it.
        """
        own_run(store, owner, run_id)
        engine.reopen(run_id)
        return run_json(own_run(store, owner, run_id))

    gr.api(inoculate, api_name="inoculate")
    gr.api(run, api_name="run", concurrency_id="poll")
    gr.api(cancel_run, api_name="cancel")
    gr.api(run_again, api_name="again")
