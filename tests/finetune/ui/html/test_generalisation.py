"""What Train shows of a generalisation."""

from dataclasses import replace

import pytest

from finetune.trials.generalisation import judged_anew
from finetune.trials.inoculation import Cell
from finetune.ui.html.generalisation import beside, grid_frame, in_words, results
from tests.support.runs.generalisation import make_points, make_run, scores
from tests.support.runs.points import make_point
from tests.support.runs.points import make_run as inoculation_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]
RUN = make_run(make_points(MATRIX))
RULE = f'data-rule="{RUN.id}" value="'


def test_a_judged_run_shows_badge_rule_sentence_and_figures_that_lead_to_curves() -> None:
    page = results(RUN)
    for words in (
        '<span class="badge bad">learnt the set, not the skill</span>', f'{RULE}10"',
        "MiniLM is right on 98 % of them and on 44 % of those with complex sentences: 54 points",
        "Intervals are over repeats, so few that they are wide.", "<td>not known</td>",
        "beside the paper", "Accuracy by right answer",
        "Fast mode trains the upper layers only",
        "trained on Simple, 0 examples: 80.0 %", "trained on Complex, 100 examples: 80.0 %",
        "<td>Original set</td><td>80.0</td><td>80.0</td><td>80.0</td><td>80.0</td>",
    ):  # fmt: skip
        assert words in page, words
    assert page.count('class="heat"') == 1 and "it forgot" not in page
    for title in ("Simple", "Medium", "Complex"):
        assert page.count(f'data-cell="Trained on: {title}"') == 3
        assert page.count(f'data-title="Trained on: {title}"') == 1
        # before training, of 33, 33 and 34 of 100 of each label
        assert f"<td>{title}</td><td>33.0</td><td>34.0</td><td>33.0</td><td>33.3</td>" in page
    frame = grid_frame(RUN).set_index(["trained on", "tested on"])
    assert len(frame) == 9 and frame.loc[("Simple", "Complex"), "low"] < 44
    assert frame.loc[("Simple", "Complex"), "accuracy"] == pytest.approx(44)


def test_another_rule_changes_badge_and_sentence_and_names_what_is_stored() -> None:
    page = results(RUN, anew=judged_anew(RUN, 0.6))
    assert '<span class="badge good">learnt the skill</span>' in page and f'{RULE}60"' in page
    assert "Stored with the run: learnt the set, not the skill, by 10 points." in page
    assert "serves every kind" not in page
    assert results(RUN, anew=judged_anew(RUN, 0.1)) == results(RUN)


def test_the_outcome_says_what_serves_every_kind_what_was_not_learnt_and_what_was_lost() -> None:
    served = "Training on medium sentences or on complex sentences serves every kind."
    assert in_words(RUN).endswith(served)
    assert "serves every kind" not in in_words(make_run(make_points([MATRIX[1]] * 3)))
    page = results(make_run(make_points([(100, 100, 100)] * 3)))
    assert '<span class="badge plain">not learnt</span>' in page
    assert "no better than one answer for all" in page
    before, after = make_points(MATRIX)[:2], make_points(MATRIX)[2:]
    forgetting = [*before, *(replace(point, original=scores(150)) for point in after)]
    words = "Meanwhile it forgot: of the original set it had 80 % right before and 50 % after."
    assert words in results(make_run(forgetting))


def test_a_run_under_way_shows_its_curves_alone_and_a_failed_one_says_why_first() -> None:
    page = results(make_run(make_points(MATRIX)[:3], state="running"))
    assert "Trained on: Simple" in page and "badge" not in page
    assert results(make_run([], state="queued")) == ""
    failed = results(replace(make_run([], state="failed"), error="the model is <gone>"))
    said = '"generalised"><div class="problem sentence" role="alert">the model is &lt;gone&gt;'
    assert said in failed


def test_the_inoculation_stands_beside_with_the_paper_s_argument() -> None:
    points = [make_point(90, 60), make_point(90, 88, cell=Cell(100, 2e-5, 0))]
    shown = beside(inoculation_run(points, challenge="numerical"))
    assert "1 · gap closes" in shown and "does not show that the skill was learnt" in shown
    assert "100 examples take the accuracy on others of the same set from 60 to 88 %" in shown
    assert beside(None) == ""
