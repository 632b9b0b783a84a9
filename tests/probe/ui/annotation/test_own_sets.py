"""A set is made, opened, counted, shown, ended and taken away by its maker, and by nobody else."""

from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from probe.runs.store import Store
from probe.surveys.survey import delete_survey, own_survey, own_surveys
from probe.ui.annotation.answering import Answering, AnswerOutputs
from probe.ui.annotation.own_sets import OwnOutputs, OwnSets
from probe.ui.annotation.shown import no_set
from probe.ui.measure.choice import BUNDLED, FILE
from tests.support.pages.choices import chosen
from tests.support.pages.visitors import ME, YOU, page_models
from tests.support.runs.annotation import answer_all, honest, person, small_set

ASKED = {"mode": "valid", "transforms": ["sort"], "each": 2}


@pytest.fixture
def own(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> OwnSets:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return OwnSets(Store(), page_models())


def shown(values: list[Any]) -> OwnOutputs:
    return OwnOutputs(*values)


def make(own: OwnSets, **changed: Any) -> OwnOutputs:
    """Make a set with some of what is chosen and asked changed; return what is shown last."""
    given = chosen(changed.get("models", ["minilm_sst2"]), changed.get("source", BUNDLED))
    asked = [changed.get(name, value) for name, value in ASKED.items()]
    return shown(list(own.make(ME, "sentiment", *given, *asked))[-1])


def test_a_set_is_made_and_shown_with_its_link(own: OwnSets) -> None:
    made = make(own)
    (survey,) = own_surveys(own.store, ME)
    assert f"set?{survey.id}" in made.link and made.chosen == survey.id
    assert "4 texts in 1 batches, 3 people for each" in made.head
    assert "No text has a majority yet" in made.results
    assert "Is it a text at all?" in made.listed
    assert str(made.controls).count("<select") == 5


def test_a_set_that_is_deleted_is_no_longer_shown(own: OwnSets) -> None:
    made = make(own)
    assert shown(own.show(ME, made.chosen)).one == gr.skip()
    delete_survey(own.store, ME, made.chosen)
    gone = shown(own.show(ME, made.chosen))
    assert gone.one.visible is False
    assert gone.chosen == "" and gone.empty == no_set()


@pytest.mark.parametrize(
    ("changed", "trouble"),
    [
        ({"mode": "distractor"}, "it has: valid, labels"),
        ({"source": FILE}, "choose a file first"),
        ({"transforms": []}, "at least one change"),
        ({"transforms": ["nonsense"]}, "nonsense"),
        ({"each": 0}, "1 to 100 texts"),
        ({"each": 101}, "1 to 100 texts"),
        ({"models": ["gone"]}, "gone"),
    ],
)
def test_a_wrong_wish_is_answered_with_a_sentence(
    own: OwnSets, changed: dict[str, Any], trouble: str
) -> None:
    made = make(own, **changed)
    assert trouble in made.told and "alert" in made.told
    assert own_surveys(own.store, ME) == ()


def test_a_set_of_anothers_is_answered_as_one_that_is_not_there(own: OwnSets) -> None:
    survey = small_set(own.store).survey
    here = (YOU, survey.id, "")
    for values in (
        own.open(*here),
        own.refresh(*here),
        own.set_shown(*here, True),
        own.end(*here),
        own.export(*here),
        own.change_control(*here, "i8=invalid"),
    ):
        assert "there is no such set" in shown(values).told
    kept = own_survey(own.store, ME, survey.id)
    assert (kept.shown, kept.ended) == (False, False)


def test_results_stand_beside_a_model_and_can_be_taken_away(own: OwnSets) -> None:
    annotated = small_set(own.store)
    for each in range(3):
        answer_all(own.store, annotated, person(each), honest)
    opened = shown(own.open(ME, annotated.survey.id, "minilm_sst2"))
    assert "of the untouched texts are called invalid" in opened.results
    assert "keeps its answer on" in opened.results
    files = shown(own.export(ME, annotated.survey.id, "")).files.value
    names = [Path(str(file["path"] if isinstance(file, dict) else file)).name for file in files]
    assert names == ["votes.csv", "items.csv", "results.json"]


def test_results_are_hidden_from_respondents_until_they_are_opened(own: OwnSets) -> None:
    annotated = small_set(own.store, votes=1)
    answer_all(own.store, annotated, YOU, honest)
    answering = Answering(own.store)
    closed = answering.open(YOU, annotated.survey.id)
    assert "The teacher will show the results" in closed.told and closed.results == ""
    own.set_shown(ME, annotated.survey.id, "", True)
    opened = answering.open(YOU, annotated.survey.id)
    assert "stands below" in opened.told and "called invalid" in opened.results


def test_an_ended_set_takes_nobody_in(own: OwnSets) -> None:
    annotated = small_set(own.store)
    own.end(ME, annotated.survey.id, "")
    begun = AnswerOutputs(*Answering(own.store).begin(YOU, annotated.survey.id, "fox")[:7])
    assert "ended" in begun.told


def test_a_batch_is_answered_from_the_page(own: OwnSets) -> None:
    annotated = small_set(own.store)
    answering = Answering(own.store)
    first = answering.open(YOU, annotated.survey.id)
    assert "Call a text invalid only if" in first.head and first.joining.visible is True
    begun = answering.begin(YOU, annotated.survey.id, "fox")
    number = begun[4]
    cards = [html.value for html in begun[7::2]]
    assert len(cards) == 5 and all("of 5" in card for card in cards)
    assert not any("sort" in card for card in cards)  # what was done to a text is hidden
    missing = AnswerOutputs(*answering.send(YOU, annotated.survey.id, number, 0, 1)[:7])
    assert "still open is number 3, 4, 5" in missing.told
    sent = AnswerOutputs(*answering.send(YOU, annotated.survey.id, number, 0, 1, 0, 1, 0)[:7])
    assert "Thank you: 1 batch sent." in sent.told and sent.number not in ("", number)


def test_a_link_to_nothing_is_answered_with_a_sentence(own: OwnSets) -> None:
    assert "there is no such set" in Answering(own.store).open(YOU, "gone").head
    for values in (
        Answering(own.store).begin(YOU, "gone", ""),
        Answering(own.store).send(YOU, "gone", "", 0, 0, 0, 0, 0),
    ):
        assert "there is no such set" in AnswerOutputs(*values[:7]).told
