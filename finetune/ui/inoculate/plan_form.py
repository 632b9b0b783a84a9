"""The form of the Inoculate tab: what is typed there, read into plans and sets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from finetune.training.data import Asked
from finetune.training.recipes import MODES, Mode, default_rate
from finetune.trials.base import numbers
from finetune.trials.challenges import (
    MAX_PAIRS,
    UserFiles,
    bundled_sets,
    challenges,
    read_unchecked_sets,
)
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import fast_notes
from finetune.trials.inoculation_plan import (
    Plan,
    Thresholds,
    cell_count,
    check,
    read_sizes,
    resolved,
)
from probe import limits
from probe.data.hub_dataset import source_name
from probe.data.names import stem_of
from probe.errors import ExperimentError, UserError
from probe.first_import import first_import
from probe.limits import visitor_bounds
from probe.models import bundled
from probe.models.library import AnyModel, require_on_disk, task_of_model
from probe.tasks.task import Task, offered_tasks, task_named
from probe.terms import capitalised
from probe.text.duration import duration_words
from probe.ui.html.elements import alert, join, note

LIMIT_FIELDS: Mapping[str, tuple[str, float]] = {
    "gap": ("Outcome 0: gap below, points", 100),
    "drop": ("Outcome 3: lost on original, points", 100),
    "cured": ("Outcome 1: closed from, %", 100),
    "uncured": ("Outcome 2: closed below, %", 100),
    "majority": ("Warn of one label from, %", 100),
    "damage": ("Warn of lost dev, points", 100),
    "tests": ("Warn of tests below", 1),
}
"""What each threshold is called on the page, and its unit there."""
USUAL_RATE = "usual"
"""Stands for the learning rate to begin with, by model and mode."""
UPLOADS: Mapping[str, str] = {
    "original-dev": "Original dev (early stopping)",
    "original-test": "Original test",
    "challenge-file": "Challenge in one file",
    "challenge-train": "Challenge to train on",
    "challenge-test": "Challenge to test on",
}
"""What each file is called on the page, by its option on the command line, in their order."""
FIELDS_BEFORE_LIMITS, FILE_COUNT = 10, len(UPLOADS)
"""Fields of the form before its thresholds, and files after them."""


@dataclass(frozen=True)
class Form:
    """What the page's fields hold, in their order; a field that was emptied holds None.

    `files` are in the order of UPLOADS.
    """

    models: Sequence[str]
    challenges: Sequence[str]
    sizes: str
    lrs: str
    seeds: str
    mode: Mode
    max_epochs: float | None
    patience: float | None
    batch: float | None
    include_epoch0: bool
    limits: tuple[float | None, ...]
    files: tuple[str | None, ...] = (None,) * FILE_COUNT
    own_name: str = ""
    own_train: float | None = MAX_PAIRS


def form_of(*values: Any) -> Form:  # Any: what the components hold
    """Return the form of the page's values, where thresholds and files lie flat among the rest.

    The numbers of examples are chips there, a text here.
    """
    limits = FIELDS_BEFORE_LIMITS + len(LIMIT_FIELDS)
    files = limits + FILE_COUNT
    rest = (
        tuple(values[FIELDS_BEFORE_LIMITS:limits]),
        tuple(values[limits:files]),
        *values[files:],
    )
    models, challenges, sizes, *others = values[:FIELDS_BEFORE_LIMITS]
    return Form(models, challenges, ", ".join(sizes), *others, *rest)


def plans_of(form: Form) -> tuple[Plan, ...]:
    """Return a plan for each model and challenge, each of no more cells than a visitor may have.

    Raises ExperimentError, ModelError, LimitError.
    """
    if not form.models:
        raise ExperimentError("choose at least one model")
    if not challenges_of(form):
        raise ExperimentError("choose at least one challenge, or upload your own challenge")
    for model in form.models:
        require_on_disk(model)
    plans = tuple(
        _plan(form, model, challenge)
        for challenge in challenges_of(form)
        for model in dict.fromkeys(form.models)
    )
    limits.check("max_cells", max(map(cell_count, plans)))
    return plans


def challenges_of(form: Form) -> tuple[str, ...]:
    """Return the challenges by name; uploaded files are one challenge and the only one."""
    if not any(form.files[2:]):
        return tuple(dict.fromkeys(form.challenges))
    uploaded = next(path for path in form.files[2:] if path)
    name = form.own_name.strip() or stem_of(Path(uploaded))
    if any(name in challenges(task) for task in offered_tasks()):
        raise ExperimentError(f"there is a challenge called {name} already; give yours a name")
    return (name,)


def _plan(form: Form, model: str, challenge: str) -> Plan:
    return Plan(
        model,
        challenge,
        read_sizes("Sizes", form.sizes),
        rates_of(form.lrs, model, form.mode),
        numbers("Seeds", form.seeds, int),
        mode=form.mode,
        batch=None if not form.batch else int(form.batch),
        max_epochs=int(_number("Epochs at most", form.max_epochs)),
        patience=int(_number("Patience", form.patience)),
        include_epoch0=form.include_epoch0,
        thresholds=_thresholds(form),
        task=task_of_model(model).name,
    )


def rates_of(text: str, model: str, mode: Mode) -> tuple[float, ...]:
    """Read learning rates; the word, or none, is the one to begin with."""
    if text.strip().lower() in ("", USUAL_RATE):
        return (default_rate(model, mode),)
    return numbers("Learning rates", text, float)


def _number(name: str, value: float | None) -> float:
    if value is None:
        raise ExperimentError(f"{name} is empty; give a number")
    return value


def _thresholds(form: Form) -> Thresholds:
    shares = {
        name: round(_number(title, value) / unit, 6)
        for (name, (title, unit)), value in zip(LIMIT_FIELDS.items(), form.limits, strict=True)
    }
    return Thresholds(**{**shares, "tests": int(shares["tests"])})  # type: ignore[arg-type]  # one of them is a whole number


def sources_of(form: Form) -> dict[str, str]:
    """Return the names of files by the option they have on the command line."""
    files = {
        option: source_name(Path(path))
        for option, path in zip(UPLOADS, form.files, strict=True)
        if path
    }
    drawn = "challenge-file" in files and form.own_train
    return files | ({"train": f"{form.own_train:.0f}"} if drawn else {})


def sets_of(form: Form, challenge: str, task: Task) -> Sets:
    """Return the sets of one challenge for a task. Raises a sentence for the person."""
    dev, test, whole, train, test_file = (Path(path) if path else None for path in form.files)
    if not any(form.files):
        return bundled_sets_once(challenge, task)
    if whole and (train or test_file):
        raise ExperimentError("upload one challenge file or two, not all three")
    if bool(train) != bool(test_file):
        raise ExperimentError("upload both challenge files, to train on and to test on, or neither")
    files = UserFiles(
        original_dev=dev,
        original_test=test,
        challenge=whole,
        challenge_train=train,
        challenge_test=test_file,
        train=int(_number("Pairs to train on", form.own_train)) if whole else MAX_PAIRS,
        asked=Asked(bounds=visitor_bounds()),
    )
    return read_unchecked_sets(challenge, files, task)


@lru_cache(maxsize=16)
def bundled_sets_once(challenge: str, task: Task) -> Sets:
    """Return the sets made from a task's bundled examples, once."""
    return bundled_sets(challenge, task)


