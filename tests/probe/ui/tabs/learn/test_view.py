"""Where one is in the lessons, what a browser remembers, and what running a step shows."""

from html import unescape
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from probe.models.library import BUNDLED
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.ui.lessons import sheets
from probe.ui.lessons.heuristics import HEURISTICS
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.tabs.learn.view import (
    ALL,
    CHOOSE_FIRST,
    MAX_CHOICES,
    Outputs,
    View,
    guessed,
    remember,
    waiting,
)
from tests.support.pages.lessons import core
from tests.support.pages.visitors import ME

LESSONS = (WORD_SALAD, HEURISTICS)
PLACES = list(vars(Outputs()))
MODEL = "da"


@pytest.fixture
def view(home: Path) -> View:
    return View(LESSONS, core())


def shown(values: list[Any]) -> dict[str, Any]:
    return dict(zip(PLACES, values, strict=True))


@pytest.mark.parametrize(
    ("named", "number"),
    [
        ("word_salad.3", 3),
        ("word_salad", 1),
        ("word_salad.0", 1),
        ("word_salad.99", 7),
        ("word_salad.-2", 1),
        ("word_salad.١", 1),
        ("word_salad.1e3", 1),
        ("word_salad." + "9" * 5000, 1),
    ],
)
def test_a_name_leads_to_a_step_of_the_lesson(view: View, named: str, number: int) -> None:
    place = view.find(named, NLI)
    assert place is not None
    assert (place.lesson, place.number) == (WORD_SALAD, number)


@pytest.mark.parametrize("named", ["", "all", "nothing.1", ".3", "<b>.1"])
def test_a_name_of_no_lesson_leads_to_all_of_them(view: View, named: str) -> None:
    assert shown(view.show(named, NLI.name, MODEL, ME, {}))["place"] == ALL


@pytest.mark.parametrize(("named", "said"), [("nothing", True), ("word_salad", False)])
def test_a_link_to_no_lesson_is_said_to_be_one(view: View, named: str, said: bool) -> None:
    link = gr.Request(query_params={"lesson": named})
    opened = shown(view.open_page(NLI.name, ME, {}, link))
    assert (f"names the lesson {named!r}, which is not here" in unescape(opened["text"])) is said
    assert (opened["place"] == ALL) is said


def test_a_lesson_that_a_task_has_not_leads_to_where_it_is(view: View) -> None:
    task = PARAPHRASE_IDENTIFICATION
    assert view.find("heuristics.1", task) is None
    begin = sheets.overview(LESSONS, task).split('<a class="begin elsewhere" href="')[1]
    assert begin.startswith('learn?lesson=heuristics&amp;step=1&amp;task=nli">Begin in Inference')


def test_a_step_has_an_address_that_leads_back_to_it(view: View) -> None:
    values = shown(view.show("word_salad.3", NLI.name, MODEL, ME, {}))
    assert values["address"] == "learn?lesson=word_salad&step=3&task=nli&model=da"


def test_what_is_shown_is_remembered_as_seen(view: View) -> None:
    first = shown(view.show("word_salad.1", NLI.name, MODEL, ME, None))["kept"]
    second = shown(view.show("word_salad.2", NLI.name, MODEL, ME, first))["kept"]
    assert second["seen"] == ["word_salad.task", "word_salad.guess"]


@pytest.mark.parametrize(
    "sent", [None, {}, [], {"seen": 3, "guesses": "x"}, {"seen": [1, {}], "guesses": {"a.b": 2}}]
)
def test_a_browser_may_remember_anything(sent: Any) -> None:
    kept = remember(sent, seen="a.b", guess=("a.b", MODEL, 1))
    assert kept["seen"] == ["a.b"]
    assert guessed(kept, "a.b", MODEL) == 1
    assert guessed(kept, "a.b", "another") is None


@pytest.mark.parametrize("choice", [None, 3])
def test_nothing_runs_before_a_guess_among_the_choices(view: View, choice: int | None) -> None:
    (only,) = view.run_step("word_salad.2", NLI.name, MODEL, ME, {}, choice)
    assert CHOOSE_FIRST in shown(only)["result"]


@pytest.mark.parametrize(("choice", "words"), [(2, "You were right"), (0, "You said otherwise")])
def test_a_guess_is_judged_and_remembered(view: View, choice: int, words: str) -> None:
    assert MODEL in BUNDLED
    *_, found, last = map(shown, view.run_step("word_salad.2", NLI.name, MODEL, ME, {}, choice))
    assert words in found["result"]
    assert last["kept"]["guesses"] == {"word_salad.guess": {MODEL: choice}}


def test_a_step_that_runs_is_not_run_again_meanwhile_and_another_one_is(view: View) -> None:
    assert waiting()[1].constructor_args == {"interactive": False}
    another = shown(view.show("word_salad.3", NLI.name, MODEL, ME, {}))["run"]
    assert another.constructor_args["interactive"] is True


def test_a_screen_reader_is_told_how_far_a_step_is(view: View) -> None:
    assert 'role="status"' in waiting()[0]
    steps = [
        shown(each)["result"] for each in view.run_step("word_salad.2", NLI.name, MODEL, ME, {}, 0)
    ]
    loading, first = steps[:2]
    assert 'role="status"' in loading
    assert 'role="status"' in first


def test_a_model_that_is_not_there_is_said_in_a_sentence(view: View) -> None:
    *_, last = view.run_step("word_salad.2", NLI.name, "nobody's", ME, {}, 0)
    assert 'role="alert"' in shown(last)["result"]


def test_a_lesson_on_paper_has_answers_only_on_request() -> None:
    without, with_answers = (sheets.to_print(WORD_SALAD, NLI, answers) for answers in (False, True))
    answer = WORD_SALAD.steps[NLI.name][-1].questions[0].answer
    assert answer not in without
    assert answer in with_answers
    assert all(step.title in without for step in WORD_SALAD.steps[NLI.name])


def test_the_page_has_room_for_the_choices_of_every_guess() -> None:
    steps = [step for lesson in LESSONS for steps in lesson.steps.values() for step in steps]
    assert all(len(step.guess.choices) <= MAX_CHOICES for step in steps if step.guess)
