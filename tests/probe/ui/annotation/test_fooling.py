"""Visitors of a round write, are answered, and judge what others wrote; its teacher sees all."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import gradio as gr
import pytest

from finetune.training.data import read_pairs
from probe.runs.store import Store
from probe.surveys.rounds import FEWEST_TRAINED, Round, start_round, tries
from probe.surveys.survey import change_survey, end_survey, own_surveys
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.sentiment import SENTIMENT
from probe.ui.annotation.fooling import Fooling
from probe.ui.annotation.own_sets import FOOL, OwnSets
from probe.ui.visitors.visitor_files import upload_called
from tests.support.pages.choices import chosen
from tests.support.pages.views import asked_by, pressed
from tests.support.pages.visitors import ME, YOU, page_models
from tests.support.runs.annotation import person, say, write_text


@pytest.fixture
def own(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> OwnSets:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    monkeypatch.setenv("SPACE_HOST", "clinic.example.org")
    return OwnSets(Store(), page_models())


def link(wanted: Round) -> Any:
    """A request from the page of a round's link."""
    return asked_by(**{wanted.survey.id: ""})


def test_who_writes_is_answered_and_another_judges_without_label_or_answer(own: OwnSets) -> None:
    fooling = Fooling(own.store, own.models)
    wanted = start_round(own.store, ME, SENTIMENT, "minilm_sst2")
    shown = fooling.open_link(YOU, link(wanted))
    assert "Write a text that" in shown["head"] and "nothing personal" in shown["board"]
    assert (shown["text_1"].label, shown["text_2"].visible) == ("Text", False)
    unsaid = fooling.ask(YOU, "", "A fine film.", "", None, link(wanted))
    assert list(unsaid) == ["result"] and "say first which answer is right" in unsaid["result"]
    bad = SENTIMENT.labels.index("negative")
    fooled = fooling.ask(YOU, "<fox>", "A <b>fine</b> film.", "", bad, link(wanted))
    assert "You fooled" in fooled["result"] and "Confidence: " in fooled["result"]
    assert fooled["text_1"] == "" and "1 tried, 1 fooled it, 0 confirmed" in fooled["board"]
    told = fooling.ask(YOU, "<fox>", "A fine film.", "", 1 - bad, link(wanted))
    assert "Not fooled" in told["result"]
    assert tries(own.store, wanted.survey.id)[0].weights

    waiting = fooling.open_link(person(1), link(wanted))["confirm"]
    assert "A &lt;b&gt;fine&lt;/b&gt; film." in waiting and "fox" not in waiting
    assert waiting.count("negative") == waiting.count("positive") == 1  # the buttons alone
    assert isinstance(fooling.look(person(1), link(wanted), "held")["confirm"], dict)  # it stays
    key = re.findall('data-key="(.*?)"', waiting)[0]
    for wrong in (f"{key}|9", f"{key}|x", "gone|0", ""):
        assert "alert" in fooling.press(pressed(wrong), person(1), link(wanted))["confirm"], wrong
    fooling.press(pressed(f"{key}|{bad}"), person(1), link(wanted))
    assert tries(own.store, wanted.survey.id)[0].votes == ("negative",)
    change_survey(own.store, ME, wanted.survey.id, shown=True)
    assert "&lt;fox&gt;" in fooling.look(YOU, link(wanted), "")["board"]
    end_survey(own.store, ME, wanted.survey.id)
    ended = fooling.open_link(YOU, link(wanted))
    assert "has ended" in ended["told"] and not ended["form"].visible and not ended["confirm"]
    assert "there is no such" in fooling.open_link(YOU, asked_by(gone=""))["told"]


def test_a_premise_is_given_and_another_one_on_a_press(own: OwnSets) -> None:
    fooling = Fooling(own.store, own.models)
    wanted = start_round(own.store, ME, NLI, "minilm", bundled_examples(NLI, "pool"))
    shown = fooling.open_link(YOU, link(wanted))
    first = shown["text_1"]
    assert first.value in wanted.given and not first.interactive and shown["text_2"].interactive
    other = fooling.another(first.value, link(wanted))["text_1"]
    assert other in wanted.given and other != first.value
    fooled = fooling.ask(YOU, "", other, "It is so.", 0, link(wanted))
    assert "text_1" not in fooled and fooled["text_2"] == ""  # one may try again on the same one


def test_a_round_is_made_shown_and_its_confirmed_texts_are_trained_on(own: OwnSets) -> None:
    asked = [*chosen(["minilm_sst2"]), FOOL, [], None, True]
    several = [*chosen(["minilm_sst2", "minilm"]), *asked[-4:]]
    *_, (told, *_) = own.make(asked_by(), ME, "sentiment", *several)
    assert "choose one model" in told
    *_, (told, one, listed) = own.make(asked_by(), ME, "sentiment", *asked)
    (survey,) = own_surveys(own.store, ME)
    for words in (f"https://clinic.example.org/fool?{survey.id}", "<svg", "Nobody has written"):
        assert words in one, words
    assert told == "" and survey.title in listed
    wanted = Round(survey)
    for number in range(FEWEST_TRAINED):
        assert f"are {number}." in press(own, survey.id, "train")[0]
        key = write_text(own.store, wanted, YOU, f"A fine film, the {number}.", nickname="<b>")
        say(own.store, wanted, key, True, True)
    write_text(own.store, wanted, YOU, "A dull film.", nickname="<b>")
    (told, one, _) = press(own, survey.id, "train")
    named = parse_qs(urlparse(re.findall('href="(.*?)"', told)[0].replace("&amp;", "&")).query)
    assert (named["model"], named["aim"]) == (["minilm_sst2"], ["inoculate"])
    read = read_pairs(upload_called(ME, named["own"][0]), SENTIMENT)
    assert len(read) == FEWEST_TRAINED and "A dull film." not in {each.text for each in read}
    assert "&lt;b&gt;" in one and "1 waits for others" in one.replace("\xa0", " ")
    told, one, _ = press(own, survey.id, "files")
    assert re.findall(r">(\w+\.\w+)</a>", told) == ["tries.jsonl", "tries.csv", "results.json"]
    assert "Show it to all" in one and "Hide the board" in press(own, survey.id, "show")[1]
    assert "ended" in press(own, survey.id, "end")[1]
    for verb, visitor in [("files", YOU), ("train", YOU), ("control", ME), ("nonsense", ME)]:
        told, *left = list(own.press(visitor, asked_by(), f"{verb}|{survey.id}||"))[-1]
        assert "alert" in told and left == [gr.skip()] * 2, verb
    assert wanted.given == []  # sentiment has one text alone


def press(own: OwnSets, which: str, verb: str) -> list[Any]:
    """Press a button of a round of ME; return what is shown at the end."""
    shown = list(own.press(ME, asked_by(), f"{verb}|{which}||"))[-1]
    return [shown[0], *(shown[1:] if len(shown) > 1 else ())]
