"""What is shown of a run of any kind: its state, how far it is, its cells."""

import time
from collections.abc import Mapping

from markupsafe import Markup

from probe.runs.experiment import run_json
from probe.runs.run import OPEN, AnyRun, Json, State, StoredRun
from probe.runs.store import renewed_of
from probe.text.duration import duration
from probe.ui.html.elements import NOTHING, alert, each, heads, join, meter, note, table

SYMBOLS: Mapping[State, str] = {
    "queued": "·",
    "running": "▶",
    "done": "✓",
    "cancelled": "–",
    "failed": "✕",
}
STATES: Mapping[str, str] = {
    "queued": "Waiting",
    "running": "Running",
    "cancelling": "Stopping",
    "cancelled": "Stopped",
    "failed": "Failed",
    "done": "Finished",
}


def state_of(run: AnyRun) -> str:
    """Return a run's state in a word."""
    return "cancelling" if run.cancelling and run.state in OPEN else run.state


def state_in_words(run: AnyRun) -> str:
    """Return a run's state as a person would say it."""
    return STATES[state_of(run)]


def worked(run: AnyRun) -> float:
    """Return for how many seconds a run has worked since it began or was taken up again."""
    return (run.finished or time.time()) - run.started if run.started else 0.0


def took(run: AnyRun) -> str:
    """Return how long a run has worked since it began or was taken up again, in words."""
    return duration(worked(run)) if run.started else ""


def under_way(run: AnyRun, name: str, far: str, cells: Markup) -> Markup:
    """Show a run that is open or ended early: its state, how far it is in words, its cells."""
    return Markup(
        '<div class="under-way"><div class="strip"><b>{}: {}</b><span class="grow"></span>'
        '<span class="tiny soft num">{}</span></div>{}{}{}{}</div>'
    ).format(
        state_in_words(run),
        name,
        far,
        meter(f"how far {name} is", len(run.results) / len(run.cells)),
        alert(run.error) if run.error else NOTHING,
        renewed(run),
        cells,
    )


def renewed(run: AnyRun) -> Markup:
    """Say that parts of an earlier version are computed again, or were."""
    words = renewed_of(run)
    return note(f"{words}.") if words else NOTHING


def cells_table(run: StoredRun) -> Markup:
    """Show the cells of a run of any kind in a table."""
    keys = list(run.cells[0].key) if run.cells else []
    rows = [_row(cell, keys) for cell in run_json(run)["cells"]]
    return table("cells", heads([*keys, "state", "result"]), join(rows))


def _row(cell: Json, keys: list[str]) -> Markup:
    state = f"{SYMBOLS[cell['state']]} {cell['state']}"
    others = {name: cell[name] for name in cell if name not in (*keys, "state", "error")}
    result = [
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in others.items()
        if value is not None
    ]
    texts = [*(cell[name] for name in keys), state, cell["error"] or ", ".join(result)]
    return Markup("<tr>{}</tr>").format(each(Markup("<td>{}</td>"), texts))
