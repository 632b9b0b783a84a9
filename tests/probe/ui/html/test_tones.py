"""The colours of labels."""

import pytest

from probe.ui.html.prediction import tone


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("entailment", "first"),
        ("neutral", "middle"),
        ("contradiction", "last"),
        ("non-entailment", "last"),
        ("paraphrase", "first"),
        ("non-paraphrase", "last"),
        ("positive", "first"),
        ("negative", "last"),
        ("no label at all", "middle"),
        ("invalid", "invalid"),
    ],
)
def test_a_labels_colour_is_that_of_its_place_in_its_task(label: str, expected: str) -> None:
    assert tone(label) == expected
