"""Rows of training files that are no example: each way of reading them counts and says them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from finetune.cli.train import dev_sets, examples_of
from finetune.cli.trials import told
from finetune.training.data import read_pairs
from finetune.trials.challenges import file_sets
from finetune.trials.datasets import SourceData
from finetune.trials.generalisation import read_conditions
from probe.cli.file_options import labelled_and_told
from probe.data.file_options import AS_THE_FILE_TELLS
from probe.tasks.nli import ENTAILMENT, NEUTRAL, NLI, NON_ENTAILMENT, Pair
from probe.tasks.task import IN_COMMON
from tests.support.models.tiny_bert import tiny_pairs

ASKED = told(AS_THE_FILE_TELLS)
ROWS = """premise,hypothesis,label,condition,split
A man sits.,A man is there.,entailment,one,train
A man runs.,A man sits.,contradiction,two,test
A man eats.,He is at home.,neutral,,
A man eats.,He is here.,,one,train
A man eats.,He is out.,-,two,test
,He is out.,neutral,two,test
"""
READ = "3 of 6 rows are left out: 1 without a gold label, 1 on whose label the annotators disagree"
SOURCE = SourceData(tiny_pairs(3), tiny_pairs(3), tiny_pairs(3))
WAYS: dict[str, tuple[Callable[[Path], object], str]] = {
    "training": (lambda path: examples_of(path, NLI, AS_THE_FILE_TELLS), READ),
    "without labels": (
        lambda path: examples_of(path, NLI, AS_THE_FILE_TELLS, needs_gold=False),
        "1 of 6 rows are left out: 1 without a text that can be read",
    ),
    "check-up": (lambda path: labelled_and_told(path, NLI, AS_THE_FILE_TELLS), READ),
    "repair": (lambda path: read_pairs(path, NLI, ASKED), READ),
    "generalisation": (lambda path: read_conditions(path, "condition", NLI, ASKED), READ),
    "no condition": (
        lambda path: read_conditions(path, "condition", NLI, ASKED),
        "1 rows are left out, of which 'condition' names no condition",
    ),
    "no split": (
        lambda path: file_sets(SOURCE, "mine", path, ASKED),
        "1 rows are left out, of which 'split' says neither train nor what is tested on",
    ),
}


def test_rows_that_are_left_out_are_counted_with_their_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(ROWS)
    for way, (read, words) in WAYS.items():
        read(path)
        assert words in capsys.readouterr().err, way


def test_a_dev_set_of_two_and_of_three_classes_is_measured_in_two_and_named_so() -> None:
    mixed = [Pair("a", "b", gold) for gold in (ENTAILMENT, NON_ENTAILMENT, NEUTRAL)]
    sets = dev_sets([Path("dev.csv")], lambda _: mixed, NLI)
    (rows,) = sets.values()
    assert list(sets) == [f"dev {IN_COMMON}"]
    assert [pair.gold for pair in rows] == [ENTAILMENT, NON_ENTAILMENT, NON_ENTAILMENT]
