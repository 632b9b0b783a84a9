"""Models as the command line names them, with a warning where their labels seem wrong."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import typer

from probe.errors import ModelError
from probe.models.classifier import Classifier
from probe.models.errors import UnclearLabels, UnclearTask
from probe.models.library import AnyModel, load, load_any
from probe.models.user_models import notes_of, open_model
from probe.tasks.task import read_labels, task_named


def opened(name: str, labels: str = "", task: str = "") -> AnyModel:
    """Load a model, for the named task if one is named; warn where its labels seem wrong.

    Raises ModelError and LabelError.
    """
    with naming_options():
        asked = task_named(task) if task else None
        loaded = open_model(name, read_labels(labels, asked), asked)
    warn(loaded.warnings)
    return loaded.model


def loaded_any(name: str, labels: str = "", task: str = "") -> AnyModel:
    """Load a model of any task, without a look at whether its labels seem wrong."""
    with naming_options():
        asked = task_named(task) if task else None
        model = load_any(name, read_labels(labels, asked), asked)
    warn(notes_of(model))
    return model


def loaded(name: str, labels: str = "", task: str = "") -> Classifier:
    """Load a model as `opened` does, without a look at whether its labels seem wrong."""
    with naming_options():
        asked = task_named(task) if task else None
        model = load(name, read_labels(labels, asked), asked)
    warn(notes_of(model))
    return model


def warn(warnings: Iterable[str]) -> None:
    """Say on standard error what a person should know."""
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)


@contextmanager
def naming_options() -> Iterator[None]:
    """Say by which option a person answers what a model's config leaves open."""
    try:
        yield
    except UnclearLabels as unclear:
        raise ModelError(f"{unclear} (the option is --labels)") from unclear
    except UnclearTask as unclear:
        raise ModelError(f"{unclear} (the option is --task)") from unclear


def all_opened(names: Sequence[str], labels: Sequence[str], task: str = "") -> list[AnyModel]:
    """Load models; `labels` are of the form MODEL=LABELS. Raises ModelError and LabelError."""
    orders = dict(_named(text, names) for text in labels)
    return [opened(name, orders.get(name, ""), task) for name in names]


def _named(text: str, names: Sequence[str]) -> tuple[str, str]:
    name, _, order = text.rpartition("=")
    if name not in names:
        raise ModelError(f"--labels {text!r} is not of the form MODEL=LABELS with a --model's name")
    return name, order
