"""Exact match and F1 on cases worked by hand."""

import pytest

from probe.tasks.reading import best, normalised, same_span, token_f1
from tests.support.each import each


@each(
    ("text", "expected"),
    [
        ("The Eiffel Tower", "eiffel tower"),
        ("  an  old,\tgrey mill! ", "old grey mill"),
        ("U.S.", "us"),
        ("theatre and a band", "theatre and band"),
        ("the", ""),
    ],
)
def test_case_punctuation_articles_and_blanks_do_not_count(text: str, expected: str) -> None:
    assert normalised(text) == expected


@each(
    ("answer", "reference", "expected"),
    [
        ("the old mill", "old stone mill", 0.8),  # 2 of 2 and 2 of 3 words
        ("in 1850", "1850", 2 / 3),  # 1 of 2 and 1 of 1
        ("mill mill", "mill", 2 / 3),  # the second is not there twice
        ("Anna Weber", "anna weber.", 1.0),
        ("Rome", "Paris", 0.0),
        ("", "Paris", 0.0),
        ("the", "a", 0.0),
        ("北京大学", "在北京。", 4 / 7),  # 2 of 4 and 2 of 3 characters; marks are none
    ],
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(
    answer: str, reference: str, expected: float
) -> None:
    assert token_f1(answer, reference) == pytest.approx(expected)


def test_the_best_of_several_references_counts() -> None:
    references = ["Paris", "the old mill", "in Rome"]
    assert best("old mill", references, token_f1) == 1.0
    assert best("Rome", references, token_f1) == pytest.approx(2 / 3)
    assert best("Rome", references, same_span) == 0.0
    assert best("Rome", [], token_f1) == 0.0
