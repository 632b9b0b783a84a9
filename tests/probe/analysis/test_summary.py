"""What is averaged over gold labels of two classes and of three."""

import math

from probe.analysis.summary import Counts, Measured
from probe.models.classifier import Prediction
from probe.tasks.nli import (
    CONTRADICTION,
    ENTAILMENT,
    LABELS,
    NEUTRAL,
    NLI,
    NLI_TWO_WAY,
    NON_ENTAILMENT,
    TWO_WAY,
)
from probe.tasks.task import Label, Task


def measured(task: Task, labels: tuple[Label, ...], *golds: Label) -> Measured:
    """Measure a model that says entailment of everything."""
    counts, shares = Counts(task), (1.0, *[0.0] * (len(labels) - 1))
    for gold in golds:
        counts.add(Prediction(ENTAILMENT, shares, labels), gold)
    merged = Counts(task)
    merged.merge(counts.state)
    assert merged.measured() == counts.measured()
    return counts.measured()


def test_labels_of_two_classes_and_of_three_have_no_average_but_groups() -> None:
    mixed = measured(NLI, LABELS, ENTAILMENT, NEUTRAL, NON_ENTAILMENT, CONTRADICTION)
    assert math.isnan(mixed["accuracy"].value)
    assert (mixed["entailed"].value, mixed["entailed"].n) == (1.0, 1)
    assert (mixed["non_entailed"].value, mixed["non_entailed"].n) == (0.0, 3)


def test_labels_of_either_kind_alone_have_an_average() -> None:
    for task, labels, golds in (
        (NLI, LABELS, LABELS),
        (NLI, LABELS, (ENTAILMENT, NON_ENTAILMENT)),
        (NLI_TWO_WAY, TWO_WAY, (ENTAILMENT, NEUTRAL, NON_ENTAILMENT)),
    ):
        assert measured(task, labels, *golds)["accuracy"].n == len(golds), (task.name, golds)
