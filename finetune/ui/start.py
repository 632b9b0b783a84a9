"""Starting runs: what a form asks for is checked as a whole, stored and handed to the engine."""

import secrets
from collections.abc import Mapping, Sequence

from finetune.experiments.inoculation.plan import Plan
from finetune.experiments.inoculation.sets import Sets
from probe.errors import ExperimentError
from probe.runs.engine import Engine
from probe.runs.serialise import environment
from probe.runs.store import OPEN, Run, Store

OPEN_RUNS = 20  # of one browser at a time: four models on five challenges


def start(
    store: Store,
    engine: Engine,
    owner: str,
    jobs: Sequence[tuple[Plan, Sets]],
    sources: Mapping[str, str],
) -> tuple[Run, ...]:
    """Store a run for each job and hand them to the engine. Raises a sentence for the person."""
    still = sum(run.state in OPEN for run in store.runs(owner))
    if still + len(jobs) > OPEN_RUNS:
        raise ExperimentError(
            f"{still} of your runs are still going and {len(jobs)} more would pass {OPEN_RUNS}; "
            "wait, cancel some or choose less"
        )
    facts, files = environment(), {"sources": dict(sources)} if sources else {}
    together = {"sweep": secrets.token_hex(6)} | files
    runs = tuple(store.create(owner, plan, sets, facts, together) for plan, sets in jobs)
    for run in runs:
        engine.submit(run.id)
    return runs
