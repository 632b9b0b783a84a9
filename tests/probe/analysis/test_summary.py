"""Rows summed up: labels of two classes and three, sums of an earlier version, bf16 in a sample."""

import json
import math
from dataclasses import replace
from statistics import fmean, stdev

import pytest

from probe.analysis.batch import Row
from probe.analysis.summary import (
    LARGEST,
    SMALLEST,
    Counts,
    Measured,
    Totals,
    fp32_sample,
    fp32_words,
    measures,
    summarise,
    summary_json,
)
from probe.analysis.transformed import transform_all
from probe.models.classifier import Classifier, Prediction
from probe.statistics import mean
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
from probe.tasks.reading import READING
from probe.tasks.task import Label, Task
from probe.transforms import Options
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import shared


def measured(task: Task, labels: tuple[Label, ...], *golds: Label) -> Measured:
    """Measure a model that says entailment of everything."""
    counts, shares = Counts(task), (1.0, *[0.0] * (len(labels) - 1))
    for gold in golds:
        counts.add(Prediction(ENTAILMENT, shares, labels), gold)
    merged = Counts(task)
    assert "clusters" not in counts.state  # each value is of its own text
    merged.merge(counts.state)
    assert merged.measured() == counts.measured()
    return counts.measured()


def test_labels_of_two_classes_and_of_three_together_have_no_average_but_groups() -> None:
    mixed = measured(NLI, LABELS, ENTAILMENT, NEUTRAL, NON_ENTAILMENT, CONTRADICTION)
    assert math.isnan(mixed["accuracy"].value)
    assert (mixed["entailed"].value, mixed["entailed"].n) == (1.0, 1)
    assert (mixed["non_entailed"].value, mixed["non_entailed"].n) == (0.0, 3)
    for task, labels, golds in (
        (NLI, LABELS, LABELS),
        (NLI, LABELS, (ENTAILMENT, NON_ENTAILMENT)),
        (NLI_TWO_WAY, TWO_WAY, (ENTAILMENT, NEUTRAL, NON_ENTAILMENT)),
    ):
        assert measured(task, labels, *golds)["accuracy"].n == len(golds), (task.name, golds)


def test_equal_texts_are_asked_about_once(classifier: Classifier) -> None:
    pairs = [Pair("A dog sat.", "sat"), Pair("A dog sat.", "sat here")]
    answers = classifier.predict(pairs)
    made = transform_all(classifier, pairs, answers, ["sort", "reverse"])
    (kept, sorted_), (kept_too, turned) = ([each.prediction for (each,) in made[n]] for n in made)
    assert kept is kept_too is answers[0] and sorted_ is turned is not answers[1]


def test_draws_are_averaged_and_told_apart_also_where_parts_add_up(classifier: Classifier) -> None:
    pairs = tiny_pairs(12)
    answers, asked = classifier.predict(pairs), Options(draws=3)
    made = transform_all(classifier, pairs, answers, ["shuffle", "sort"], 7, options=asked)
    rows = [
        Row(at, NLI, pair, said, {name: of_each[at] for name, of_each in made.items()})
        for at, (pair, said) in enumerate(zip(pairs, answers, strict=True))
    ]
    whole, merged = Totals(NLI, ["shuffle", "sort"]), Totals(NLI, ["shuffle", "sort"])
    whole.add(rows)
    for part in (rows[:5], rows[5:]):
        some = Totals(NLI, ["shuffle", "sort"])
        some.add(part)
        merged.merge(json.loads(json.dumps(some.state)))
    for totals in (whole, merged):
        found = totals.summary().transforms
        for measure in ("agreement", "entropy"):
            alone = [
                summarise(
                    [replace(row, transformed={"shuffle": (one,)}) for row, one in own],
                    ["shuffle"],
                    NLI,
                )
                for draw in range(3)
                for own in [[(row, row.transformed["shuffle"][draw]) for row in rows]]
            ]
            values = [each.transforms["shuffle"][measure].value for each in alone]
            assert found["shuffle"][measure].value == pytest.approx(fmean(values))
            assert found["shuffle"].spreads[measure] == pytest.approx(stdev(values))
        assert (found["shuffle"]["agreement"].n, found["sort"].spreads) == (12, {})
    seeds = [[one.result.seed for one in row] for row in made["shuffle"]]
    assert seeds == [[7, 8, 9]] * 12 and all(len(row) == 1 for row in made["sort"])


