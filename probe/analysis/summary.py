"""What scored rows say together: agreement, confidence and accuracy, by transform and label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from probe.analysis.batch import Row
from probe.metrics import Estimate, mean, share
from probe.models.classifier import Classifier, Precision, resolve
from probe.tasks.nli import ENTAILMENT, LABELS, matches
from probe.tasks.task import Label
from probe.transforms import Options

MEASURES = ("agreement", "confidence", "accuracy", "entailed", "non_entailed")


@dataclass(frozen=True)
class Measured:
    """Agreement, confidence and accuracy over pairs; an estimate with n = 0 is not defined.

    `entailed` and `non_entailed` are the accuracies over the pairs whose own gold label is
    entailment and over the others, in two classes, as HANS and fritz report them.
    """

    agreement: Estimate
    confidence: Estimate
    accuracy: Estimate
    entailed: Estimate
    non_entailed: Estimate
    unchanged: int = 0
    inexact: int = 0


@dataclass(frozen=True)
class Summary:
    """What the rows say together, overall and by transform, each also by gold label."""

    rows: int
    scored: int
    errors: int
    cut: int
    original: Measured
    transforms: Mapping[str, Measured]
    by_label: Mapping[str, Mapping[str, Measured]]
    predicted: Mapping[str, int]


def summarise(rows: Sequence[Row], names: Sequence[str]) -> Summary:
    """Measure scored rows. A transform is measured over the rows that it changed."""
    good = [row for row in rows if row.prediction]
    groups = {
        label: [row for row in good if row.pair and row.pair.gold == label] for label in LABELS
    }
    by_label: dict[str, dict[str, Measured]] = {
        label: {"original": _original(group)} | {name: _transformed(group, name) for name in names}
        for label, group in groups.items()
        if group
    }
    said = [row.prediction.label for row in good if row.prediction]
    told = next((row.prediction.labels for row in good if row.prediction), LABELS)
    return Summary(
        len(rows),
        len(good),
        len(rows) - len(good),
        sum(row.cut for row in good),
        _original(good),
        {name: _transformed(good, name) for name in names},
        by_label,
        {label: said.count(label) for label in told},
    )


def _original(rows: Sequence[Row]) -> Measured:
    said = [(row.prediction.label, row.pair.gold) for row in rows if row.prediction and row.pair]
    confidences = [row.prediction.confidence for row in rows if row.prediction]
    return Measured(share([]), mean(confidences), *_accuracies(said))


def _transformed(rows: Sequence[Row], name: str) -> Measured:
    transformed = [one for row in rows for one in row.transformed[name]]
    changed = [one for one in transformed if one.result.changed]
    return Measured(
        share([one.agrees for one in changed]),
        mean([one.prediction.confidence for one in changed]),
        *_accuracies([(one.prediction.label, one.result.gold) for one in changed]),
        len(transformed) - len(changed),
        sum(not one.result.exact for one in changed),
    )


def _accuracies(said: Sequence[tuple[Label, Label | None]]) -> tuple[Estimate, Estimate, Estimate]:
    """Return the accuracy over all gold labels; over entailment; over the rest, in two classes."""
    golden = [(label, gold) for label, gold in said if gold]
    return (
        share([matches(label, gold) for label, gold in golden]),
        share([label == ENTAILMENT for label, gold in golden if gold == ENTAILMENT]),
        share([label != ENTAILMENT for label, gold in golden if gold != ENTAILMENT]),
    )


def summary_json(
    summary: Summary, classifier: Classifier, precision: Precision, seed: int, options: Options
) -> dict[str, Any]:
    """Return the summary as JSON values; an undefined measure is null."""
    return {
        "model": classifier.name,
        "model_revision": classifier.revision,
        "precision": resolve(precision),
        "seed": seed,
        "variant": options.variant,
        "rows": summary.rows,
        "scored": summary.scored,
        "errors": summary.errors,
        "cut": summary.cut,
        "predicted": dict(summary.predicted),
        **_measured_json(summary.original, MEASURES[1:]),
        "transforms": {name: _transform_json(m) for name, m in summary.transforms.items()},
        "by_label": {
            label: {name: _transform_json(m) for name, m in group.items()}
            for label, group in summary.by_label.items()
        },
    }


def _transform_json(measured: Measured) -> dict[str, Any]:
    return {
        "n": measured.confidence.n,
        **_measured_json(measured, MEASURES),
        "unchanged": measured.unchanged,
        "inexact": measured.inexact,
    }


def _measured_json(measured: Measured, names: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in names:
        estimate: Estimate = getattr(measured, name)
        found[name] = estimate.value if estimate.n else None
        found[f"{name}_interval"] = [estimate.low, estimate.high] if estimate.n else None
        found[f"{name}_n"] = estimate.n
    return found


def summary_frame(summary: Summary) -> pd.DataFrame:
    """Return the measures as a tidy frame: label, transform, measure, value, low, high, n.

    `label` is "all" or a gold label; the untouched pairs are the transform "original".
    """
    groups = {"all": {"original": summary.original, **summary.transforms}, **summary.by_label}
    return pd.DataFrame(
        [
            (label, name, measure, estimate.value, estimate.low, estimate.high, estimate.n)
            for label, group in groups.items()
            for name, measured in group.items()
            for measure in MEASURES
            for estimate in [getattr(measured, measure)]
        ],
        columns=["label", "transform", "measure", "value", "low", "high", "n"],
    )
