"""A survey is its owner's, and theirs who hold its link until it ends; answers go with it."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from probe.errors import SurveyError
from probe.runs.access import COMMAND_LINE
from probe.runs.database import Survey
from probe.runs.store import Store
from probe.surveys import survey as module
from probe.surveys.survey import (
    answered_surveys,
    answers_of,
    change_survey,
    create_survey,
    delete_answers,
    delete_survey,
    end_survey,
    guesses,
    join,
    own_survey,
    own_surveys,
    record_guess,
    remove_old_surveys,
    respond,
    respondents,
    responses,
    start_class,
    survey_of,
)
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.annotation import person

OTHER = "c" * 32


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


@pytest.fixture
def survey(store: Store) -> Survey:
    """A survey of ME."""
    return create_survey(store, ME, "lesson", "Salad", {"lesson": "word_salad"}, 60)


def own(store: Store, owner: str = ME) -> list[str]:
    """The titles of an owner's surveys, newest first."""
    return [each.title for each in own_surveys(store, owner)]


def test_who_may_not_is_refused(
    store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SURVEYS", 1)
    monkeypatch.setattr(module, "MAX_RESPONDENTS", 1)
    join(store, survey, YOU)
    ended = create_survey(store, COMMAND_LINE, "lesson", "x", {}, -1)
    absent = [
        lambda: own_survey(store, YOU, survey.id),
        lambda: own_survey(store, "", survey.id),
        lambda: survey_of(store, "gone", "lesson"),
        lambda: survey_of(store, survey.id, "annotation"),
        lambda: delete_survey(store, YOU, survey.id),
        lambda: end_survey(store, "", survey.id),
        lambda: change_survey(store, YOU, survey.id, shown=True),
        lambda: delete_answers(store, OTHER, survey.id),
    ]
    refused = {
        "you have 1": [lambda: create_survey(store, ME, "lesson", "x", {})],
        "reload": [
            lambda: create_survey(store, "", "lesson", "x", {}),
            lambda: create_survey(store, ME[:-1], "lesson", "x", {}),
            lambda: join(store, survey, "api"),
        ],
        "at most 40": [lambda: join(store, survey, YOU, "n" * 41)],
        "the most": [lambda: join(store, survey, OTHER)],
        "open the link": [lambda: respond(store, survey, OTHER, {"1": "a"})],
        "has ended": [lambda: respond(store, ended, YOU, {}), lambda: join(store, ended, YOU)],
        "there is no such set, class or round here": absent,
    }

    for words, several in refused.items():
        for ask in several:
            with pytest.raises(SurveyError, match=words):
                ask()
    join(store, survey, YOU, "again")
    assert own(store) == ["Salad"]
    assert own(store, YOU) == own(store, "") == []


def test_the_first_answer_stays_and_goes_when_who_gave_it_or_the_owner_deletes_it(
    store: Store, survey: Survey
) -> None:
    join(store, survey, YOU, "  the   fox ")
    join(store, survey, OTHER)
    respond(store, survey, YOU, {"1": "a"})
    respond(store, survey, YOU, {"1": "b", "2": "c"})
    respond(store, survey, OTHER, {"1": "b"})
    told = [
        (row.respondent, row.nickname, row.item, row.answer) for row in responses(store, survey.id)
    ]
    assert sorted(told) == [(1, "the fox", "1", "a"), (1, "the fox", "2", "c"), (2, "", "1", "b")]
    assert answers_of(store, survey.id, YOU) == {"1": "a", "2": "c"}
    assert respondents(store, survey.id) == 2
    assert [each.id for each in answered_surveys(store, YOU)] == [survey.id]
    delete_answers(store, YOU, survey.id)
    assert [(row.respondent, row.answer) for row in responses(store, survey.id)] == [(1, "b")]
    assert answered_surveys(store, YOU) == ()
    delete_survey(store, ME, survey.id)
    assert own(store) == []
    assert answered_surveys(store, OTHER) == responses(store, survey.id) == ()


def test_what_has_ended_or_is_too_old_goes(store: Store, survey: Survey) -> None:
    create_survey(store, ME, "annotation", "Set", {})
    create_survey(store, COMMAND_LINE, "annotation", "Local", {})
    remove_old_surveys(store, 0.0)
    assert own(store) == ["Set", "Salad"]
    end_survey(store, ME, survey.id)
    assert survey_of(store, survey.id, "lesson").ended
    remove_old_surveys(store, 0.0)
    assert own(store) == ["Set", "Salad"]  # its guesses can still be taken away for an hour
    change_survey(store, ME, survey.id, ends=time.time() - 3_601)
    remove_old_surveys(store, 0.0)
    assert own(store) == ["Set"]
    remove_old_surveys(store, time.time() + 1)
    assert (own(store), own(store, COMMAND_LINE)) == ([], ["Local"])


def test_thirty_guesses_at_once_are_all_counted_and_each_once(store: Store) -> None:
    steps = ("one", "two", "three")
    survey = start_class(store, ME, "Salad", "word_salad", "nli", "minilm")

    def guess(number: int) -> None:
        for step in steps:
            for again in (0, 1):  # a second guess changes nothing
                record_guess(store, survey, person(number), step, (number + again) % 4)

    with ThreadPoolExecutor(30) as pool:
        list(pool.map(guess, range(30)))
    expected = Counter(number % 4 for number in range(30))
    for step in steps:
        assert guesses(store, survey.id, step, 4) == [expected[choice] for choice in range(4)]
    given = responses(store, survey.id)
    assert (len(given), len({row.respondent for row in given})) == (30 * len(steps), 30)
