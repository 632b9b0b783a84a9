"""Durations in words."""

import pytest

from probe.reports.duration import duration_words


@pytest.mark.parametrize(
    ("wait", "text"),
    [(2, "about 10 s"), (44, "about 40 s"), (179, "about 3 min"), (9000, "about 2.5 h")],
)
def test_a_wait_is_said_as_a_person_would(wait: float, text: str) -> None:
    assert duration_words(wait) == text
