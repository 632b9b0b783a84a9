"""The lesson "learn or memorise": models answer templates, the gallery's runs are judged."""

from pathlib import Path

import pytest

from finetune.ui.lessons.generalise import GENERALISE
from probe.errors import RunError
from probe.tasks.nli import NLI
from tests.support.pages.lessons import Place, gallery_setting, last_finding, places, setting, title

PLACES = places([GENERALISE])
STEPS = {step.name: step for step in GENERALISE.steps[NLI.name]}


@pytest.mark.parametrize("place", PLACES, ids=title)
def test_a_step_shows_its_pairs_without_a_model(place: Place) -> None:
    assert "<script" not in place[2].exhibit()
    assert all(place[2].text)


@pytest.mark.parametrize("name", ["before", "giving"])
def test_a_model_answers_each_kind_beside_the_paper_s_figure(name: str, home: Path) -> None:
    finding = last_finding((GENERALISE, NLI, STEPS[name]))
    paper, every, *kinds = finding.compared[0].figures
    assert not paper.live and paper.note.startswith("Rozen et al. 2019")
    assert every.note.startswith("n = 240,")
    assert [kind.who for kind in kinds] == ["Simple, here", "Medium, here", "Complex, here"]
    assert every.share == pytest.approx(sum(kind.share for kind in kinds) / 3)


@pytest.mark.parametrize("name", ["numbers", "giving-trained"])
def test_a_run_of_the_gallery_is_judged(name: str, home: Path) -> None:
    live = STEPS[name].live
    assert live is not None
    (finding,) = live(gallery_setting("minilm"))
    own, away = finding.compared[0].figures
    assert own.share > away.share
    assert finding.came_true == int(own.share - away.share >= 0.1)
    assert "aim=generalise" in finding.shown
    assert "Rozen et al. 2019" in finding.shown


def test_a_model_without_a_run_is_told_which_have_one(home: Path) -> None:
    live = STEPS["numbers"].live
    assert live is not None
    with pytest.raises(RunError, match="choose one of these models: ESIM, MiniLM"):
        list(live(gallery_setting("mine")))


def test_an_empty_gallery_is_told_too(home: Path) -> None:
    live = STEPS["numbers"].live
    assert live is not None
    with pytest.raises(RunError, match="choose one of these models: none"):
        list(live(setting(NLI)))
