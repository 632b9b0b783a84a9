"""Every lesson of probe's: each step can be shown, run and judged."""

import re
from pathlib import Path

from probe.ui.lessons.artefacts import ARTEFACTS
from probe.ui.lessons.attribution import ATTRIBUTION
from probe.ui.lessons.heuristics import HEURISTICS
from probe.ui.lessons.lesson import written
from probe.ui.lessons.look_alikes import LOOK_ALIKES
from probe.ui.lessons.word_salad import WORD_SALAD
from tests.support.cases import failures
from tests.support.pages.lessons import Place, last_finding, places, title

PLACES = places((WORD_SALAD, HEURISTICS, ATTRIBUTION, LOOK_ALIKES, ARTEFACTS))
SOURCES = r"et al\.|fritz|Jia and Liang 2017|docs/importance\.md"
MIN_ROWS = 200
"""Examples on which a lesson may rest a rule."""


def test_steps_are_read_as_they_are_written() -> None:
    first, last = written(
        """
# one: The first
A line
and another.

A paragraph.
? What
comes?
- This
- That

# two: The last
? Why?
> So.
""",
        finished={"one": True},
    )
    assert (first.name, first.title, first.finished) == ("one", "The first", True)
    assert first.text == ("A line and another.", "A paragraph.")
    assert (first.asks, first.choices) == ("What comes?", ("This", "That"))
    assert (last.text, last.asks, last.questions) == ((), "", (("Why?", "So."),))


def test_a_step_can_be_named_in_a_link_and_has_something_to_read_without_a_model() -> None:
    for place in PLACES:
        lesson, task, step = place
        names = [other.name for other in lesson.steps[task.name]]
        assert names.count(step.name) == 1 and re.fullmatch(r"[a-z_]+", step.name), title(place)
        assert step.title and all(step.text) and "<script" not in step.exhibit(), title(place)
        assert bool(step.choices) is (step.live is not None), title(place)
        assert (len(step.questions) >= 3) is (step.name == names[-1]), title(place)


def test_what_is_run_ends_in_a_sentence_a_judged_guess_and_figures_with_their_source(
    home: Path,
) -> None:
    def check(place: Place) -> None:
        finding, step = last_finding(place), place[2]
        assert finding.says.endswith(".") and not finding.progress
        assert finding.came_true is None or 0 <= finding.came_true < len(step.choices)
        for figure in (each for shown in finding.compared.values() for each in shown):
            found = re.match(r"n = ([\d,]+), 95 % interval", figure.note)
            assert (
                (found and int(found[1].replace(",", "")) >= MIN_ROWS)
                if figure.live
                else (re.search(SOURCES, figure.note))
            ), figure

    wrong = failures(check, ((place,) for place in PLACES if place[2].live))
    assert not wrong, wrong
