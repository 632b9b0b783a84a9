"""What the Generalise tab shows of a run."""

from dataclasses import replace

import pytest

from finetune.experiments.inoculation.plan import Cell
from finetune.ui.html.generalisation import beside, grid_frame, original_frame, results
from tests.support.generalisation import make_points, make_run
from tests.support.points import make_point
from tests.support.points import make_run as inoculation_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]
RUN = make_run(make_points(MATRIX))


def test_a_judged_run_shows_badge_sentence_and_heat_map() -> None:
    page = results(RUN)
    assert '<span class="badge bad">learnt the data set</span>' in page
    assert "MiniLM is right on 98% of them and on 44% of those with complex sentences" in page
    assert page.count('class="heat"') == 1
    assert "Fast mode trains the upper layers only" in page


def test_the_heat_map_s_twin_holds_its_figures() -> None:
    frame = grid_frame(RUN.verdict["grid"]).set_index(["trained on", "tested on"])
    assert len(frame) == 9
    assert frame.loc[("simple", "complex"), "accuracy"] == pytest.approx(44)
    assert frame.loc[("simple", "complex"), "low"] < 44


def test_the_original_set_is_told_before_and_after() -> None:
    lines = original_frame(RUN).values.tolist()
    assert lines[0] == ["as it was", 0, 80.0, 300]
    assert ["Simple", 100, 80.0, 300] in lines


def test_a_run_under_way_shows_its_curves_alone() -> None:
    page = results(make_run(make_points(MATRIX)[:3], state="running"))
    assert "Trained on: Simple" in page
    assert "badge" not in page


def test_a_run_that_has_nothing_yet_shows_nothing() -> None:
    assert results(make_run([], state="queued")) == ""


def test_a_failed_run_says_why_first() -> None:
    failed = replace(make_run([], state="failed"), error="the model is <gone>")
    assert results(failed).startswith('<div class="problem" role="alert">the model is &lt;gone&gt;')


def test_the_inoculation_stands_beside_with_the_paper_s_argument() -> None:
    run = inoculation_run(
        [make_point(90, 60), make_point(90, 88, cell=Cell(100, 2e-5, 0))], challenge="numerical"
    )
    shown = beside(run)
    assert "1 · gap closes" in shown and "does not show that the phenomenon was learnt" in shown
    assert beside(None) == ""
