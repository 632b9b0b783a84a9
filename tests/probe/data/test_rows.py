"""Labelled rows: which column is which, and why a row is no example."""

import pytest

from probe.data.rows import guess, read_row
from probe.errors import DisputedLabel, ExampleError, FileError, LimitError
from probe.limits import Bounds
from probe.tasks.nli import NLI, Pair
from tests.support.files.pair_files import pair_columns

GUESSED: list[tuple[list[str], tuple[str, ...]]] = [
    (["premise", "hypothesis"], ("premise", "hypothesis")),
    (["id", " Premise ", "HYPOTHESIS", "Label"], (" Premise ", "HYPOTHESIS", "Label")),
    (["sentence1", "sentence2", "gold_label"], ("sentence1", "sentence2", "gold_label")),
    (["text_a", "text_b", "answer"], ("text_a", "text_b", "answer")),
    (["label", "gold_label", "s1", "s2"], ("s1", "s2", "gold_label")),
    (["sentence1", "premise", "claim"], ("premise", "claim")),
]


def test_columns_are_guessed_by_their_names() -> None:
    for names, columns in GUESSED:
        assert guess(names, NLI) == pair_columns(*columns), names


def test_columns_that_cannot_be_guessed_are_named() -> None:
    with pytest.raises(
        FileError,
        match=r"^no columns 'premise' and 'hypothesis' in your file; it has: text, label$",
    ):
        guess(["text", "label"], NLI)


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(FileError, match=r"^no column 'c' in your file; it has: a, b$"):
        pair_columns("a", "b", "c").check(["a", "b"])


def test_a_row_is_an_example_named_by_its_number() -> None:
    row = read_row(NLI, 7, {"premise": "A.", "hypothesis": "B."}, "e")
    assert (row.example, row.error) == (Pair("A.", "B.", "entailment", "7"), "")


def test_a_row_with_two_problems_says_the_label_first() -> None:
    row = read_row(NLI, 0, {"premise": None, "hypothesis": "B."}, "-")
    assert row.example is None
    assert [type(problem) for problem in row.problems] == [DisputedLabel, ExampleError]
    assert row.error == "no gold label: the annotators did not agree ('-')"


def test_a_text_longer_than_is_read_is_the_error_of_its_row() -> None:
    bounds = Bounds(max_text=4)
    rows = [read_row(NLI, 0, {"premise": "A.", "hypothesis": "b" * n}, "e", bounds) for n in (4, 5)]
    assert rows[0].example == Pair("A.", "bbbb", "entailment", "0")
    assert rows[1].example is None
    assert [type(problem) for problem in rows[1].problems] == [LimitError]
    assert rows[1].error.startswith("the hypothesis has 5 characters, and at most 4 are read here")
