"""A class at a lesson: thirty visitors guess at the same moment."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from probe.runs.store import Store
from probe.surveys.survey import guesses, guesses_frame, record_guess, start_class
from tests.support.pages.visitors import ME
from tests.support.runs.annotation import person

STEPS = ("one", "two", "three")
PEOPLE = 30


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


def test_thirty_guesses_at_once_are_all_counted_and_each_once(store: Store) -> None:
    survey = start_class(store, ME, "Salad", "word_salad", "nli", "minilm")

    def guess(number: int) -> None:
        for step in STEPS:
            for again in (0, 1):  # a second guess changes nothing
                record_guess(store, survey, person(number), step, (number + again) % 4)

    with ThreadPoolExecutor(PEOPLE) as pool:
        list(pool.map(guess, range(PEOPLE)))
    expected = Counter(number % 4 for number in range(PEOPLE))
    for step in STEPS:
        assert guesses(store, survey.id, step, 4) == [expected[choice] for choice in range(4)]
    frame = guesses_frame(store, survey.id)
    assert len(frame) == PEOPLE * len(STEPS)
    assert frame["respondent"].nunique() == PEOPLE
