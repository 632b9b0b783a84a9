"""Starting inoculations that belong together: a sweep over models and challenges."""

import secrets
from collections.abc import Mapping, Sequence

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import InoculationRun, Plan, inoculation_run, run_request
from probe.runs.access import check_kept_models, start_runs
from probe.runs.engine import Engine
from probe.runs.run import environment
from probe.runs.store import Store


def start_sweep(
    store: Store,
    engine: Engine,
    owner: str,
    jobs: Sequence[tuple[Plan, Sets]],
    sources: Mapping[str, str],
) -> tuple[InoculationRun, ...]:
    """Store a run for each job and hand them to the engine. Raises a sentence for the person."""
    check_kept_models(store, owner, len(jobs))
    ran_on, files = environment(), {"sources": dict(sources)} if sources else {}
    artefacts = {"sweep": secrets.token_hex(6)} | files
    requests = [run_request(plan, sets, ran_on, artefacts) for plan, sets in jobs]
    return tuple(inoculation_run(run) for run in start_runs(store, engine, owner, requests))
