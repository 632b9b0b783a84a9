"""Every lesson of probe's: each step can be shown, run and judged."""

import re
from pathlib import Path

import pytest

from probe.ui.lessons.attribution import ATTRIBUTION
from probe.ui.lessons.heuristics import HEURISTICS
from probe.ui.lessons.lesson import Figure, Finding, Lesson
from probe.ui.lessons.look_alikes import LOOK_ALIKES
from probe.ui.lessons.word_salad import WORD_SALAD
from tests.support.pages.lessons import Place, last_finding, places, title

LESSONS = (WORD_SALAD, HEURISTICS, ATTRIBUTION, LOOK_ALIKES)
PLACES = places(LESSONS)
LIVE = [place for place in PLACES if place[2].live]
MIN_ROWS = 200
"""Examples on which a lesson may rest a rule."""


def figures(finding: Finding) -> list[Figure]:
    """Return all figures of a finding."""
    return [figure for shown in finding.compared for figure in shown.figures]


@pytest.mark.parametrize("place", PLACES, ids=title)
def test_a_step_can_be_named_in_a_link_and_has_something_to_read(place: Place) -> None:
    lesson, task, step = place
    names = [other.name for other in lesson.steps[task.name]]
    assert names.count(step.name) == 1
    assert re.fullmatch(r"[a-z_]+", step.name)
    assert step.title
    assert all(step.text)


@pytest.mark.parametrize("place", PLACES, ids=title)
def test_a_step_shows_its_examples_without_a_model(place: Place) -> None:
    assert "<script" not in place[2].exhibit()


@pytest.mark.parametrize("place", LIVE, ids=title)
def test_what_is_run_ends_in_a_sentence_and_a_judged_guess(place: Place, home: Path) -> None:
    finding, guess = last_finding(place), place[2].guess
    assert finding.says.endswith(".")
    assert not finding.progress
    assert guess is not None
    assert finding.came_true is None or 0 <= finding.came_true < len(guess.choices)


@pytest.mark.parametrize("place", LIVE, ids=title)
def test_a_rule_rests_on_two_hundred_examples(place: Place, home: Path) -> None:
    measured = [figure for figure in figures(last_finding(place)) if figure.live]
    for figure in measured:
        found = re.match(r"n = (\d+), 95 % interval", figure.note)
        assert found
        assert int(found[1]) >= MIN_ROWS


@pytest.mark.parametrize("place", LIVE, ids=title)
def test_a_published_figure_names_its_source(place: Place, home: Path) -> None:
    published = [figure for figure in figures(last_finding(place)) if not figure.live]
    sources = r"et al\.|fritz|Jia and Liang 2017|docs/importance\.md"
    assert all(re.search(sources, figure.note) for figure in published)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_each_lesson_ends_with_answered_questions(lesson: Lesson) -> None:
    for steps in lesson.steps.values():
        assert len(steps[-1].questions) >= 3
        assert all(question.answer for question in steps[-1].questions)
