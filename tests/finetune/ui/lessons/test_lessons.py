"""The lessons about training: pairs are shown, models answer, the gallery's runs are judged."""

from pathlib import Path

import pytest

from finetune.ui.lessons.generalise import GENERALISE
from finetune.ui.lessons.inoculate import INOCULATE
from probe.errors import RunError
from probe.tasks.nli import NLI
from probe.ui.lessons.lesson import Lesson, Step
from tests.support.pages.lessons import gallery_setting, last_finding, places, setting, title


def step_of(lesson: Lesson, name: str) -> Step:
    """Return a step by its name."""
    return next(step for step in lesson.steps[NLI.name] if step.name == name)


def test_a_step_shows_its_pairs_without_a_model() -> None:
    for place in places([GENERALISE, INOCULATE]):
        assert "<script" not in place[2].exhibit(), title(place)
        assert all(place[2].text), title(place)


def test_a_model_answers_each_kind_beside_the_paper_s_figure(home: Path) -> None:
    for name in ("before", "giving"):
        finding = last_finding((GENERALISE, NLI, step_of(GENERALISE, name)))
        paper, every, *kinds = finding.compared[0].figures
        assert not paper.live and paper.note.startswith("Rozen et al. 2019"), name
        assert every.note.startswith("n = 240,"), name
        assert [kind.who for kind in kinds] == ["Simple, here", "Medium, here", "Complex, here"]
        assert every.share == pytest.approx(sum(kind.share for kind in kinds) / 3), name


def test_accuracy_is_measured_before_and_after_the_change(home: Path) -> None:
    finding = last_finding((INOCULATE, NLI, step_of(INOCULATE, "stress")))
    paper_before, paper_after, before, after = finding.compared[0].figures
    assert paper_before.share > paper_after.share
    assert not paper_after.live and paper_after.note.startswith("Naik et al. 2018")
    assert before.note.startswith("n = 240,") and after.note.startswith("n = 240,")


def test_a_run_of_the_gallery_is_judged(home: Path) -> None:
    for lesson, name in (
        *((INOCULATE, name) for name in ("dose", "spelling", "numbers")),
        *((GENERALISE, name) for name in ("numbers", "giving-trained")),
    ):
        live = step_of(lesson, name).live
        assert live is not None
        (finding,) = live(gallery_setting("minilm"))
        first, second = finding.compared[0].figures
        assert first.live and second.live, name
        if lesson is INOCULATE:
            assert finding.says.startswith("With 500 examples: "), name
        else:
            assert first.share > second.share
            assert finding.came_true == int(first.share - second.share >= 0.1)
            assert "aim=generalise" in finding.shown and "Rozen et al. 2019" in finding.shown


def test_a_model_without_a_run_is_told_which_have_one(home: Path) -> None:
    mine = gallery_setting("mine")
    for lesson, name, others, given in (
        (GENERALISE, "numbers", "one of these models: ESIM, MiniLM", mine),
        (GENERALISE, "numbers", "one of these models: none", setting(NLI)),
        (INOCULATE, "dose", "one of Decomposable Attention, ESIM, ESIM with char", mine),
    ):
        live = step_of(lesson, name).live
        assert live is not None
        with pytest.raises(RunError, match=others):
            list(live(given))


def test_a_run_of_one_s_own_that_was_never_begun_shows_nothing_and_needs_no_stop(
    home: Path,
) -> None:
    own, here = step_of(INOCULATE, "own"), gallery_setting("minilm")
    assert own.again is not None and own.stop is not None
    assert list(own.again(here)) == []
    own.stop(here.core, here.visitor, here.model)
