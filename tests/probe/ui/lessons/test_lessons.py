"""Every lesson of probe's: each step can be shown, run and judged."""

import re
from pathlib import Path

from probe.ui.lessons.attribution import ATTRIBUTION
from probe.ui.lessons.heuristics import HEURISTICS
from probe.ui.lessons.lesson import Figure, Finding
from probe.ui.lessons.look_alikes import LOOK_ALIKES
from probe.ui.lessons.word_salad import WORD_SALAD
from tests.support.pages.lessons import last_finding, places, title

LESSONS = (WORD_SALAD, HEURISTICS, ATTRIBUTION, LOOK_ALIKES)
PLACES = places(LESSONS)
LIVE = [place for place in PLACES if place[2].live]
MIN_ROWS = 200
"""Examples on which a lesson may rest a rule."""


def figures(finding: Finding) -> list[Figure]:
    """Return all figures of a finding."""
    return [figure for shown in finding.compared for figure in shown.figures]


def test_a_step_can_be_named_in_a_link_and_has_something_to_read_without_a_model() -> None:
    for place in PLACES:
        lesson, task, step = place
        names = [other.name for other in lesson.steps[task.name]]
        assert names.count(step.name) == 1, title(place)
        assert re.fullmatch(r"[a-z_]+", step.name), title(place)
        assert step.title, title(place)
        assert all(step.text), title(place)
        assert "<script" not in step.exhibit(), title(place)


def test_what_is_run_ends_in_a_sentence_and_a_judged_guess(home: Path) -> None:
    for place in LIVE:
        finding, guess = last_finding(place), place[2].guess
        assert finding.says.endswith("."), title(place)
        assert not finding.progress, title(place)
        assert guess is not None, title(place)
        came_true = finding.came_true
        assert came_true is None or 0 <= came_true < len(guess.choices), title(place)


def test_a_rule_rests_on_two_hundred_examples_or_names_who_published_it(home: Path) -> None:
    sources = r"et al\.|fritz|Jia and Liang 2017|docs/importance\.md"
    for place in LIVE:
        for figure in figures(last_finding(place)):
            if figure.live:
                found = re.match(r"n = (\d+), 95 % interval", figure.note)
                assert found, title(place)
                assert int(found[1]) >= MIN_ROWS, title(place)
            else:
                assert re.search(sources, figure.note), title(place)


def test_each_lesson_ends_with_answered_questions() -> None:
    for lesson in LESSONS:
        for steps in lesson.steps.values():
            assert len(steps[-1].questions) >= 3, lesson.name
            assert all(question.answer for question in steps[-1].questions), lesson.name
