"""The lesson on inoculation: every step shows its pairs, the gallery's runs are judged."""

from pathlib import Path

import pytest

from finetune.ui.lessons.inoculate import INOCULATE
from probe.errors import RunError
from probe.tasks.nli import NLI
from tests.support.pages.lessons import Place, gallery_setting, last_finding, places, title

PLACES = places([INOCULATE])
GALLERY = ("dose", "spelling", "numbers")
STEPS = {step.name: step for step in INOCULATE.steps[NLI.name]}


@pytest.mark.parametrize("place", PLACES, ids=title)
def test_a_step_shows_its_pairs_without_a_model(place: Place) -> None:
    assert "<script" not in place[2].exhibit()
    assert all(place[2].text)


def test_accuracy_is_measured_before_and_after_the_change(home: Path) -> None:
    finding = last_finding((INOCULATE, NLI, STEPS["stress"]))
    paper_before, paper_after, before, after = finding.compared[0].figures
    assert paper_before.share > paper_after.share
    assert not paper_after.live and paper_after.note.startswith("Naik et al. 2018")
    assert before.note.startswith("n = 240,")
    assert after.note.startswith("n = 240,")


@pytest.mark.parametrize("name", GALLERY)
def test_a_run_of_the_gallery_is_judged(name: str, home: Path) -> None:
    live = STEPS[name].live
    assert live is not None
    (finding,) = live(gallery_setting("minilm"))
    assert finding.says.startswith("With 500 examples: ")
    assert all(figure.live for shown in finding.compared[:2] for figure in shown.figures)


def test_a_model_without_a_run_is_told_which_have_one(home: Path) -> None:
    live = STEPS["dose"].live
    assert live is not None
    with pytest.raises(
        RunError, match="choose one of Decomposable Attention, ESIM, ESIM with characters, MiniLM"
    ):
        list(live(gallery_setting("mine")))
