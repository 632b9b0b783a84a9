"""What the Generalise tab calls skills, what varies, and runs: plain words without code names."""

from collections.abc import Mapping
from pathlib import Path

from finetune.training.recipes import mode_words
from finetune.trials.generalisation import FILE, GRIDS, grids, phenomena
from probe.models.bundled import title_of
from probe.runs.run import StoredRun
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.templates.grammar import grammar

PLAIN: Mapping[str, str] = {
    "numerical": "Numbers",
    "dative": "Give and receive",
    FILE: "From your own file",
}
"""Skills that have a plainer title than their templates."""


def skill_title(name: str) -> str:
    """Return what a skill is called."""
    return PLAIN.get(name) or grammar(name).title


def skills(task: Task) -> tuple[str, ...]:
    """Return the skills of a task, the first for a newcomer; the templates are inference's."""
    of_templates = sorted(phenomena(), key=lambda name: name != "numerical")
    return (*of_templates, FILE) if task is NLI else (FILE,)


def place(run: StoredRun) -> int:
    """Return the place of a run's skill among those offered, behind them where it is a file's."""
    names = skills(NLI)
    return names.index(run.plan["phenomenon"]) if run.plan["phenomenon"] in names else len(names)


def skill_choices(task: Task) -> list[tuple[str, str]]:
    """Return (title, name) of the skills of a task."""
    return [(skill_title(name), name) for name in skills(task)]


def varied(skill: str) -> tuple[str, ...]:
    """Return what may vary in a skill, nothing where a file's column says it."""
    return () if skill == FILE else grids(skill)


def vary_choices(skill: str) -> list[tuple[str, str]]:
    """Return (title, name) of what may vary in a skill."""
    return [(GRIDS[name].title, name) for name in varied(skill)]


def subject(run: StoredRun) -> str:
    """Say what a run is about: the skill and what varies, on which model."""
    plan = run.plan
    model = title_of(Path(plan["model"]).name)
    if plan["vary"] == FILE:
        return f"{plan['phenomenon']} (own file) on {model}"
    return f"{skill_title(plan['phenomenon'])} by {GRIDS[plan['vary']].title.lower()} on {model}"


def run_title(run: StoredRun) -> str:
    """Name an own run in plain words."""
    return f"{subject(run)}, {mode_words(run.plan['mode'])}"
