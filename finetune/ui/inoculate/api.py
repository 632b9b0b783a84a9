"""The Inoculate tab's endpoints over HTTP."""

from typing import Any

import gradio as gr

from finetune.trials.inoculation import KIND, inoculation_run
from finetune.ui import endpoints
from finetune.ui.inoculate.telling import Telling
from probe.runs.access import own_run, readable_run
from probe.runs.engine import Engine
from probe.runs.experiment import run_json
from probe.runs.store import Store
from probe.ui.api.arguments import Name, Token
from probe.ui.api.endpoint import endpoint, over_http


@over_http()
def build(store: Store, engine: Engine, telling: Telling) -> None:
    """Add `/inoculate`, `/run`, `/cancel` and `/again`, which take runs of all kinds."""

    endpoints.build(store, engine, KIND)

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

    gr.api(run, api_name="run", concurrency_id="poll")
    gr.api(cancel_run, api_name="cancel")
    gr.api(run_again, api_name="again")
