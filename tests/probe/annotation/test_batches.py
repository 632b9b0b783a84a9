"""Batches: each with its control, for as many people as it needs, and for nobody twice."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from probe.errors import SurveyError
from probe.runs.store import Store
from probe.surveys import batches as module
from probe.surveys.batches import into_batches, next_batch, progress_of, sent_batches, submit_batch
from probe.surveys.survey import end_survey, join, responses, survey_of
from tests.support.pages.visitors import ME
from tests.support.runs.annotation import answer_all, honest, items, person, small_set


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


def test_each_batch_holds_four_items_and_one_control() -> None:
    rows = items()
    controls = [item for item in rows if item.control]
    batches = into_batches([item for item in rows if not item.control], controls, 5)
    names = {item.id for item in controls}
    assert [len(batch) for batch in batches] == [5, 5]
    assert [len(names & set(batch)) for batch in batches] == [1, 1]
    whole = [item for batch in batches for item in batch if item not in names]
    assert whole == [item.id for item in rows if not item.control]
    assert batches == into_batches([item for item in rows if not item.control], controls, 5)
    assert [len(batch) for batch in into_batches(rows, [], 5)] == [5, 5]


def test_three_people_judge_each_text_and_then_nobody_is_asked(store: Store) -> None:
    annotated = small_set(store)
    assert [answer_all(store, annotated, person(each), honest) for each in range(4)] == [2, 2, 2, 0]
    assert progress_of(store, annotated).share == 1.0
    assert sent_batches(store, annotated, person(0)) == 2
    assert sent_batches(store, annotated, person(3)) == 0


def test_a_batch_that_failed_its_control_is_given_to_somebody_else(store: Store) -> None:
    annotated = small_set(store)
    answer_all(store, annotated, person(0), lambda item: "valid" if item.transform else "invalid")
    progress = progress_of(store, annotated)
    assert (progress.returned, progress.share) == (2, 0.0)
    assert [answer_all(store, annotated, person(each), honest) for each in (1, 2, 3)] == [2, 2, 2]


def test_who_comes_back_gets_the_batch_that_was_begun(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotated = small_set(store, votes=1)
    for each in range(3):
        join(store, annotated.survey, person(each))
    first = next_batch(store, annotated, person(0))
    assert next_batch(store, annotated, person(0)) == first
    assert next_batch(store, annotated, person(1)) not in (first, None)
    assert next_batch(store, annotated, person(2)) is None
    monkeypatch.setattr(module, "RESERVED_SECONDS", -1)
    assert next_batch(store, annotated, person(2)) == first


def test_all_texts_of_a_batch_are_answered_and_once(store: Store) -> None:
    annotated = small_set(store)
    join(store, annotated.survey, person(0))
    batch = next_batch(store, annotated, person(0))
    assert batch is not None
    ids = annotated.batches[batch]
    with pytest.raises(SurveyError, match="still open is number 2, 3, 4, 5"):
        submit_batch(store, annotated, person(0), batch, {ids[0]: "valid", ids[1]: "perhaps"})
    with pytest.raises(SurveyError, match="were not given to you"):
        submit_batch(store, annotated, person(1), batch, dict.fromkeys(ids, "valid"))
    for answer in ("valid", "invalid"):
        submit_batch(store, annotated, person(0), batch, dict.fromkeys(ids, answer))
    assert [row.answer for row in responses(store, annotated.survey.id)] == ["valid"] * 5


def test_who_has_not_opened_the_link_or_comes_too_late_gets_nothing(store: Store) -> None:
    annotated = small_set(store)
    with pytest.raises(SurveyError, match="open the link first"):
        next_batch(store, annotated, person(0))
    join(store, annotated.survey, person(0))
    end_survey(store, ME, annotated.survey.id)
    ended = type(annotated)(survey_of(store, annotated.survey.id, "annotation"))
    with pytest.raises(SurveyError, match="ended"):
        next_batch(store, ended, person(0))
    with pytest.raises(SurveyError, match="ended"):
        submit_batch(store, ended, person(0), 0, {})


def test_two_pages_of_one_person_are_given_the_same_batch(store: Store) -> None:
    annotated = small_set(store)
    join(store, annotated.survey, person(0))
    with ThreadPoolExecutor(8) as pool:
        given = set(pool.map(lambda _: next_batch(store, annotated, person(0)), range(8)))
    assert len(given) == 1


def test_thirty_people_at_once_lose_no_answer(store: Store) -> None:
    annotated = small_set(store, votes=15)
    with ThreadPoolExecutor(30) as pool:
        people = [person(each) for each in range(30)]
        sent = sum(pool.map(lambda one: answer_all(store, annotated, one, honest), people))
    progress = progress_of(store, annotated)
    assert progress.returned == sent >= 30
    assert progress.share == 1.0
    assert len(responses(store, annotated.survey.id)) == 5 * sent
