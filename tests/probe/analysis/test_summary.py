"""Rows summed up: labels of two classes and three, sums of an earlier version, bf16 in a sample."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest

from probe.analysis.batch import score
from probe.analysis.summary import (
    LARGEST,
    SMALLEST,
    Counts,
    Measured,
    Totals,
    fp32_sample,
    fp32_words,
)
from probe.data.rows import of_frame
from probe.models.classifier import Precision, Prediction
from probe.reports.scored import summary_json
from probe.tasks.nli import (
    CONTRADICTION,
    ENTAILMENT,
    LABELS,
    NEUTRAL,
    NLI,
    NLI_TWO_WAY,
    NON_ENTAILMENT,
    TWO_WAY,
    Pair,
)
from probe.tasks.task import Label, Task
from probe.transforms import Options
from tests.support.files.pair_files import pair_columns


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


def test_sums_of_an_earlier_version_are_read() -> None:
    """They were whole numbers in units of 2 ** -200 and of its square."""
    values, unit = (0.5, 0.75, 1.0), 1 << 200
    old, new = Counts(NLI), Counts(NLI)
    whole = [int(value * 4) * unit // 4 for value in values]
    sums = [sum(whole), sum(each * each for each in whole), len(values)]
    old.merge({**new.state, "confidence": sums, "f1": [0, 0, 0]})
    for value in values:
        new.confidence.add(value)
    assert vars(old.confidence.estimate()) == pytest.approx(vars(new.confidence.estimate()))


def test_each_tenth_row_or_so_is_sampled_of_small_files_more_and_of_large_ones_less() -> None:
    sample = sorted(fp32_sample(1000, 7))
    assert [number // 10 for number in sample] == list(range(100))
    assert len({number % 10 for number in sample}) == 10
    assert sample == sorted(fp32_sample(1000, 7)) != sorted(fp32_sample(1000, 8))
    sizes = {0: 0, 1: 1, SMALLEST: SMALLEST, 100: SMALLEST, 400: 40, 1_000_000: LARGEST}
    assert {rows: len(fp32_sample(rows, 0)) for rows in sizes} == sizes
    assert all(fp32_sample(rows, 0) <= {*range(rows)} for rows in sizes)


def test_a_sample_is_told_in_a_sentence() -> None:
    for counts, words in (
        ((200, 1), "1 of 200 answers differs"),
        ((200, 2), "2 of 200 answers differ"),
        ((200, 0), "0 of 200 answers differ"),
        ((1, 0), "0 of 1 answer differs"),
    ):
        expected = f"In a sample of the rows computed in bf16 {words} from fp32."
        assert fp32_words(*counts) == expected
    assert fp32_words(0, 0) == ""


@dataclass(frozen=True)
class Rounding:
    """A model that bf16 brings from neutral to entailment where the hypothesis is odd."""

    name: str = "rounding"
    revision: str | None = None
    task: Task = NLI

    def predict(self, examples: Sequence[Any], precision: Precision = "fp32") -> list[Prediction]:
        """Answer by the hypothesis and the precision."""
        changed = [precision == "bf16" and int(each.hypothesis) % 2 for each in examples]
        return [
            Prediction("entailment" if each else "neutral", (0.5, 0.5, 0.0), LABELS)
            for each in changed
        ]

    def too_long(self, example: Pair) -> bool:
        """Read every example whole."""
        return False


def totals(precision: Precision, start: int = 0) -> Totals:
    """Score twelve rows from one on, of which the sample has 1, 2 and 5; row 5 has no premise."""
    rows = [("" if number == 5 else "A man.", str(number)) for number in range(12)]
    table = of_frame(pd.DataFrame(rows, columns=["premise", "hypothesis"], dtype=object), "csv")
    counted, columns = Totals(NLI, ()), pair_columns("premise", "hypothesis")
    for chunk in score(
        table, columns, Rounding(), precision=precision, largest=4, start=start, sample={1, 2, 5}
    ):
        counted.add(chunk.rows)
    return counted


def test_sampled_answers_that_differ_are_counted_in_bf16_alone() -> None:
    several = totals("bf16")
    for summary, counts in (
        (totals("bf16").summary(), (2, 1)),
        (totals("fp32").summary(), (0, 0)),
    ):
        assert (summary.sampled, summary.differing) == counts
        told = summary_json(summary, Rounding(), "bf16", 0, Options()).get("fp32_sample")
        assert told == ({"rows": 2, "differing": 1} if counts[0] else None)
    several.merge(totals("bf16", start=2).state)  # counts of parts add up
    assert (several.summary().sampled, several.summary().differing) == (3, 1)
