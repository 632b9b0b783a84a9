"""What a tab shows of the runs that are looked at: how far they are, what they came to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.runs.gallery import OWNER
from probe.runs.run import OPEN, StoredRun
from probe.text.duration import duration_words
from probe.ui.html.earlier_weights import earlier_weights
from probe.ui.html.elements import NOTHING, join, note, twin
from probe.ui.html.run import GOES_ON, cells_table, state_in_words, took, under_way, worked
from probe.ui.run_tab.controls import Controls
from probe.ui.run_tab.entry import RunTab

EMPTY = Markup('<div class="card empty"><h3>{}</h3><p>{}</p></div>')
FIRST_STEP = EMPTY.format(
    "The first step is under way", "What comes of it stands here as soon as it ends."
)
WAITING = EMPTY.format(
    "Waiting for its turn",
    "The first step begins by itself, and what comes of it stands here as soon as it ends.",
)
NO_STEP = EMPTY.format("No step ended", "Take the run up again, or start another.")


@dataclass
class Outputs(Controls):
    """What the page shows, in the order of the tab's outputs; what is not given stays."""

    results: Any = field(default_factory=gr.skip)  # Any: text, or one of gradio's updates
    progress: Any = field(default_factory=gr.skip)
    under_way: Any = field(default_factory=gr.skip)
    seen: Any = field(default_factory=gr.skip)
    ended: Any = field(default_factory=gr.skip)


def show(entry: RunTab, owner: str, runs: Sequence[StoredRun], seen: str = "") -> Outputs:
    """Return what the page shows of runs; results that it has `seen` are not drawn again."""
    going = [run for run in runs if run.owner != OWNER and run.state != "done"]
    mark = "|".join(f"{run.id} {len(run.results)} {run.state} {bool(run.verdict)}" for run in runs)
    outputs = Outputs(
        progress=progress(entry, going),
        under_way=gr.Column(visible=bool(going)),
        seen=mark,
    )
    outputs.offer(owner, runs)
    if mark != seen or not runs:
        outputs.results = results(entry, runs)
    return outputs


def results(entry: RunTab, runs: Sequence[StoredRun]) -> Markup:
    """Show what runs came to, or what will stand there."""
    begun = [run for run in runs if run.results]
    if begun:
        ready_made = [
            (run.plan["model"], run.artefacts["model"]) for run in begun if run.owner == OWNER
        ]
        return earlier_weights(ready_made) + entry.results(begun)
    if any(run.state == "running" for run in runs):
        return FIRST_STEP
    if any(run.state in OPEN for run in runs):
        return WAITING
    return NO_STEP if runs else EMPTY.format(*entry.empty)


def progress(entry: RunTab, runs: Sequence[StoredRun]) -> Markup:
    """Show how far runs are that are open or ended early."""
    lines = join(
        under_way(run, entry.title(run), how_far(run), twin("each step", cells_table(run)))
        for run in runs
    )
    return lines + (note(GOES_ON) if any(run.state in OPEN for run in runs) else NOTHING)


def told(entry: RunTab, runs: Sequence[StoredRun]) -> Markup:
    """Return what is told of the runs in the browser's title, and at their end."""
    state = "running" if any(run.state in OPEN for run in runs) else "finished"
    words = "; ".join(
        f"{state_in_words(run)}: {entry.title(run)} · {steps_done(run)}" for run in runs
    )
    return Markup('<span data-state="{}" data-title="{}"></span>').format(state, words)


def steps_done(run: StoredRun) -> str:
    """Say how many steps are done."""
    return f"{len(run.results)} of {len(run.cells)} steps"


def how_far(run: StoredRun) -> str:
    """Say how many steps are done, how long it took and about how long it still takes."""
    left = seconds_left(run) if run.state == "running" else 0.0
    parts = [steps_done(run), took(run), f"{duration_words(left)} left" if left >= 1 else ""]
    return " · ".join(part for part in parts if part)


def seconds_left(run: StoredRun) -> float:
    """Return about how long a run still takes, 0 where that cannot be told.

    The others are taken to last as long as those that are done, or longer where the one under way
    does. A run that was taken up again has passed at least what its steps took.
    """
    if not run.results:
        return 0.0
    done, spent = len(run.results), math.fsum(each.get("seconds", 0.0) for each in run.results)
    passed = max(spent, worked(run))
    return max(spent / done, passed / (done + 1)) * len(run.cells) - passed
