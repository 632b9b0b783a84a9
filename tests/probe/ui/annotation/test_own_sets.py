"""A set is made, opened, counted, shown, ended and taken away by its maker, and by nobody else."""

import re
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from probe.runs.store import Store
from probe.surveys.annotation_set import annotation_set
from probe.surveys.survey import delete_survey, own_survey, own_surveys
from probe.ui.annotation.answering import answered
from probe.ui.annotation.own_sets import OwnSets
from probe.ui.annotation.shown import no_set
from probe.ui.measure.choice import BUNDLED, FILE
from tests.support.cases import each
from tests.support.pages.choices import chosen
from tests.support.pages.views import asked_by
from tests.support.pages.visitors import ME, YOU, page_models
from tests.support.runs.annotation import answer_all, honest, person, small_set

ASKED = {"mode": "valid", "transforms": ["sort"], "each": 2, "given": True}


@pytest.fixture
def own(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> OwnSets:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    monkeypatch.setenv("SPACE_HOST", "clinic.example.org")
    return OwnSets(Store(), page_models())


def make(own: OwnSets, **changed: Any) -> list[list[Any]]:
    """Make a set with some of what is chosen and asked changed; return all that is shown."""
    given = chosen(changed.get("models", ["minilm_sst2"]), changed.get("source", BUNDLED))
    asked = [changed.get(name, value) for name, value in ASKED.items()]
    return list(own.make(asked_by(), ME, "sentiment", *given, *asked))


def press(own: OwnSets, cell: str, visitor: str = ME) -> list[list[Any]]:
    """Press a button of a set; return all that is shown."""
    return list(own.press(visitor, asked_by(), cell))


def test_a_set_is_drawn_step_by_step_and_shown_with_its_link_and_its_code(own: OwnSets) -> None:
    *far, (told, one, listed) = make(own)
    assert "Reading the texts" in far[0][0] and "0 % of the changes" in far[1][0]
    assert all("progressbar" in step[0] for step in far) and "Stop" in far[-1][0]
    (survey,) = own_surveys(own.store, ME)
    assert re.fullmatch("[2-9A-Z]{8}", survey.id)
    for words in (
        f"https://clinic.example.org/set?{survey.id}", "<svg", "a page without the places",
        "4 in 1 batches of 5, one of each a control", "No text has a majority yet",
        "0 % of the judgements, 3 of each text",
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
    told, *_ = make(own, **changed)[-1]
    assert trouble in told and "alert" in told
    assert own_surveys(own.store, ME) == ()


def test_of_anothers_set_nothing_is_done_and_nothing_learnt(own: OwnSets) -> None:
    survey = small_set(own.store).survey
    for verb in ("count", "show", "hide", "end", "files", "control", "beside", "", "nonsense"):
        told = {
            str(press(own, f"{verb}|{which}|i8|=invalid", YOU)[-1][0])
            for which in (survey.id, "gone")
        }
        assert len(told) == 1 and "there is no such" in told.pop(), verb
    kept = own_survey(own.store, ME, survey.id)
    assert (kept.shown, kept.ended, kept.content) == (False, False, survey.content)


def test_results_stand_beside_the_paper_and_a_model_and_are_taken_away(own: OwnSets) -> None:
    annotated = small_set(own.store)
    for number in range(3):
        answer_all(own.store, annotated, person(number), honest)
    (waits, *_), (_, one, _) = press(own, f"beside|{annotated.survey.id}||=minilm_sst2")
    assert 'role="progressbar"' in waits
    for words in (
        "of the untouched texts are called invalid", "keeps its answer on", "same answer",
        "The paper&#39;s people: Gupta et al. 2021, table 4", "<svg",
    ):  # fmt: skip
        assert words in one, words
    told, _, _ = press(own, f"files|{annotated.survey.id}||minilm_sst2")[-1]
    assert re.findall(r">(\w+\.\w+)</a>", told) == ["votes.csv", "results.json", "items.csv"]


def test_a_set_is_changed_shown_ended_and_deleted_by_its_maker(own: OwnSets) -> None:
    code = small_set(own.store, votes=1).survey.id
    control = f"control|{code}|i8|=invalid"
    ((told, one, _),) = press(own, control)
    assert told == "" and str(one).count('<option value="invalid" selected>') == 2
    answer_all(own.store, annotation_set(own.store, code), YOU, honest)
    assert "people have answered already" in press(own, control)[-1][0]
    told, head, *_, found = answered(own.store, YOU, code)[:5]
    assert "will be shown by the teacher" in told and "called invalid" not in found
    assert head == ""  # nothing is asked any more
    press(own, f"show|{code}||")
    told, *_, found = answered(own.store, YOU, code.lower())[:5]
    assert "stands below" in told and "called invalid" in found
    ((_, one, listed),) = press(own, f"end|{code}||")
    assert "Ended" in one and "ended" in listed and "End the set" not in one
    assert "ended" in answered(own.store, person(1), code)[0]
    delete_survey(own.store, ME, code)
    assert "there is no such set" in own.show(ME, asked_by(), code)[0]
    assert own.show(ME, asked_by(), "")[1] == no_set()


def test_a_batch_is_answered_and_what_is_none_is_said(own: OwnSets) -> None:
    annotated = small_set(own.store)
    code = annotated.survey.id
    _, head, _, send, found, *parts = answered(own.store, YOU, code)
    assert "Call a text invalid only if" in head and "batch 1" in head and "Kept" in found
    (number,) = re.findall('data-cell="(.)"', send)
    cards = [html.value for html in parts[::2]]
    assert len(cards) == 5 and all("of 5" in card for card in cards)
    assert not any("sort" in card for card in cards)  # what was done to a text is hidden
    missing, *rest = answered(own.store, YOU, code, number, "", 0, 1)
    assert "still open is number 3, 4, 5" in missing and set(map(str, rest)) == {str(gr.skip())}
    for wrong in ("", "x", "-1", "99", "²"):
        assert "there is no such batch" in answered(own.store, YOU, code, wrong, "", 0)[0], wrong
    told, _, _, send, *_ = answered(own.store, YOU, code, number, "fox", 0, 1, 0, 1, 0)
    assert "Thank you: 1 batch sent." in told and f'"{number}"' not in send
    assert "there is no such set" in answered(own.store, YOU, "gone")[0]
    assert "there is no such set" in answered(own.store, YOU, "gone", number, "", 0, 0, 0, 0, 0)[0]


def test_failed_controls_are_said_first_where_most_are_and_else_in_small_print(
    own: OwnSets,
) -> None:
    wrong = small_set(own.store)
    answer_all(own.store, wrong, person(0), lambda item: "valid" if item.transform else "invalid")
    ((_, one, _),) = press(own, f"count|{wrong.survey.id}||")
    assert "No text has a majority yet" in one
    assert '<p class="problem">2 of 2 batches (100 %) failed their control and do not' in one
    annotated = small_set(own.store, votes=1)
    for number, answers in enumerate((honest, lambda item: "valid", honest)):
        answer_all(own.store, annotated, person(number), answers)
    ((_, one, _),) = press(own, f"count|{annotated.survey.id}||")
    assert "failed their control" in one and "in the paper" in one
    assert '<p class="problem">' not in one
