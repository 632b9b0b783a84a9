"""Durations in words."""

import pytest

from probe.text.duration import duration, duration_words


@pytest.mark.parametrize(
    ("wait", "text"),
    [(2, "about 10 s"), (44, "about 40 s"), (179, "about 3 min"), (9000, "about 2.5 h")],
)
def test_a_wait_is_said_as_a_person_would(wait: float, text: str) -> None:
    assert duration_words(wait) == text


@pytest.mark.parametrize(
    ("seconds", "words"), [(2.4, "2 s"), (89, "89 s"), (1140, "19 min"), (9000, "2.5 h")]
)
def test_a_long_time_is_not_told_in_seconds(seconds: float, words: str) -> None:
    assert duration(seconds) == words
