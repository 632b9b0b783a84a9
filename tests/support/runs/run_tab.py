"""A tab of inoculations, through the frame of all tabs of runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.errors import ExperimentError
from probe.runs.run import StoredRun
from probe.tasks.task import Task
from probe.ui.run_tab.entry import RunTab

PLAN = Plan("minilm", "negation", (6,), (1e-3,), (0,))


def run_tab(sets: Sets) -> RunTab:
    """Return a tab whose form is a size and a file; 0 is refused."""

    def plan(model: str, size: float) -> Plan:
        if not size:
            raise ExperimentError("give at least one size")
        return Plan(model, "negation", (int(size),), (1e-3,), (0,))

    def written(runs: Sequence[StoredRun], folder: Path) -> list[Path]:
        (folder / "ids.txt").write_text(" ".join(run.id for run in runs), encoding="utf-8")
        return [folder / "ids.txt"]

    def offered(task: Task) -> list[Any]:
        return [gr.Number(label=f"Size for {task.name}"), gr.skip()]

    return RunTab(
        id="trial",
        kinds=("inoculation",),
        hint="A tab to try.",
        head="New trial",
        fields=lambda: [gr.Number(6, label="Size", elem_id="trial-size")],
        settings=lambda: [gr.File(label="File")],
        offered=offered,
        requests=lambda model, size, file: [run_request(plan(model, size), sets)],
        forecast=lambda model, size, file: Markup("{}").format(plan(model, size).sizes),
        group=lambda run: f"all of {run.plan['model']}",
        title=lambda run: f"negation on {run.plan['model']}",
        results=lambda runs: Markup("<p>{}</p>").format(", ".join(run.id for run in runs)),
        files=written,
    )
