"""Where one is in the lessons, what is remembered, what running a step shows, and a class at it."""

from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from probe.runs.database import Survey
from probe.surveys.survey import end_survey, start_class, survey_of
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.ui.lessons import drawing
from probe.ui.lessons.heuristics import HEURISTICS
from probe.ui.lessons.lesson import find
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.tabs import teaching
from probe.ui.tabs.learn import ALL, CHOOSE_FIRST, GONE, MAX_CHOICES, Learning, guessed, remember
from tests.support.pages.lessons import core
from tests.support.pages.views import asked_by
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.annotation import person

LESSONS = (WORD_SALAD, HEURISTICS)
MODEL, GUESS = "da", "word_salad.2"
STEPS = WORD_SALAD.steps[NLI.name]
ANSWER = STEPS[-1].questions[0][1]


@pytest.fixture
def learning(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Learning:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    monkeypatch.setenv("SPACE_HOST", "clinic.org")
    return Learning(LESSONS, core())


def ran(
    learning: Learning, choice: int | None, group: str = "", visitor: str = ME, model: str = MODEL
) -> list[Any]:
    """Run the step with a guess; return all that is shown."""
    return list(learning.run_step(GUESS, NLI.name, model, visitor, {}, choice, group))


def test_a_name_leads_to_a_step_of_the_lesson_and_one_of_none_to_all(learning: Learning) -> None:
    numbers = {
        "word_salad.3": 3, "word-salad.3": 3, "word_salad": 1, "word_salad.0": 1,
        "word_salad.99": 7, "word_salad.-2": 1, "word_salad.١": 1, "word_salad.1e3": 1,
        "word_salad." + "9" * 5000: 1, "": None, "all": None, "nothing.1": None, "<b>.1": None,
    }  # fmt: skip
    for named, number in numbers.items():
        place = find(LESSONS, named, NLI)
        assert (place.number if place else None) == number, named
    shown = learning.open_page(NLI.name, ME, {}, asked_by(lesson="word-salad", step="3"))
    assert shown["place"] == "word_salad.3" and "Break the text" in shown["text"]
    shown = learning.open_page(NLI.name, ME, {}, asked_by(lesson="<b>"))
    assert shown["place"] == ALL and "<b>" not in shown["text"]
    assert "names the lesson '<b>', which is not here" in unescape(shown["text"])


def test_all_lessons_say_what_is_done_what_is_next_and_where_else_one_is_given() -> None:
    keys = [f"word_salad.{step.name}" for step in STEPS]
    shown = drawing.overview(LESSONS, NLI, keys[:3], {keys[1]: True, keys[2]: False})
    assert 'begin main" data-cell="word_salad.3">Go on' in shown
    assert "step 3 of 7 · 1 of 2 guessed right" in shown and "0 of 2 done" in shown
    shown = drawing.overview(LESSONS, NLI, keys)
    assert 'begin " data-cell="word_salad.1">Once more' in shown and "1 of 2 done" in shown
    assert 'begin main" data-cell="heuristics.1">Begin' in shown
    begin = drawing.overview(LESSONS, PARAPHRASE_IDENTIFICATION).split('begin" href="')[1]
    assert begin.startswith("learn?lesson=heuristics&amp;step=1&amp;task=nli")


def test_a_browser_may_remember_anything_and_the_latest_step_is_the_last() -> None:
    broken: list[object] = [None, {}, [], {"seen": 3, "guesses": "x"}]
    for sent in [*broken, {"seen": [1, {}], "guesses": {"a.b": 2}}]:
        kept = remember(sent, seen="a.b", guess=("a.b", MODEL, 1), right=True)
        assert kept == {"seen": ["a.b"], "guesses": {"a.b": {MODEL: 1}}, "right": {"a.b": True}}
        assert guessed(kept, "a.b", MODEL) == 1 and guessed(kept, "a.b", "another") is None
    assert remember({"seen": ["a", "b"]}, seen="a")["seen"] == ["b", "a"]


def test_a_guess_is_judged_remembered_and_shown_again_with_its_result(learning: Learning) -> None:
    for wrong in (None, 3, -1):
        (shown,) = ran(learning, wrong)
        assert CHOOSE_FIRST in shown["result"] and list(shown) == ["result"]
    for choice, words in ((2, "You foresaw it"), (0, "You said otherwise")):
        asking, found, last = ran(learning, choice)
        assert 'role="progressbar"' in asking["result"] and words in found["result"]
        assert last["kept"]["guesses"] == {"word_salad.guess": {MODEL: choice}}
        assert last["kept"]["right"] == {"word_salad.guess": choice == 2}
        shown = learning.show(GUESS, NLI.name, MODEL, ME, last["kept"])
        assert shown["result"] == found["result"]
        assert shown["run"].constructor_args["interactive"] is True
    assert learning.show(GUESS, NLI.name, MODEL, ME, {})["result"] == ""
    for model, value in (("minilm", 1), (MODEL, 0)):  # it was run with 0
        chosen = learning.show(GUESS, NLI.name, model, ME, last["kept"], 1)["guess"]
        assert chosen.constructor_args["value"] == value
    other = remember(None, guess=("word_salad.break", MODEL, 0))
    assert GONE in learning.show("word_salad.3", NLI.name, MODEL, ME, other)["result"]
    assert list(learning.show_again(GUESS, NLI.name, MODEL, ME, last["kept"])) == []
    *_, last = ran(learning, 0, model="nobody's")
    assert 'role="alert"' in last["result"] and last["stop"] == gr.update(visible=False)


def test_answers_are_for_the_teacher_and_on_paper_on_request(learning: Learning) -> None:
    without, with_answers = (drawing.to_print(WORD_SALAD, NLI, each) for each in (False, True))
    assert ANSWER not in without and ANSWER in with_answers
    assert all(step.title in without for step in STEPS)
    guests = Learning(LESSONS, learning.core, guests=True)
    for view, there in ((learning, True), (guests, False)):
        shown = view.show("word_salad.7", NLI.name, MODEL, ME, {})
        assert (ANSWER in shown["text"]) is there is ("All lessons" in shown["moves"])
    assert "step 7 of 7, with your class" in shown["text"]
    steps = [step for lesson in LESSONS for steps in lesson.steps.values() for step in steps]
    assert all(len(step.choices) <= MAX_CHOICES for step in steps)


def test_a_class_has_a_link_takes_guesses_and_shows_what_came_out(learning: Learning) -> None:
    store, here = learning.core.store, find(LESSONS, GUESS, NLI)
    code = start_class(store, ME, "Word salad", "word_salad", NLI.name, MODEL).id

    def group() -> Survey:
        return survey_of(store, code, "lesson")

    def of_member(visitor: str) -> str:
        return teaching.of_member(store, group(), visitor, here)

    def of_teacher() -> str:
        return teaching.of_teacher(store, LESSONS, group(), asked_by())

    teaching.go_to(store, group(), 2)
    shown = of_teacher()
    assert f'data-copy="https://clinic.org/class?{code}"' in shown and "<svg" in shown
    assert "Step 2, Your own guess" in shown
    guests = Learning(LESSONS, learning.core, guests=True)
    opened = guests.take_part("", YOU, None, asked_by(**{code: "", "step": "3"}))
    fixed = opened["task"], opened["place"], opened["code"]
    assert fixed == (NLI.name, "word_salad.3", code)
    lost = guests.take_part("", YOU, None, asked_by(gone=""))
    assert "there is no such" in lost["text"].lower() and list(lost) == ["text"]

    ran(learning, 2)  # on the wall, by who teaches
    assert "The writer meant" not in of_teacher() and 'class="true"' not in of_teacher()
    assert "once you have guessed" in of_member(YOU)
    for choice, visitor in ((2, YOU), (0, YOU), (0, ME)):  # the first guess of a member counts
        ran(learning, choice, code, visitor)
    assert "1 guess<" in of_member(YOU) and "1 of 1 foresaw it" in of_member(YOU)
    assert "1 of 1 foresaw it" in of_teacher()
    choice = "contradiction: the claim cannot be true if the premise is"
    assert teaching.guesses_frame(store, LESSONS, group()).to_dict("records") == [
        {
            "student": 1, "lesson": "Word salad", "step": "2. Your own guess",
            "question": "What is your answer?", "guess": choice, "came out": choice,
            "foreseen": "yes",
        }
    ]  # fmt: skip

    def member(number: int) -> None:
        assert here is not None
        teaching.record(store, code, person(number), here, number % 2)
        of_member(person(number))

    with ThreadPoolExecutor(30) as pool:
        list(pool.map(member, range(30)))
    end_survey(store, ME, code)
    member(31)
    counts = teaching.guesses_frame(store, LESSONS, group())["guess"].value_counts()
    assert sorted(counts) == [1, 15, 15]
    shown = of_teacher()
    assert "31 in the class" in shown and "has ended" in of_member(YOU)
    assert ">End<" not in shown and "<svg" not in shown and "takes no more guesses" in shown
