"""A class at a lesson: who holds its link guesses once a step, and all see one histogram."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from probe.models.library import ModelCache
from probe.runs.store import Store
from probe.surveys.survey import end_survey, guesses, guesses_frame, own_surveys
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.page import Core
from probe.ui.tabs.learn.teaching import ClassOutputs, LessonClass
from probe.ui.tabs.learn.view import View
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.annotation import person

HERE = ("word_salad.2", "nli")


@pytest.fixture
def lesson_class(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> LessonClass:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    store = Store()
    core: Any = Core(ModelCache(), store, engine=None)  # type: ignore[arg-type]  # not asked
    return LessonClass(store, View((WORD_SALAD,), core))


def begin(lesson_class: LessonClass) -> ClassOutputs:
    """Begin a class of ME at a step with a guess."""
    return ClassOutputs(*lesson_class.start(ME, *HERE, "minilm"))


def test_a_class_has_a_link_that_fixes_lesson_task_and_model(lesson_class: LessonClass) -> None:
    begun = begin(lesson_class)
    (survey,) = own_surveys(lesson_class.store, ME)
    assert survey.content == {"lesson": "word_salad", "task": "nli", "model": "minilm"}
    assert f"class?{survey.id}&amp;step=2" in str(begun.link)
    assert begun.timer.active is True
    assert 0 < survey.ends - survey.created <= 86_400


def test_a_member_sees_the_others_once_they_have_guessed(lesson_class: LessonClass) -> None:
    begun = begin(lesson_class)
    named = begun.named
    task, *shown = lesson_class.take_part(YOU, None, {named: "", "step": "2"})
    assert (task, ClassOutputs(*shown[:6]).named) == ("nli", named)
    assert "there is no such" in ClassOutputs(*lesson_class.open(YOU, named)).guessed
    assert f"class?{named}" in str(ClassOutputs(*lesson_class.open(ME, named)).link)
    assert "once you have guessed" in lesson_class.look(YOU, named, *HERE)
    assert "0 of 0" in lesson_class.look(ME, named, *HERE)
    assert "1 of 1" in lesson_class.record(YOU, named, *HERE, 1)
    assert "1 of 1" in lesson_class.record(YOU, named, *HERE, 2)  # the first guess stays
    assert "1 of 1" in lesson_class.look(ME, named, *HERE)
    (step,) = set(guesses_frame(lesson_class.store, named)["step"])
    assert guesses(lesson_class.store, named, step, 3) == [0, 1, 0]


def test_what_is_no_guess_is_not_counted(lesson_class: LessonClass) -> None:
    named = begin(lesson_class).named
    for choice in (None, -1, 99):
        lesson_class.record(YOU, named, *HERE, choice)
    assert guesses_frame(lesson_class.store, named).empty
    assert "0 of 0" in lesson_class.look(ME, named, *HERE)


def test_thirty_members_at_once_are_all_counted(lesson_class: LessonClass) -> None:
    named = begin(lesson_class).named

    def member(number: int) -> None:
        lesson_class.take_part(person(number), None, {named: ""})
        lesson_class.record(person(number), named, *HERE, number % 3)
        lesson_class.look(person(number), named, *HERE)

    with ThreadPoolExecutor(30) as pool:
        list(pool.map(member, range(30)))
    frame = guesses_frame(lesson_class.store, named)
    assert frame["choice"].value_counts().to_dict() == {1: 10, 2: 10, 3: 10}
    assert "10 of 30" in lesson_class.look(ME, named, *HERE)
    assert list(frame.columns) == ["respondent", "step", "choice"]  # nobody's name or token


def test_only_the_teacher_takes_the_guesses_away(lesson_class: LessonClass) -> None:
    named = begin(lesson_class).named
    lesson_class.record(YOU, named, *HERE, 1)
    told, files = lesson_class.export(YOU, named)
    assert "there is no such" in told and files.visible is False
    _, files = lesson_class.export(ME, named)
    assert files.visible is True


def test_a_class_that_has_ended_or_is_not_there_is_told_of(lesson_class: LessonClass) -> None:
    named = begin(lesson_class).named
    end_survey(lesson_class.store, ME, named)
    assert "has ended" in lesson_class.record(YOU, named, *HERE, 1)
    assert "there is no such" in lesson_class.take_part(YOU, None, {"gone": ""})[11]
    assert "there is no such" in lesson_class.look(YOU, "gone", *HERE)
    assert "open a lesson first" in ClassOutputs(*lesson_class.start(ME, "", "nli", "")).guessed
