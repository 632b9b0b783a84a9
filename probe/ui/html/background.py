"""The files that are scored in the background: how far each is, and what can be done with it."""

from collections.abc import Sequence

from markupsafe import Markup

from probe.runs.experiment import run_title
from probe.runs.run import OPEN, STOPPED, StoredRun
from probe.text.duration import duration
from probe.ui.html.elements import NOTHING, join
from probe.ui.html.run import took, under_way

BUTTON = Markup('<button type="button" class="btn" data-cell="{}:{}"{}>{}</button>')
DISABLED = Markup(" disabled")


def background_runs(runs: Sequence[StoredRun]) -> Markup:
    """Show runs, the newest first, each with its buttons."""
    return join(under_way(run, run_title(run), _far(run), _buttons(run)) for run in runs)


def _far(run: StoredRun) -> str:
    """Say how many rows are done, and about how long the others still take."""
    total, done = run.plan["rows"], _rows_done(run)
    words = [f"{done:,} of {total:,} rows"]
    if run.started:
        words.append(took(run))
    per_second = _per_second(run)
    if run.state == "running" and not run.cancelling and per_second:
        words.append(f"about {duration((total - done) / per_second)} left")
    return " · ".join(words)


def _per_second(run: StoredRun) -> float:
    """Return how many rows are scored in a second where this is known, 0 where it is not.

    Parts that are scored at the same time are as fast as those before them.
    """
    timed = [cell.progress for cell in run.cells if cell.progress and "seconds" in cell.progress]
    seconds = sum(progress["seconds"] for progress in timed)
    running = sum(cell.state == "running" for cell in run.cells)
    rows = sum(progress["rows"] for progress in timed)
    return max(1, running) * rows / seconds if seconds else 0.0


def _rows_done(run: StoredRun) -> int:
    """Count the rows of parts that are done, and of those that are being scored."""
    told = (cell.result or cell.progress or {} for cell in run.cells)
    return sum(values.get("rows", 0) for values in told)


def _buttons(run: StoredRun) -> Markup:
    """Offer what can be done; a Stop that was pressed keeps its place until the run has stopped."""
    offered = list[Markup]()
    if run.state in OPEN:
        asked = DISABLED if run.cancelling else NOTHING
        offered.append(BUTTON.format("stop", run.id, asked, "Stop"))
    if run.state in STOPPED:
        offered.append(BUTTON.format("go-on", run.id, NOTHING, "Go on"))
    if run.results:
        done = "Show the result" if run.state == "done" else "Show what is done"
        offered.append(BUTTON.format("take", run.id, NOTHING, done))
    return Markup('<div class="strip">{}</div>').format(join(offered)) if offered else NOTHING
