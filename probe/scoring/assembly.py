"""The files of a scored run: its parts put together, in the order of the input."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from probe.analysis.summary import Summary, Totals
from probe.data.source import Source, open_source
from probe.errors import FileError
from probe.models.classifier import Precision
from probe.reports.summary import summary_json
from probe.runs.run import Json, StoredRun
from probe.scoring.files import Places, ScoringFiles
from probe.scoring.folder import input_file, read_values
from probe.scoring.parts import Part, ScoredPart, read_packed_values
from probe.scoring.plan import ScoringPlan, read_plan
from probe.scoring.precisions import precisions_json
from probe.scoring.values import ValueColumns
from probe.tasks.task import Task

NOTHING_YET = "no part of this file is scored yet"


@dataclass(frozen=True)
class ModelFacts:
    """What a worker said of the model by which it scored a part."""

    name: str
    revision: str | None
    task: Task


@dataclass(frozen=True)
class DonePart:
    """The rows of a part with all columns of the file, and what came of them."""

    part: Part
    scored: ScoredPart


@dataclass(frozen=True)
class Assembled:
    """What the parts of a run come to together, and as JSON values."""

    totals: Totals
    shape: dict[str, Any]  # Any: JSON


def done_parts(run: StoredRun) -> list[Json]:
    """Return the keys of the parts that are scored, in their order."""
    return [cell.key for cell in run.cells if cell.state == "done"]


def take_nothing(part: DonePart) -> None:
    """Leave a part to the files."""


def assemble(
    run: StoredRun, places: Places, take: Callable[[DonePart], None] = take_nothing
) -> Assembled:
    """Write the files of a run with the parts that are scored; return what these come to.

    One part at a time is in memory; `take` is given each, in the order of the file. Raises
    FileError where there are none, or the run's file is gone.
    """
    plan, done = read_plan(run.plan), done_parts(run)
    if not done:
        raise FileError(NOTHING_YET)
    source = open_source(input_file(plan.folder, plan.file), options=plan.request.reading)
    parts = _parts(plan, source, done)
    first, names = next(parts), plan.request.names
    columns = ValueColumns(first.scored.labels, plan.task, names, plan.request.long)
    files = ScoringFiles(source, columns, first.scored.model, places, plan.request.guard)
    totals, precisions = Totals(plan.task, names), Counter[str]()
    for part in chain([first], parts):
        files.add(part.part.rows, part.scored.values)
        totals.merge(part.scored.totals)
        precisions[part.scored.precision] += len(part.part.rows)
        take(part)
    files.finish()
    shape = _summary_json(totals.summary(), first.scored, plan)
    shape |= precisions_json(precisions) | files.variants_json() | {"forms": files.forms}
    files.clean()
    return Assembled(totals, shape)


def _parts(plan: ScoringPlan, source: Source, done: Sequence[Json]) -> Iterator[DonePart]:
    """Yield the parts that are done, one at a time in memory."""
    records, known = source.records(), {key["start"] for key in done}
    for key in plan.parts:
        part = Part(source.names, list(islice(records, key["rows"])))
        if key["start"] in known:
            scored = read_packed_values(read_values(plan.folder, key))
            columns = ValueColumns(scored.labels, plan.task, plan.request.names, plan.request.long)
            yield DonePart(part, replace(scored, values=columns.completed(scored.values)))


def _summary_json(
    summary: Summary, part: ScoredPart, plan: ScoringPlan
) -> dict[str, Any]:  # Any: JSON
    model = ModelFacts(part.model, part.revision, plan.task)
    precision: Precision = "bf16" if part.precision == "bf16" else "fp32"
    request = plan.request
    return summary_json(summary, model, precision, request.seed, request.options)
