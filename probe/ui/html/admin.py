"""What the admin sees: the app's load, and the runs of all visitors."""

import time
from collections.abc import Mapping, Sequence
from hashlib import sha256

from markupsafe import Markup

from probe.runs.experiment import run_title
from probe.runs.run import StoredRun
from probe.ui.html.elements import card, each, heads, join, note, table, title
from probe.ui.html.run import state_of

COLUMNS = ("run", "owner", "what", "state", "cells", "started")
SHOWN_RUNS = 200


def load_table(load: Mapping[str, str]) -> Markup:
    """Show the load, a line each."""
    lines = [
        Markup('<tr><th scope="row">{}</th><td>{}</td></tr>').format(*it) for it in load.items()
    ]
    return card(title("Load", 2) + table("load", heads(["", "now"]), join(lines)))


def runs_table(runs: Sequence[StoredRun]) -> Markup:
    """Show the newest runs, a line each; an owner is eight characters that tell nobody's token."""
    lines = [Markup("<tr>{}</tr>").format(each(Markup("<td>{}</td>"), _facts(run))) for run in runs]
    more = f"The newest {SHOWN_RUNS} of {len(runs)}. " if len(runs) > SHOWN_RUNS else ""
    about = note(f"{more}Runs with the same owner come from the same browser.")
    if not runs:
        return card(title("Runs of all visitors", 2) + note("No runs."))
    listed = table("runs", heads(COLUMNS), join(lines[:SHOWN_RUNS]))
    return card(title("Runs of all visitors", 2) + about + listed)


def _facts(run: StoredRun) -> list[str]:
    started = time.strftime("%d %b %H:%M", time.localtime(run.created))
    cells = f"{len(run.results)} of {len(run.cells)}"
    return [run.id, short_owner(run.owner), run_title(run), state_of(run), cells, started]


def short_owner(owner: str) -> str:
    """Return the beginning of the hash of an owner's token."""
    return sha256(owner.encode()).hexdigest()[:8]
