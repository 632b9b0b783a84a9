"""The endpoints over HTTP that start runs, made from the parameters of each kind."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from finetune.trials import inoculation
from finetune.trials.params import PARAMS, REQUIRED, Param
from finetune.trials.planning import KINDS, planned
from finetune.ui.aim import choices_of
from probe.runs.access import own_run, readable_run
from probe.runs.engine import Engine
from probe.runs.experiment import run_json
from probe.runs.run import Json, RunRequest, StoredRun
from probe.runs.store import Store
from probe.ui.api.endpoint import (
    Name,
    Names,
    Numbers,
    Real,
    Share,
    Stated,
    Switch,
    Token,
    Whole,
    endpoint,
    endpoint_of,
    over_http,
)
from probe.ui.run_tab.api import start_for_owner

TOKEN = "A token that an earlier call returned; a new one is made without."
TYPES = {str: Name, int: Whole, float: Share, bool: Switch}
"""What arguments of a type take, texts of several values apart."""


def _type(param: Param) -> Any:  # Any: a type with what it takes in words
    if param.reads:
        return Names if param.reads == "names" else Numbers
    if param.type is float and param.unit == 1:
        return Real
    return TYPES.get(param.type or str, param.type)


def _default(param: Param) -> object:
    if param.reads == "names":
        return [name for name in param.begins.split(",") if name]
    return inspect.Parameter.empty if param.begins is REQUIRED else param.begins


@over_http()
def build(
    store: Store,
    engine: Engine,
    kinds: Sequence[str],
    tells: Callable[[Store, str, StoredRun], Json | None],
) -> None:
    """Add what starts runs of some kinds, and `/run`, `/cancel` and `/again` for runs of all.

    `tells` says what would tell where an inoculation tells too little.
    """
    for kind in kinds:
        _build(store, engine, kind)

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
        if found.kind == inoculation.KIND:
            told["tells"] = tells(store, owner, found)
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


def _build(store: Store, engine: Engine, kind: str) -> None:
    params = [param for param in PARAMS[kind] if param.http]

    def start(values: dict[str, Any]) -> dict[str, Any]:  # Any: as their types have them
        warnings = list[str]()
        model, owner = values["model"], values.pop("owner")

        def request() -> RunRequest:
            asked = planned(choices_of(kind, **values), bounded=True)
            warnings.extend((*asked.notes, *asked.warnings))
            return asked.request()

        return {**start_for_owner(store, engine, owner, model, request), "warnings": warnings}

    about = "\n".join(
        [
            f"Start a run that {KINDS[kind].about}; returns its id and owner's token.",
            "",
            "Without the token nobody reads the run or uses its model. The warnings beside them",
            "are what to know of what was asked for. Lists are texts with commas between.",
        ]
    )
    # the defaults are those of HTTP, which begin with other values than a command
    arguments = [Stated(each.name, _type(each), each.help, _default(each)) for each in params]
    started = endpoint_of(start, about, [*arguments, Stated("owner", Token, TOKEN, "")])
    gr.api(started, api_name=KINDS[kind].verb)
