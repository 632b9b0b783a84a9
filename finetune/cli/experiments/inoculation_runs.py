"""An inoculation computed for the command line."""

from collections.abc import Callable
from functools import partial

from finetune.experiments.inoculation.datasets import Sets
from finetune.experiments.inoculation.plan import Plan
from finetune.experiments.inoculation.run import (
    InoculationRun,
    inoculation_run,
    known_results,
    run_request,
)
from finetune.experiments.inoculation.serialise import epoch_from, point_from
from finetune.report.inoculation.progress import row_text
from probe.cli.compute import compute_run
from probe.runs.environment import environment
from probe.runs.experiment import Progress, Result
from probe.runs.models import named_model_hash
from probe.runs.run import Json, StoredRun


def compute_inoculation(
    plan: Plan,
    sets: Sets,
    sources: Json,
    in_process: bool,
    on_result: Callable[[InoculationRun], None] | None = None,
) -> InoculationRun:
    """Compute an inoculation as `compute_run` does. Raises ModelError besides."""
    request = run_request(plan, sets, environment(), {"model": named_model_hash(plan.model)})
    if sources:
        request.artefacts["sources"] = sources
    known = partial(known_results, plan=plan, artefacts=request.artefacts)

    def listen(run: StoredRun) -> None:
        if on_result is not None:
            on_result(inoculation_run(run))

    return inoculation_run(compute_run(request, known, _row_text, in_process, listen))


def _row_text(key: Json, row: Progress | Result) -> str:
    read = point_from if isinstance(row, Result) else epoch_from
    return row_text(read(key, row.values))
