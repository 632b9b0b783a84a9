"""A survey is its owner's, and theirs who hold its link until it ends; answers go with it."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from probe.errors import SurveyError
from probe.runs.access import COMMAND_LINE
from probe.runs.store import Store
from probe.surveys import survey as surveys
from probe.surveys.survey import (
    Survey,
    answered_surveys,
    answers_of,
    create_survey,
    delete_answers,
    delete_survey,
    end_survey,
    guesses,
    guesses_frame,
    join,
    own_survey,
    own_surveys,
    record_guess,
    remove_old_surveys,
    respond,
    respondents,
    responses,
    show_results,
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


def refused(ask: Callable[[], object]) -> str:
    """Return the sentence of a refusal."""
    with pytest.raises(SurveyError) as told:
        ask()
    return str(told.value)


def test_a_survey_is_its_owners_and_behind_its_link(store: Store, survey: Survey) -> None:
    assert own_surveys(store, ME) == (survey,) == (own_survey(store, ME, survey.id),)
    assert survey_of(store, survey.id, "lesson") == survey
    assert own_surveys(store, YOU) == own_surveys(store, "") == ()
    sentence = refused(lambda: own_survey(store, YOU, survey.id))
    for ask in (
        lambda: survey_of(store, "gone", "lesson"),
        lambda: survey_of(store, survey.id, "annotation"),
        lambda: delete_survey(store, YOU, survey.id),
        lambda: end_survey(store, "", survey.id),
        lambda: show_results(store, YOU, survey.id, True),
        lambda: delete_answers(store, YOU, survey.id),
    ):
        assert refused(ask) == sentence
    for nobody in ("", "api", ME[:-1]):
        made = refused(lambda who=nobody: create_survey(store, who, "lesson", "x", {}))  # type: ignore[misc]  # mypy reads no default of a lambda
        assert "reload" in made


def test_only_who_opened_the_link_answers_and_the_first_answer_stays(
    store: Store, survey: Survey
) -> None:
    assert "open the link" in refused(lambda: respond(store, survey, YOU, {"1": "a"}))
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
    assert [one.id for one in answered_surveys(store, YOU)] == [survey.id]


def test_an_ended_survey_takes_no_answers(store: Store, survey: Survey) -> None:
    join(store, survey, YOU)
    end_survey(store, ME, survey.id)
    ended = survey_of(store, survey.id, "lesson")
    assert ended.ended
    assert "ended" in refused(lambda: respond(store, ended, YOU, {"1": "a"}))
    assert "ended" in refused(lambda: join(store, ended, OTHER))


def test_answers_go_when_who_gave_them_or_the_survey_s_owner_deletes_them(
    store: Store, survey: Survey
) -> None:
    for visitor, answer in {YOU: "a", OTHER: "b"}.items():
        join(store, survey, visitor, "fox")
        respond(store, survey, visitor, {"1": answer})
    delete_answers(store, YOU, survey.id)
    assert [(row.respondent, row.answer) for row in responses(store, survey.id)] == [(1, "b")]
    assert answered_surveys(store, YOU) == ()
    delete_survey(store, ME, survey.id)
    assert own_surveys(store, ME) == answered_surveys(store, OTHER) == ()
    assert responses(store, survey.id) == ()


def test_what_has_ended_or_is_too_old_goes(store: Store, survey: Survey) -> None:
    kept = create_survey(store, ME, "annotation", "Set", {})
    local = create_survey(store, COMMAND_LINE, "annotation", "Local", {})
    remove_old_surveys(store, 0.0)
    assert len(own_surveys(store, ME)) == 2
    end_survey(store, ME, survey.id)
    remove_old_surveys(store, 0.0)
    assert [one.id for one in own_surveys(store, ME)] == [kept.id]
    remove_old_surveys(store, time.time() + 1)
    assert own_surveys(store, ME) == ()
    assert [one.id for one in own_surveys(store, COMMAND_LINE)] == [local.id]


def test_one_owner_and_one_survey_have_bounds(
    store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveys, "MAX_SURVEYS", 1)
    monkeypatch.setattr(surveys, "MAX_RESPONDENTS", 1)
    assert "you have 1" in refused(lambda: create_survey(store, ME, "lesson", "x", {}))
    join(store, survey, YOU)
    join(store, survey, YOU, "again")
    assert "at most 40" in refused(lambda: join(store, survey, YOU, "n" * 41))
    assert "the most" in refused(lambda: join(store, survey, OTHER))


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
    frame = guesses_frame(store, survey.id)
    assert len(frame) == 30 * len(steps)
    assert frame["respondent"].nunique() == 30
