"""Where one is in the lessons, what is remembered, what running a step shows, and a class at it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import gradio as gr
import pytest
from starlette.requests import Request

from probe.surveys.survey import end_survey, join, own_surveys, start_class, survey_of
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.ui.lessons import drawing
from probe.ui.lessons.heuristics import HEURISTICS
from probe.ui.lessons.lesson import find
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.tabs import teaching
from probe.ui.tabs.learn import ALL, CHOOSE_FIRST, GONE, MAX_CHOICES, Learning, guessed, remember
from tests.support.cases import failures
from tests.support.pages.lessons import core
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.annotation import person

LESSONS = (WORD_SALAD, HEURISTICS)
MODEL = "da"
GUESS = "word_salad.2"
ANSWER = WORD_SALAD.steps[NLI.name][-1].questions[0].answer


@pytest.fixture
def learning(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Learning:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return Learning(LESSONS, core())


def ran(learning: Learning, choice: int | None, group: str = "", visitor: str = ME) -> list[Any]:
    """Run the step with a guess; return all that is shown."""
    return list(learning.run_step(GUESS, NLI.name, MODEL, visitor, {}, choice, group))


def asked(**query: str) -> gr.Request:
    """Return a request with a query, at an address in the network."""
    scope = {"type": "http", "scheme": "http", "server": ("clinic.org", 80), "headers": []}
    scope |= {"path": "/learn", "root_path": "", "query_string": urlencode(query).encode()}
    return gr.Request(request=Request(scope))


def test_a_name_leads_to_a_step_of_the_lesson_and_one_of_none_to_all() -> None:
    def leads(named: str, number: int) -> None:
        place = find(LESSONS, named, NLI)
        assert place and (place.lesson, place.number) == (WORD_SALAD, number)

    numbers = {
        "word_salad.3": 3, "word-salad.3": 3, "word_salad": 1, "word_salad.0": 1,
        "word_salad.99": 7, "word_salad.-2": 1, "word_salad.١": 1, "word_salad.1e3": 1,
        "word_salad." + "9" * 5000: 1,
    }  # fmt: skip
    assert not failures(leads, numbers.items())
    for named in ("", "all", "nothing.1", ".3", "<b>.1"):
        assert find(LESSONS, named, NLI) is None, named


def test_a_link_opens_its_step_and_one_to_no_lesson_is_said_to_be_one(learning: Learning) -> None:
    shown = learning.open_page(NLI.name, ME, {}, asked(lesson="word-salad", step="3"))
    assert shown["place"] == "word_salad.3" and "Break the text" in shown["text"]
    shown = learning.open_page(NLI.name, ME, {}, asked(lesson="<b>"))
    assert shown["place"] == ALL
    assert "names the lesson '<b>', which is not here" in unescape(shown["text"])
    assert "<b>" not in shown["text"]


def test_all_lessons_say_what_is_done_what_is_next_and_where_else_one_is_given() -> None:
    keys = [f"word_salad.{step.name}" for step in WORD_SALAD.steps[NLI.name]]
    shown = drawing.overview(LESSONS, NLI, keys[:3], {keys[1]: True, keys[2]: False})
    assert 'data-cell="word_salad.3">Go on' in shown
    assert "step 3 of 7 · 1 of 2 guessed right" in shown and "0 of 2 done" in shown
    shown = drawing.overview(LESSONS, NLI, keys)
    assert 'data-cell="word_salad.1">Once more' in shown and "1 of 2 done" in shown
    begin = drawing.overview(LESSONS, PARAPHRASE_IDENTIFICATION).split('begin" href="')[1]
    assert begin.startswith("learn?lesson=heuristics&amp;step=1&amp;task=nli")


def test_a_browser_may_remember_anything_and_the_latest_step_is_the_last() -> None:
    for sent in (
        None,
        {},
        [],
        {"seen": 3, "guesses": "x"},
        {"seen": [1, {}], "guesses": {"a.b": 2}},
    ):
        kept = remember(sent, seen="a.b", guess=("a.b", MODEL, 1), right=True)
        assert kept == {"seen": ["a.b"], "guesses": {"a.b": {MODEL: 1}}, "right": {"a.b": True}}
        assert guessed(kept, "a.b", MODEL) == 1
        assert guessed(kept, "a.b", "another") is None
    assert remember({"seen": ["a", "b"]}, seen="a")["seen"] == ["b", "a"]


def test_nothing_runs_before_a_guess_among_the_choices(learning: Learning) -> None:
    for choice in (None, 3, -1):
        assert [list(shown) for shown in ran(learning, choice)] == [["result"]]
        assert CHOOSE_FIRST in ran(learning, choice)[0]["result"]


def test_a_guess_is_judged_remembered_and_shown_again_with_its_result(learning: Learning) -> None:
    for choice, words in ((2, "You foresaw it"), (0, "You said otherwise")):
        loading, found, last = ran(learning, choice)
        assert 'role="progressbar"' in loading["result"] and 'role="status"' in loading["result"]
        assert words in found["result"]
        assert last["kept"]["guesses"] == {"word_salad.guess": {MODEL: choice}}
        assert last["kept"]["right"] == {"word_salad.guess": choice == 2}
        shown = learning.show(GUESS, NLI.name, MODEL, ME, last["kept"])
        assert shown["result"] == found["result"]
        assert shown["run"].constructor_args["interactive"] is True
    assert learning.show(GUESS, NLI.name, MODEL, ME, {})["result"] == ""
    other = remember(None, guess=("word_salad.break", MODEL, 0))
    assert GONE in learning.show("word_salad.3", NLI.name, MODEL, ME, other)["result"]
    assert list(learning.show_again(GUESS, NLI.name, MODEL, ME, last["kept"])) == []


def test_a_model_that_is_not_there_is_said_in_a_sentence(learning: Learning) -> None:
    *_, last = learning.run_step(GUESS, NLI.name, "nobody's", ME, {}, 0, "")
    assert 'role="alert"' in last["result"] and last["stop"] == gr.update(visible=False)


def test_a_lesson_has_answers_on_paper_on_request_and_for_guests_none(learning: Learning) -> None:
    without, with_answers = (drawing.to_print(WORD_SALAD, NLI, each) for each in (False, True))
    assert ANSWER not in without and ANSWER in with_answers
    assert all(step.title in without for step in WORD_SALAD.steps[NLI.name])
    guests = Learning(LESSONS, learning.core, guests=True)
    for view, there in ((learning, True), (guests, False)):
        shown = view.show("word_salad.7", NLI.name, MODEL, ME, {})
        assert (ANSWER in shown["text"]) is there
        assert ("All lessons" in shown["moves"]) is there
    assert "step 7 of 7, with your class" in shown["text"]


def test_the_page_has_room_for_the_choices_of_every_guess() -> None:
    steps = [step for lesson in LESSONS for steps in lesson.steps.values() for step in steps]
    assert all(len(step.guess.choices) <= MAX_CHOICES for step in steps if step.guess)


class Group:
    """A class of ME at the step with the first guess."""

    def __init__(self, learning: Learning) -> None:
        self.learning, self.store = learning, learning.core.store
        made = start_class(self.store, ME, "Word salad", "word_salad", NLI.name, MODEL)
        self.code, self.here = made.id, find(LESSONS, GUESS, NLI)
        assert self.here is not None
        teaching.go_to(self.store, made, 2)

    def guess(self, visitor: str, choice: int | None) -> None:
        assert self.here is not None
        teaching.record(self.store, self.code, visitor, self.here, choice)

    def of_member(self, visitor: str) -> str:
        group = survey_of(self.store, self.code, "lesson")
        return teaching.of_member(self.store, group, visitor, self.here)

    def of_teacher(self) -> str:
        group = survey_of(self.store, self.code, "lesson")
        return teaching.of_teacher(self.store, LESSONS, group, asked())

    def file(self) -> Any:
        group = survey_of(self.store, self.code, "lesson")
        return teaching.guesses_frame(self.store, LESSONS, group)


@pytest.fixture
def group(learning: Learning) -> Iterator[Group]:
    yield Group(learning)


def test_a_class_has_a_short_link_that_fixes_lesson_task_and_model(group: Group) -> None:
    (survey,) = own_surveys(group.store, ME)
    assert 0 < survey.ends - survey.created <= 86_400 and len(survey.id) == 8
    shown = group.of_teacher()
    assert f'data-copy="http://clinic.org/class?{survey.id}"' in shown and "<svg" in shown
    assert "Step 2, Your own guess" in shown
    guests = Learning(LESSONS, group.learning.core, guests=True)
    opened = guests.take_part("", YOU, None, asked(**{survey.id: "", "step": "3"}))
    assert (opened["task"], opened["place"], opened["code"]) == (
        NLI.name,
        "word_salad.3",
        survey.id,
    )
    lost = guests.take_part("", YOU, None, asked(gone=""))
    assert "there is no such" in lost["text"].lower() and list(lost) == ["text"]


def test_a_member_sees_the_others_and_what_came_out_once_they_have_guessed(group: Group) -> None:
    join(group.store, survey_of(group.store, group.code, "lesson"), YOU)
    assert "once you have guessed" in group.of_member(YOU)
    ran(group.learning, 2, group.code, YOU)
    assert "1 guess<" in group.of_member(YOU) and "1 of 1 foresaw it" in group.of_member(YOU)
    ran(group.learning, 0, group.code, YOU)  # the first guess stays
    ran(group.learning, 0, group.code, ME)  # who teaches is no member
    assert "1 of 1 foresaw it" in group.of_teacher()
    (row,) = group.file().to_dict("records")
    assert row == {
        "student": 1,
        "lesson": "Word salad",
        "step": "2. Your own guess",
        "question": "What is your answer?",
        "guess": "contradiction: the claim cannot be true if the premise is",
        "came out": "contradiction: the claim cannot be true if the premise is",
        "foreseen": "yes",
    }


def test_what_came_out_is_not_on_the_wall_before_a_guess(group: Group) -> None:
    ran(group.learning, 2)
    assert "The writer meant" not in group.of_teacher() and 'class="true"' not in group.of_teacher()


def test_thirty_members_at_once_are_all_counted(group: Group) -> None:
    def member(number: int) -> None:
        group.guess(person(number), number % 3)
        group.of_member(person(number))

    with ThreadPoolExecutor(30) as pool:
        list(pool.map(member, range(30)))
    assert sorted(group.file()["guess"].value_counts()) == [10, 10, 10]
    assert "30 in the class" in group.of_teacher()


def test_a_class_that_has_ended_takes_no_guesses(group: Group) -> None:
    group.guess(YOU, None)
    end_survey(group.store, ME, group.code)
    group.guess(YOU, 1)
    assert group.file().empty and "has ended" in group.of_member(YOU)
    assert ">End<" not in group.of_teacher() and "ended" in group.of_teacher()
