"""The lessons about training: models answer, and the gallery's runs are judged."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from finetune.ui.lessons import inoculate as of_inoculate
from finetune.ui.lessons.ask import ASK, FOLLOWS_NOT, RIGHT
from finetune.ui.lessons.generalise import GENERALISE
from finetune.ui.lessons.inoculate import INOCULATE
from probe.errors import RunError
from probe.models.prompts import prompts
from probe.settings import ASSETS
from probe.tasks.nli import NLI
from probe.ui.lessons.lesson import Lesson, Step
from tests.support.models.tiny_models import tiny_prompted
from tests.support.pages.lessons import gallery_setting, last_finding, places, setting, title


def step_of(lesson: Lesson, name: str) -> Step:
    """Return a step by its name."""
    return next(step for step in lesson.steps[NLI.name] if step.name == name)


def test_each_step_has_a_text_and_its_pairs_and_two_of_three_a_guess() -> None:
    for place in places([GENERALISE, INOCULATE, ASK]):
        step = place[2]
        assert all(step.text) and "<script" not in step.exhibit(), title(place)
        assert bool(step.live) is bool(step.choices) is not bool(step.questions), title(place)


def test_what_is_measured_here_stands_beside_the_paper_s_figure(home: Path) -> None:
    for name in ("before", "giving"):
        ((paper, every, *kinds),) = last_finding(
            (GENERALISE, NLI, step_of(GENERALISE, name))
        ).compared.values()
        assert not paper.live and paper.note.startswith("Rozen et al. 2019"), name
        assert every.note.startswith("n = 240,"), name
        assert [kind.who for kind in kinds] == ["Simple, here", "Medium, here", "Complex, here"]
        assert every.share == pytest.approx(sum(kind.share for kind in kinds) / 3), name
    stressed = last_finding((INOCULATE, NLI, step_of(INOCULATE, "stress")))
    ((paper, paper_after, *here),) = stressed.compared.values()
    assert paper.share > paper_after.share and paper_after.note.startswith("Naik et al. 2018")
    assert all(each.note.startswith("n = 240,") for each in here)


def test_a_run_of_the_gallery_is_judged(home: Path) -> None:
    for lesson, name in (
        *((INOCULATE, name) for name in ("dose", "spelling", "numbers")),
        *((GENERALISE, name) for name in ("numbers", "giving-trained")),
    ):
        live = step_of(lesson, name).live
        assert live is not None
        (finding,) = live(gallery_setting("minilm"))
        first, second = next(iter(finding.compared.values()))
        assert first.live and second.live, name
        if lesson is INOCULATE:
            assert finding.says.startswith("With 500 examples: "), name
        else:
            assert finding.came_true == int(first.share - second.share >= 0.1), name
            assert "aim=generalise" in finding.shown and "Rozen et al. 2019" in finding.shown
            skill = "numerical" if name == "numbers" else "dative"
            path = ASSETS / "gallery" / f"minilm-{skill}-complexity.json"
            plan = json.loads(path.read_text(encoding="utf-8"))["plan"]
            told = f"{max(plan['sizes']):,} examples of a kind, {len(plan['seeds'])} times."
            assert told in finding.shown, name


def test_who_has_no_language_model_is_shown_a_kept_one_beside_the_trained_one(home: Path) -> None:
    for name, measure in (("ask", RIGHT), ("hans", FOLLOWS_NOT)):
        finding = last_finding((ASK, NLI, step_of(ASK, name)))
        trained, kept = finding.compared[measure]
        assert trained.live and not kept.live and "95 % interval" in kept.note, name
        assert f"{kept.who} {100 * kept.share:.0f} %" in finding.says, name
        assert "are a kept result" in finding.shown, name
    live = step_of(ASK, "dose").live
    assert live is not None
    (dose,) = live(gallery_setting("minilm"))
    assert "are a kept result" in dose.shown
    for figures in dose.compared.values():
        assert [it.live for it in figures] == [False, False, True, True]


def test_a_language_model_that_was_brought_is_asked_itself(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = replace(tiny_prompted(), prompt=prompts(NLI)["cloze"])
    here = replace(setting(NLI), classifier=model)
    live = step_of(ASK, "ask").live
    assert live is not None
    *_, finding = live(here)
    assert [it.who for it in finding.compared[RIGHT]] == ["MiniLM", "tiny-llama"]
    assert all(it.live for it in finding.compared[RIGHT]) and not finding.shown
    monkeypatch.setattr(of_inoculate, "is_asked", lambda name: True)
    plan = of_inoculate.own_plan("tiny")
    sets = of_inoculate.own_sets(plan)
    assert (plan.mode, plan.sizes, len(sets.challenge_test)) == ("context", (8, 32), 60)


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
    own, here = step_of(INOCULATE, "own"), gallery_setting("minilm")
    assert own.again is not None and own.stop is not None
    assert list(own.again(here)) == []  # none was ever begun
    own.stop(here.core, here.visitor, here.model)
