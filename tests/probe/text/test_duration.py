"""Durations in words."""

from probe.text.duration import duration, duration_words


def test_a_time_is_said_as_a_person_would_and_an_estimate_without_single_seconds() -> None:
    for say, words in (
        (duration_words, {2: "about 10 s", 44: "about 40 s", 179: "about 3 min"}),
        (duration_words, {9000: "about 2.5 h"}),
        (duration, {2.4: "2 s", 89: "89 s", 1140: "19 min", 9000: "2.5 h"}),
    ):
        assert {seconds: say(seconds) for seconds in words} == words
