"""A cell of a file that is scored as a run: one part of it, wherever a worker is."""

from collections.abc import Iterator

from probe.analysis.batch import Row, score
from probe.analysis.fp32_sample import fp32_sample
from probe.analysis.summary import Totals
from probe.models.classifier import resolve
from probe.models.library import that_reads
from probe.runs.experiment import CellContext, Progress, Result
from probe.runs.models import load_any_unchanged
from probe.runs.run import Json
from probe.scoring.parts import ScoredPart, packed_values, read_packed_part
from probe.scoring.plan import read_plan
from probe.scoring.values import value_columns
from probe.stopping import halt


def run_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Score a part chunk by chunk. Raises ModelError, FileError, Cancelled."""
    planned, part = read_plan(plan), read_packed_part(context.part)
    request = planned.request
    loaded = load_any_unchanged(planned.model, context.model, planned.order)
    model = that_reads(loaded, request.long)
    totals, rows = Totals(model.task, request.names), list[Row]()
    for chunk in score(
        part, request.columns, model, request.names, request.seed,
        request.options, request.precision, request.chunk_rows, key["start"],
        fp32_sample(planned.rows, request.seed), request.below,
    ):  # fmt: skip
        totals.add(chunk.rows)
        rows += chunk.rows
        yield Progress({"rows": chunk.done - key["start"], "seconds": chunk.seconds})
        halt(context.stop)
    columns = value_columns(model, request.names)
    scored = ScoredPart(
        columns.values(rows), totals.state, columns.labels,
        model.name, model.revision, resolve(request.precision),
    )  # fmt: skip
    counts = {"rows": totals.rows, "scored": totals.scored}
    yield Result(counts, content=packed_values(scored))