def jobs_of(form: Form) -> tuple[tuple[Plan, Sets], ...]:
    """Return each plan with its sets, all of them checked. Raises a sentence for the person."""
    plans = plans_of(form)
    asked = {(plan.challenge, plan.task) for plan in plans}
    sets = {(name, task): sets_of(form, name, task_named(task)) for name, task in asked}
    both = [(plan, sets[plan.challenge, plan.task]) for plan in plans]
    jobs = tuple((resolved(plan, sets), sets) for plan, sets in both)
    for job in jobs:
        check(*job)
    return jobs


def seconds_of(plan: Plan, sets: Sets, model: AnyModel | None) -> float:
    """Return what `inoculation_seconds` does."""
    with first_import:
        from finetune.trials.duration import inoculation_seconds

    return inoculation_seconds(plan, sets, model)


def forecast(
    *values: object, loaded: Callable[[str], AnyModel | None] = lambda name: None
) -> Markup:
    """Say about how long the sweep takes, or what is wrong with the plan.

    The sets of the first challenge stand for those of all: they are about as large. A model that is
    `loaded` is not loaded once more.
    """
    with first_import:
        from finetune.trials.duration import overflow_note

    try:
        form = form_of(*values)
        named = challenges_of(form)
        first = [plan for plan in plans_of(form) if plan.challenge == named[0]]
        all_sets = [sets_of(form, named[0], task_named(plan.task)) for plan in first]
        plans = [resolved(plan, sets) for plan, sets in zip(first, all_sets, strict=True)]
        jobs = list(zip(plans, all_sets, strict=True))
        check(*jobs[0])
        timed = [(*job, loaded(job[0].model)) for job in jobs]
        wait = len(named) * sum(seconds_of(*job) for job in timed)
        crowded = join(alert(warning) for job in timed if (warning := overflow_note(*job)))
        known = join(map(alert, fast_notes(plans_of(form))))
    except UserError as trouble:
        return alert(trouble)
    several = len(named) * len(plans)
    runs = f"{several} runs: " if several > 1 else ""
    rates = "; ".join(
        f"{bundled.title_of(Path(plan.model).name)} {', '.join(f'{lr:g}' for lr in plan.lrs)}"
        for plan in plans
    )
    trainings = len(named) * sum(cell_count(plan) - 1 for plan in plans)
    wait_words = f"{runs}{duration_words(wait)} for {trainings} trainings on one core."
    about = f"{capitalised(wait_words)} You may close the page."
    return (
        note(about) + note(f"{MODES[form.mode].summary} Learning rate: {rates}.") + known + crowded
    )
