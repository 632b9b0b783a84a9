"""A set is made, opened, counted, shown, ended and taken away by its maker, and by nobody else."""

import re
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from probe.runs.store import Store
from probe.surveys.survey import delete_survey, own_survey, own_surveys
from probe.ui.annotation.answering import Answering
from probe.ui.annotation.own_sets import OwnSets
from probe.ui.annotation.shown import no_set
from probe.ui.measure.choice import BUNDLED, FILE
from tests.support.cases import each
from tests.support.pages.choices import chosen
from tests.support.pages.visitors import ME, YOU, page_models
from tests.support.runs.annotation import answer_all, honest, person, small_set

HERE = ("https://clinic.example.org/", "Only this machine reaches it.")
ASKED = {"mode": "valid", "transforms": ["sort"], "each": 2}


@pytest.fixture
def own(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> OwnSets:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return OwnSets(Store(), page_models())


def make(own: OwnSets, **changed: Any) -> list[Any]:
    """Make a set with some of what is chosen and asked changed; return what is shown last."""
    given = chosen(changed.get("models", ["minilm_sst2"]), changed.get("source", BUNDLED))
    asked = [changed.get(name, value) for name, value in ASKED.items()]
    return list(own.make(HERE, ME, "sentiment", *given, *asked))[-1]


def test_a_set_is_made_and_shown_with_its_link_its_code_and_what_is_said_of_them(
    own: OwnSets,
) -> None:
    told, one, listed = make(own)
    (survey,) = own_surveys(own.store, ME)
    assert re.fullmatch("[2-9A-Z]{8}", survey.id)
    for words in (
        f"https://clinic.example.org/set?{survey.id}", "<svg", "Only this machine reaches it.",
        "4 in 1 batches of 5, one of each a control", "No text has a majority yet",
        "0 % have 3 judgements", "a page without the places",
    ):  # fmt: skip
        assert words in one, words
    assert str(one).count('data-value="control|') == 5
    assert told == "" and "Is it a text at all?" in listed and "opened" in listed


@each(
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
    told, *_ = make(own, **changed)
    assert trouble in told and "alert" in told
    assert own_surveys(own.store, ME) == ()


@each("verb", ["count", "show", "hide", "end", "files", "control", "beside", "", "nonsense"])
def test_of_anothers_set_nothing_is_done_and_nothing_learnt(own: OwnSets, verb: str) -> None:
    survey = small_set(own.store).survey
    told = {
        str(own.press(YOU, f"{verb}|{which}|i8|=invalid", HERE)[0]) for which in (survey.id, "gone")
    }
    assert len(told) == 1 and ("there is no such" in told.pop())
    kept = own_survey(own.store, ME, survey.id)
    assert (kept.shown, kept.ended, kept.content) == (False, False, survey.content)


def test_results_stand_beside_the_paper_and_a_model_and_are_taken_away(own: OwnSets) -> None:
    annotated = small_set(own.store)
    for number in range(3):
        answer_all(own.store, annotated, person(number), honest)
    _, one, _ = own.press(ME, f"beside|{annotated.survey.id}||=minilm_sst2", HERE)
    for words in (
        "of the untouched texts are called invalid",
        "keeps its answer on",
        "same answer",
    ):
        assert words in one, words
    assert "The paper&#39;s people: Gupta et al. 2021, table 4" in one and "<svg" in one
    told, _, _ = own.press(ME, f"files|{annotated.survey.id}||minilm_sst2", HERE)
    assert re.findall(r">(\w+\.\w+)</a>", told) == ["votes.csv", "results.json", "items.csv"]


def test_the_answer_of_a_control_is_changed_until_somebody_has_answered(own: OwnSets) -> None:
    annotated = small_set(own.store)
    control = f"control|{annotated.survey.id}|i8|=invalid"
    told, one, _ = own.press(ME, control, HERE)
    assert told == "" and '<option value="invalid" selected>' in one
    answer_all(own.store, annotated, person(0), honest)
    assert "people have answered already" in own.press(ME, control, HERE)[0]


def test_results_are_hidden_from_respondents_until_they_are_opened(own: OwnSets) -> None:
    annotated = small_set(own.store, votes=1)
    answer_all(own.store, annotated, YOU, honest)
    answering = Answering(own.store)
    told, *_, found = answering.open(YOU, annotated.survey.id)[:5]
    assert "The teacher will show the results" in told and found == ""
    own.press(ME, f"show|{annotated.survey.id}||", HERE)
    told, *_, found = answering.open(YOU, annotated.survey.id.lower())[:5]
    assert "stands below" in told and "called invalid" in found


def test_a_set_that_is_deleted_or_ended_says_so(own: OwnSets) -> None:
    annotated = small_set(own.store)
    _, one, listed = own.press(ME, f"end|{annotated.survey.id}||", HERE)
    assert "Ended" in one and "ended" in listed and "End the set" not in one
    assert "ended" in Answering(own.store).open(YOU, annotated.survey.id)[0]
    delete_survey(own.store, ME, annotated.survey.id)
    assert "there is no such set" in own.show(ME, annotated.survey.id, HERE)[0]
    assert own.show(ME, "", HERE)[1] == no_set()


def test_a_batch_is_answered_from_the_page(own: OwnSets) -> None:
    annotated = small_set(own.store)
    answering, code = Answering(own.store), annotated.survey.id
    _, head, _, send, _, *parts = answering.open(YOU, code)
    assert "Call a text invalid only if" in head and "batch 1" in head
    (number,) = re.findall('data-cell="(.)"', send)
    cards = [html.value for html in parts[::2]]
    assert len(cards) == 5 and all("of 5" in card for card in cards)
    assert not any("sort" in card for card in cards)  # what was done to a text is hidden
    missing, *rest = answering.send(YOU, code, number, "", 0, 1)
    assert "still open is number 3, 4, 5" in missing and set(map(str, rest)) == {str(gr.skip())}
    told, _, _, send, *_ = answering.send(YOU, code, number, "fox", 0, 1, 0, 1, 0)
    assert "Thank you: 1 batch sent." in told and f'"{number}"' not in send


@each("number", ["", "x", "-1", "99", "²"])
def test_a_batch_that_is_none_and_a_link_to_nothing_are_answered_with_a_sentence(
    own: OwnSets, number: str
) -> None:
    annotated = small_set(own.store)
    answering = Answering(own.store)
    answering.open(YOU, annotated.survey.id)
    assert "there is no such batch" in answering.send(YOU, annotated.survey.id, number, "", 0)[0]
    assert "there is no such set" in answering.open(YOU, "gone")[0]
    assert "there is no such set" in answering.send(YOU, "gone", number, "", 0, 0, 0, 0, 0)[0]
