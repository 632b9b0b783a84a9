"""A check-up as a kind of run: a cell for each part."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from probe.checkup.measuring import (
    Plan,
    Subject,
    estimate_seconds,
    left_out,
    measure_part,
    plan_from,
)
from probe.checkup.report import conclude
from probe.models.bundled import title_of
from probe.models.weights import pairs_hash
from probe.runs.experiment import CellContext, Experiment, Progress, Result, earlier_results
from probe.runs.models import load_any_unchanged, named_model_hash
from probe.runs.run import Json, RunRequest, StoredRun, environment
from probe.stopping import cancelled_by
from probe.tasks.task import example_json, read_example, task_named

KIND = "checkup"
Examples = tuple[Any, ...]  # Any: the task's own


def run_stored_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Measure a part of a stored check-up.

    Raises ModelError where the model is not the one that the run began with.
    """
    yield Progress({"part": key["part"]})
    task, began = task_named(inputs["task"]), time.monotonic()
    examples = tuple(read_example(task, row) for row in inputs["examples"])
    with cancelled_by(context.stop):  # between two batches
        subject = _subject(replace(plan_from(plan), parts=()), context.model, examples)
        values = measure_part(subject, key["part"]).json
    seconds = time.monotonic() - began
    yield Result({**values, "revision": subject.model.revision, "seconds": seconds})


@lru_cache(maxsize=1)
def _subject(plan: Plan, model_hash: str, examples: Examples) -> Subject:
    """Return the model with its examples, which the parts of a run share on a worker."""
    model = load_any_unchanged(plan.opened, model_hash, plan.labels, plan.template)
    return Subject(model, examples, plan.asked)


def run_request(plan: Plan, examples: Sequence[Any]) -> RunRequest:
    """Return what the store needs to begin a check-up on examples that all have a gold label.

    Raises ModelError where the model is not there.
    """
    task = task_named(plan.task)
    facts = {
        "model": named_model_hash(plan.opened),
        "sets": {"test": {"n": len(examples), "sha256": pairs_hash(examples)}},
        "left_out": left_out(task, plan.model),
    }
    inputs = {"task": task.name, "examples": [example_json(each) for each in examples]}
    seconds = partial(estimate_seconds, plan, examples)
    return RunRequest(KIND, asdict(plan), inputs, environment(), facts, seconds)


def known_results(
    runs: Iterable[StoredRun], plan: Plan, environment: Json, artefacts: Json
) -> dict[int, Json]:
    """Return by their numbers the cells that interrupted runs have measured already.

    A run that ended well is no such: who asks again wants it measured again.
    """

    def alike(values: Json) -> bool:
        """Whether a plan differs in nothing that changes a figure."""
        other = plan_from(values)
        return replace(plan, parts=other.parts, file=other.file, reading=other.reading) == other

    return earlier_results(
        [run for run in runs if run.state != "done" and run.environment == environment],
        KIND,
        artefacts,
        alike,
        plan.parts,
        lambda key: str(key["part"]),
    )


CHECKUP = Experiment(
    kind=KIND,
    cells=lambda plan: [{"part": part} for part in plan["parts"]],
    run_cell=run_stored_cell,
    title=lambda plan: f"Check-up of {title_of(Path(plan['model']).name)}",
    brief=lambda result: {
        figure["name"]: round(figure["value"], 4) for figure in (result or {}).get("figures", ())
    },
    model=lambda plan: plan_from(plan).opened,
    conclude=lambda run, inputs: conclude(run),
    one_worker=lambda plan: True,
    form=3,  # earlier ones had fewer figures, the first neither examples nor bins
)
