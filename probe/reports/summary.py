"""A summary of scored rows as JSON values and as a tidy frame."""

from collections.abc import Sequence
from typing import Any, Protocol

import pandas as pd

from probe.analysis.legibility import (
    cut_words,
    language_words,
    unknown_words,
    unspaced_words,
    window_words,
)
from probe.analysis.summary import ORIGINAL, Measured, Summary, measures
from probe.models.classifier import Precision, resolve
from probe.tasks.task import Task
from probe.transforms import Options


class Named(Protocol):
    """What a summary says of a model: its name, its revision on the hub, and its task."""

    @property
    def name(self) -> str:
        """The name of the model."""

    @property
    def revision(self) -> str | None:
        """The revision on the hub, None for a local folder."""

    @property
    def task(self) -> Task:
        """The task that it answers."""


def summary_json(
    summary: Summary, model: Named, precision: Precision, seed: int, options: Options
) -> dict[str, Any]:
    """Return the summary as JSON values; an undefined measure is null."""
    names = measures(model.task)
    return {
        "model": model.name,
        "model_revision": model.revision,
        "precision": resolve(precision),
        "seed": seed,
        "variant": options.variant,
        "rows": summary.rows,
        "scored": summary.scored,
        "errors": summary.errors,
        "cut": summary.cut,
        "windowed": summary.windowed,
        "unknown": summary.unknown,
        "languages": dict(summary.languages),
        "notes": notes(summary, options),
        **_fp32_json(summary),
        "predicted": dict(summary.predicted),
        **_measured_json(summary.original, names[1:], model.task),
        "transforms": {
            name: _transform_json(measured, names, model.task)
            for name, measured in summary.transforms.items()
        },
        "by_label": {
            label: {
                name: _transform_json(measured, names, model.task)
                for name, measured in group.items()
            }
            for label, group in summary.by_label.items()
        },
    }


def notes(summary: Summary, options: Options) -> list[str]:
    """Return sentences on what the figures rest on: languages, unknown words, texts cut."""
    said = (
        language_words(summary.languages, summary.scored, list(summary.transforms), options),
        unknown_words(summary.unknown, summary.scored),
        cut_words(summary.cut, summary.scored),
        window_words(summary.windowed, summary.scored),
        unspaced_words(summary.unspaced, summary.scored)
        if summary.transforms or "f1" in summary.original.estimates
        else "",
    )
    return list(filter(None, said))


def _fp32_json(summary: Summary) -> dict[str, Any]:
    """Return how many sampled answers bf16 changes, nothing where none was given in both."""
    if not summary.sampled:
        return {}
    return {"fp32_sample": {"rows": summary.sampled, "differing": summary.differing}}


def _transform_json(measured: Measured, names: Sequence[str], task: Task) -> dict[str, Any]:
    return {
        "n": measured["confidence"].n,
        **_measured_json(measured, names, task),
        "unchanged": measured.unchanged,
        "inexact": measured.inexact,
        "not_applicable": measured.not_applicable,
    }


def _measured_json(measured: Measured, names: Sequence[str], task: Task) -> dict[str, Any]:
    """Return the measures by name; the accuracy of spans is their exact match, em."""
    shape: dict[str, Any] = {}
    for measure in names:
        estimate = measured[measure]
        name = "em" if measure == "accuracy" and task.has_spans else measure
        shape[name] = estimate.value if estimate.n else None
        shape[f"{name}_interval"] = [estimate.low, estimate.high] if estimate.n else None
        shape[f"{name}_n"] = estimate.n
    return shape


def summary_frame(summary: Summary) -> pd.DataFrame:
    """Return the measures as a tidy frame: label, transform, measure, value, low, high, n.

    `label` is "all" or a gold label; the untouched examples are the transform "original". Behind n
    stands how many rows a transform for English does not apply to.
    """
    groups = {"all": {ORIGINAL: summary.original, **summary.transforms}, **summary.by_label}
    return pd.DataFrame(
        [
            (
                *(label, name, measure, estimate.value, estimate.low, estimate.high, estimate.n),
                measured.not_applicable,
            )
            for label, group in groups.items()
            for name, measured in group.items()
            for measure, estimate in measured.estimates.items()
        ],
        columns=["label", "transform", "measure", "value", "low", "high", "n", "not_applicable"],
    )
