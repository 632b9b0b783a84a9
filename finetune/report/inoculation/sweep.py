"""Several runs looked at together: their lines, their panels, their points in one table."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean

import pandas as pd

from finetune.experiments.inoculation.challenges import title_of
from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.curves import (
    Panel,
    PanelStyle,
    counter_tests_in,
    curve_frame,
    style_for,
)
from finetune.training.recipes import mode_words
from probe.models import bundled
from probe.runs.gallery import OWNER
from probe.tasks.task import Task, task_named
from probe.transforms import REGISTRY

SCORES = ("original", "challenge", "dev", "control")
ROW_ANSWERS = ("original_right", "challenge_right")
"""What a point holds: mean scores, and how right each test row was."""


def model_name(run: InoculationRun) -> str:
    """Return the model's name without the folders of its path."""
    return Path(run.plan.model).name


def model_title(run: InoculationRun) -> str:
    """Return what a person calls a run's model."""
    return bundled.title_of(model_name(run))


def task_of(run: InoculationRun) -> Task:
    """Return the task of a run's model and examples."""
    return task_named(run.plan.task)


def measure_of(runs: Sequence[InoculationRun]) -> str:
    """Return what the scores of some runs are called."""
    named = (run.artefacts.get("measure", task_of(run).measure) for run in runs)
    return " or ".join(dict.fromkeys(named))


@lru_cache(maxsize=256)
def _title(challenge: str, task: Task) -> str:
    return title_of(challenge, task)


def challenge_title(run: InoculationRun) -> str:
    """Return what a person calls the challenge of a run."""
    return _title(run.plan.challenge, task_of(run))


def run_label(run: InoculationRun) -> str:
    """Return what tells a run from another of the same model and challenge."""
    return OWNER if run.owner == OWNER else f"{mode_words(run.plan.mode)}, {run.id}"


def line_names(runs: Sequence[InoculationRun]) -> dict[str, str]:
    """Return each run's name in a figure by its id: the model, or more where two are alike."""
    count = Counter((model_name(run), run.plan.challenge) for run in runs)
    return {
        run.id: model_title(run)
        if count[model_name(run), run.plan.challenge] == 1
        else f"{model_title(run)} ({run_label(run)})"
        for run in runs
    }


def panel_titles(runs: Sequence[InoculationRun]) -> dict[str, str]:
    """Return the name of each run's panel by its id: the challenge, and the task of several."""
    several = len({run.plan.task for run in runs}) > 1
    return {
        run.id: f"{run.plan.challenge} ({run.plan.task})" if several else run.plan.challenge
        for run in runs
    }


def by_panel(runs: Sequence[InoculationRun]) -> dict[str, list[InoculationRun]]:
    """Return the runs with points of each panel: of one challenge and one task."""
    titles, runs_of = panel_titles(runs), dict[str, list[InoculationRun]]()
    for run in runs:
        if run.results:
            runs_of.setdefault(titles[run.id], []).append(run)
    return runs_of


def frames(runs: Sequence[InoculationRun], selection: Selection) -> dict[str, pd.DataFrame]:
    """Return the rows of each panel."""
    names = line_names(runs)
    return {
        title: pd.concat(
            [curve_frame(run.results, selection, names[run.id], task_of(run)) for run in drawn],
            ignore_index=True,
        )
        for title, drawn in by_panel(runs).items()
    }


def baselines_of(runs: Sequence[InoculationRun]) -> dict[str, float]:
    """Return the rule baselines in percent where one run is drawn; among several they crowd."""
    shares: Mapping[str, float] = runs[0].verdict.get("baselines", {}) if len(runs) == 1 else {}
    return {name.replace("_", " "): 100 * share for name, share in shares.items()}


def panels(
    runs: Sequence[InoculationRun], selection: Selection, size: tuple[int, int]
) -> tuple[dict[str, Panel], PanelStyle]:
    """Return the panels on one axis, and the look they share.

    Of one challenge there is room for what rules reach and for the goal.
    """
    frames_of, rules = frames(runs, selection), baselines_of(runs)
    together = pd.concat(frames_of.values()) if frames_of else curve_frame(())
    style = replace(style_for(together, rules), size=size)
    drawn = {
        name: Panel(frame, sizes_of(runs, name), rules, goal=len(frames_of) == 1)
        for name, frame in frames_of.items()
    }
    return drawn, style


def counter_titles(drawn: Iterable[Panel]) -> dict[str, str]:
    """Return the titles of the counter-tests that panels show, by name."""
    names = dict.fromkeys(name for panel in drawn for name in counter_tests_in(panel.frame))
    return {name: REGISTRY[name].title for name in names}


def sizes_of(runs: Sequence[InoculationRun], title: str) -> tuple[int, ...]:
    """Return the sizes that the runs of a panel have or will have."""
    titles = panel_titles(runs)
    return tuple(size for run in runs if titles[run.id] == title for size in run.plan.sizes)


def points_frame(runs: Sequence[InoculationRun]) -> pd.DataFrame:
    """Return a row for each finished cell of each run; `on_` are mean scores from 0 to 1."""
    rows = []
    for run in runs:
        about = {"run": run.id, "model": model_name(run), "challenge": run.plan.challenge}
        for point in run.results:
            facts = asdict(point)
            cell, *bits = (facts.pop(name) for name in ("cell", *ROW_ANSWERS))
            counts = dict(zip(("n_original", "n_challenge"), map(len, bits), strict=True))
            scores = {f"on_{name}": facts.pop(name) for name in SCORES}
            tests = facts.pop("counter_tests")
            scores |= {f"on_{name}": fmean(rows_of) for name, rows_of in tests.items()}
            settings = {"mode": run.plan.mode, **cell}
            rows.append({**about, **settings, **scores, **counts, **facts, "task": run.plan.task})
    return pd.DataFrame(rows)
