"""What the Generalise tab shows of a run."""

from dataclasses import replace

import pytest

from finetune.trials.generalisation import judged_anew
from finetune.trials.inoculation import Cell
from finetune.ui.html.generalisation import (
    beside,
    grid_frame,
    in_words,
    original,
    results,
)
from tests.support.runs.generalisation import make_points, make_run, scores
from tests.support.runs.points import make_point
from tests.support.runs.points import make_run as inoculation_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]
GOOD = (285, 285, 285)
RUN = make_run(make_points(MATRIX))


def test_a_judged_run_shows_badge_sentence_and_heat_map() -> None:
    page = results(RUN)
    assert '<span class="badge bad">learnt the set, not the skill</span>' in page
    assert "MiniLM is right on 98 % of them and on 44 % of those with complex sentences" in page
    assert page.count('class="heat"') == 1
    assert "Fast mode trains the upper layers only" in page


def test_the_rule_names_the_threshold_in_points() -> None:
    assert f'data-rule="{RUN.id}" value="10"' in results(RUN)


def test_another_rule_changes_badge_and_sentence_and_names_what_is_stored() -> None:
    page = results(RUN, anew=judged_anew(RUN, 0.6))
    assert '<span class="badge good">learnt the skill</span>' in page
    assert f'data-rule="{RUN.id}" value="60"' in page
    assert "Stored with the run: learnt the set, not the skill, by 10 points." in page
    assert "serves every kind" not in page


def test_the_stored_rule_typed_again_is_no_other_rule() -> None:
    assert results(RUN, anew=judged_anew(RUN, 0.1)) == results(RUN)


def test_the_sentence_names_the_kinds_that_serve_every_kind() -> None:
    assert in_words(RUN).endswith(
        "Training on medium sentences or on complex sentences serves every kind."
    )
    all_serve = in_words(make_run(make_points([GOOD, GOOD, GOOD])))
    assert "serves every kind" not in all_serve


def test_what_was_not_learnt_is_said_in_words() -> None:
    page = results(make_run(make_points([(100, 100, 100)] * 3)))
    assert '<span class="badge plain">not learnt</span>' in page
    assert "no better than one answer for all" in page


def test_what_the_original_set_lost_meanwhile_stands_beside_the_outcome() -> None:
    before, after = make_points(MATRIX)[:2], make_points(MATRIX)[2:]
    forgetting = [*before, *(replace(point, original=scores(150)) for point in after)]
    words = "Meanwhile it forgot: of the original set it had 80 % right before and 50 % after."
    assert words in results(make_run(forgetting))
    assert "it forgot" not in results(RUN)


def test_the_heat_map_s_twin_holds_its_figures() -> None:
    frame = grid_frame(RUN).set_index(["trained on", "tested on"])
    assert len(frame) == 9
    assert frame.loc[("Simple", "Complex"), "accuracy"] == pytest.approx(44)
    assert frame.loc[("Simple", "Complex"), "low"] < 44


def test_each_figure_of_the_heat_map_leads_to_a_panel_of_curves() -> None:
    page = results(RUN)
    for title in ("Simple", "Medium", "Complex"):
        assert page.count(f'data-cell="Trained on: {title}"') == 3
        assert page.count(f'data-title="Trained on: {title}"') == 1


def test_the_original_set_is_drawn_before_and_after_each_training() -> None:
    shown = original(RUN)
    assert "trained on Simple, 0 examples: 80.0 %" in shown
    assert "trained on Complex, 100 examples: 80.0 %" in shown


def test_the_table_before_training_has_a_line_for_each_kind_and_the_original_set() -> None:
    page = results(RUN)
    folded = page.partition("before any training, by label")[2]
    assert "<td>Original set</td><td>80.0</td><td>80.0</td><td>80.0</td><td>80.0</td>" in folded
    for title in ("Simple", "Medium", "Complex"):  # 33, 33 and 34 of 100 of each label
        assert f"<td>{title}</td><td>33.0</td><td>34.0</td><td>33.0</td><td>33.3</td>" in folded


def test_a_run_under_way_shows_its_curves_alone() -> None:
    page = results(make_run(make_points(MATRIX)[:3], state="running"))
    assert "Trained on: Simple" in page
    assert "badge" not in page


def test_a_run_that_has_nothing_yet_shows_nothing() -> None:
    assert results(make_run([], state="queued")) == ""


def test_a_failed_run_says_why_first() -> None:
    failed = replace(make_run([], state="failed"), error="the model is <gone>")
    assert '"generalised"><div class="problem sentence" role="alert">the model is &lt;gone&gt;' in (
        results(failed)
    )


def test_the_inoculation_stands_beside_with_the_paper_s_argument() -> None:
    run = inoculation_run(
        [make_point(90, 60), make_point(90, 88, cell=Cell(100, 2e-5, 0))], challenge="numerical"
    )
    shown = beside(run)
    assert "1 · gap closes" in shown and "does not show that the skill was learnt" in shown
    assert "100 examples take the accuracy on others of the same set from 60 to 88 %" in shown
    assert beside(None) == ""
