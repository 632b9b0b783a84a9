"""The answers that bf16 changes: which rows are sampled, how they are counted and told."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest

from probe.analysis.batch import score
from probe.analysis.summary import LARGEST, SMALLEST, Summary, Totals, fp32_sample, fp32_words
from probe.data.source import Table
from probe.models.classifier import Precision, Prediction
from probe.reports.scored import summary_json
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.task import Task
from probe.transforms import Options
from tests.support.files.pair_files import pair_columns

WORDS = "In a sample of the rows computed in bf16 {} from fp32."


def test_each_tenth_row_or_so_of_a_file_is_sampled() -> None:
    sample = sorted(fp32_sample(1000, 7))
    assert [number // 10 for number in sample] == list(range(100))
    assert len({number % 10 for number in sample}) == 10
    assert sample == sorted(fp32_sample(1000, 7)) != sorted(fp32_sample(1000, 8))


@pytest.mark.parametrize(
    ("rows", "sampled"),
    [(0, 0), (1, 1), (SMALLEST, SMALLEST), (100, SMALLEST), (400, 40), (1_000_000, LARGEST)],
)
def test_of_small_files_more_is_sampled_and_of_large_ones_less(rows: int, sampled: int) -> None:
    assert len(fp32_sample(rows, 0)) == sampled
    assert fp32_sample(rows, 0) <= set(range(rows))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((200, 1), "1 of 200 answers differs"),
        ((200, 2), "2 of 200 answers differ"),
        ((200, 0), "0 of 200 answers differ"),
        ((1, 0), "0 of 1 answer differs"),
    ],
)
def test_a_sample_is_told_in_a_sentence(counts: tuple[int, int], words: str) -> None:
    assert fp32_words(*counts) == WORDS.format(words)


def test_without_a_sample_nothing_is_said() -> None:
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
    table = Table(pd.DataFrame(rows, columns=["premise", "hypothesis"], dtype=object), "csv")
    counted, columns = Totals(NLI, ()), pair_columns("premise", "hypothesis")
    for chunk in score(
        table, columns, Rounding(), precision=precision, largest=4, start=start, sample={1, 2, 5}
    ):
        counted.add(chunk.rows)
    return counted


def test_sampled_answers_that_differ_are_counted() -> None:
    summary = totals("bf16").summary()
    assert (summary.sampled, summary.differing) == (2, 1)
    assert shape(summary)["fp32_sample"] == {"rows": 2, "differing": 1}


def test_in_fp32_nothing_is_compared() -> None:
    summary = totals("fp32").summary()
    assert (summary.sampled, summary.differing) == (0, 0)
    assert "fp32_sample" not in shape(summary)


def test_counts_of_parts_add_up() -> None:
    several = totals("bf16")
    several.merge(totals("bf16", start=2).state)
    assert (several.summary().sampled, several.summary().differing) == (3, 1)


def shape(summary: Summary) -> dict[str, Any]:  # Any: JSON
    """Return a summary as JSON values."""
    return summary_json(summary, Rounding(), "bf16", 0, Options())
