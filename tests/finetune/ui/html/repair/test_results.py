"""What the Repair tab shows of runs of one kind, and of several kinds together."""

from dataclasses import replace

import pytest

from finetune.ui.html.repair.results import onward, results
from probe.runs.gallery import OWNER
from tests.support.pages.attacks import ATTACKS
from tests.support.pages.markup import DRAWING, require_ours
from tests.support.runs.repairs import (
    CALIBRATED,
    CALIBRATION_PLAN,
    MITIGATED,
    TRANSFERRED,
    calibration_run,
    mitigation_run,
    transfer_run,
)

DRAWN = frozenset(DRAWING)
ALL = [transfer_run(), mitigation_run(), calibration_run()]


def test_of_several_runs_the_mitigation_speaks_first() -> None:
    page = results(ALL)
    said = page.partition('<p class="say">')[2].partition("</p>")[0]
    assert said == (
        "Taught a class “invalid”, MiniLM finds 94 % of the broken texts and loses 0.6 "
        "points on whole ones. Rescaling its confidence finds none."
    )
    assert page.count('class="say"') == 1 and page.count('class="lead"') == 2


def test_runs_stand_in_the_order_of_measuring_mending_and_asking_how_far_it_reaches() -> None:
    page = results(ALL)
    titles = ("As it was", "What each method finds", "does it know the others?")
    places = [page.index(f'aria-label="{title}') for title in titles[:1]]
    places += [page.index(title) for title in titles[1:]]
    assert places == sorted(places)


def test_a_temperature_that_was_not_tried_is_not_spoken_of() -> None:
    plan = replace(CALIBRATION_PLAN, methods=("smoothing",))
    without = calibration_run((CALIBRATED[0], CALIBRATED[2]), plan)
    assert "Rescaling" not in results([mitigation_run(), without])
    assert "Rescaling" not in results([mitigation_run()])


def test_a_run_alone_says_its_own_sentence_once() -> None:
    page = results([transfer_run()])
    assert page.count("Taught one kind of broken text, MiniLM finds 96 % of that kind") == 1
    assert 'class="lead"' not in page


@pytest.mark.parametrize(
    "run",
    [
        calibration_run(CALIBRATED[:1]),
        mitigation_run(MITIGATED[:1]),
        transfer_run(TRANSFERRED[:1]),
    ],
    ids=lambda run: run.kind,
)
def test_a_run_under_way_shows_what_is_there_and_says_no_outcome(run: object) -> None:
    page = results([run])  # type: ignore[list-item]  # a stored run
    assert 'class="say"' not in page and 'class="card picture"' in page
    require_ours(page, DRAWN)


def test_a_failed_run_says_why_first() -> None:
    failed = mitigation_run(MITIGATED[:1], state="failed", error="the model is <gone>")
    assert results([failed]).startswith(
        '<div class="repaired"><div class="problem sentence" role="alert">the model is &lt;gone&gt;'
    )


def test_a_repaired_model_can_be_probed_and_compared() -> None:
    links = onward(mitigation_run(kept="minilm-invalid-12ab"))
    assert 'href="./?task=nli&amp;model=minilm-invalid-12ab"' in links
    assert "view=compare&amp;task=nli&amp;models=minilm%2Cminilm-invalid-12ab" in links


def test_runs_of_the_gallery_keep_no_model_and_have_one_link() -> None:
    runs = [replace(run, owner=OWNER, id=f"gallery-{run.kind}") for run in ALL]
    page = results(runs)
    together = "gallery-calibration%2Cgallery-mitigation%2Cgallery-transfer"
    assert f"aim=repair&amp;task=nli&amp;run={together}" in page
    assert page.count("models are not kept") == 1
    assert "models are not kept" not in results(ALL)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_name_or_message_becomes_markup(attack: str) -> None:
    runs = [
        replace(run, id=attack, kept=attack, error=attack, plan={**run.plan, "model": attack})
        for run in ALL
    ]
    warned = replace(runs[1], verdict={**runs[1].verdict, "warnings": [attack]})
    text = require_ours(results([*runs, warned]), DRAWN).text
    assert attack in text