def test_several_changes_of_a_text_are_told_apart_from_several_texts() -> None:
    def counted(texts: int, each: int) -> Counts:
        counts = Counts(NLI)
        for at in range(texts * each):
            sure = (0.9, 0.1, 0.0) if at // each % 2 else (0.1, 0.9, 0.0)
            counts.add(Prediction(LABELS[sure.index(0.9)], sure, LABELS), ENTAILMENT, at // each)
        return counts

    alone, several = counted(60, 1), counted(20, 3)
    again = Counts(NLI)
    again.merge(json.loads(json.dumps(several.state)))
    older = Counts(NLI)  # a version that did not tell them apart
    older.merge({name: each for name, each in several.state.items() if name != "clusters"})
    for name in ("accuracy", "entailed"):
        wide, narrow = several.measured()[name], alone.measured()[name]
        assert (wide.value, wide.n) == (narrow.value, narrow.n)
        assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
        assert vars(again.measured()[name]) == pytest.approx(vars(wide))
        assert vars(older.measured()[name]) == pytest.approx(vars(narrow))


def test_entropy_is_none_where_a_model_is_sure_and_all_where_it_is_not() -> None:
    for chances, value in (((1.0, 0.0, 0.0), 0.0), ((1 / 3,) * 3, 1.0), ((0.5, 0.5), 1.0)):
        said = Prediction("entailment", chances, LABELS[: len(chances)])
        assert said.entropy == pytest.approx(value)
    assert "entropy" not in measures(READING)
    old = Counts(NLI)  # an earlier version counted none
    old.merge({name: each for name, each in Counts(NLI).state.items() if name != "entropy"})
    assert old.measured()["entropy"].n == 0


def test_sums_of_an_earlier_version_are_read() -> None:
    """They were whole numbers in units of 2 ** -200 and of its square."""
    whole, old = [(1 << 200) * quarters // 4 for quarters in (2, 3, 4)], Counts(NLI)
    sums = [sum(whole), sum(each * each for each in whole), 3]
    old.merge({**Counts(NLI).state, "confidence": sums, "f1": [0, 0, 0]})
    assert vars(old.shares["confidence"].mean()) == pytest.approx(vars(mean([0.5, 0.75, 1.0])))


def test_each_tenth_row_or_so_is_sampled_of_small_files_more_and_of_large_ones_less() -> None:
    sample = sorted(fp32_sample(1000, 7))
    assert [number // 10 for number in sample] == list(range(100))
    assert len({number % 10 for number in sample}) == 10
    assert sample == sorted(fp32_sample(1000, 7)) != sorted(fp32_sample(1000, 8))
    sizes = {0: 0, 1: 1, SMALLEST: SMALLEST, 100: SMALLEST, 400: 40, 1_000_000: LARGEST}
    assert {rows: len(fp32_sample(rows, 0)) for rows in sizes} == sizes
    assert all(fp32_sample(rows, 0) <= {*range(rows)} for rows in sizes)
    for counts, words in (
        ((200, 1), "1 of 200 answers differs"),
        ((200, 2), "2 of 200 answers differ"),
        ((200, 0), "0 of 200 answers differ"),
        ((1, 0), "0 of 1 answer differs"),
    ):
        expected = f"in a sample of the rows {words} from those with 32 bits (fp32)."
        assert fp32_words(*counts).endswith(expected)
    assert fp32_words(0, 0) == ""


def test_sampled_answers_that_differ_are_counted() -> None:
    told, totals = Prediction("neutral", (0.2, 0.5, 0.3), LABELS), Totals(NLI, ())
    totals.add(
        Row(at, NLI, Pair("A.", "B."), told, fp32=fp32)
        for at, fp32 in enumerate(("neutral", "entailment", None))
    )
    merged = Totals(NLI, ())
    for _ in range(2):  # counts of parts add up
        merged.merge(json.loads(json.dumps(totals.state)))
    for several, counts in ((totals, (2, 1)), (merged, (4, 2)), (Totals(NLI, ()), (0, 0))):
        summary = several.summary()
        shape = summary_json(summary, shared(), "bf16", 0, Options()).get("fp32_sample")
        assert shape == ({"rows": counts[0], "differing": counts[1]} if counts[0] else None)
