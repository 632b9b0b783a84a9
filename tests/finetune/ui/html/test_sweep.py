"""What the Inoculate tab shows of several runs."""

import re
from dataclasses import replace

from finetune.experiments.inoculation.plan import Cell
from finetune.ui.html.sweep import curves, error_alerts, list_title, outcomes_table, progress_of_all
from probe.runs.gallery import OWNER
from tests.support.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
RUNS = [
    make_run(POINTS, model, challenge, f"{model}-{challenge}")
    for challenge in ("negation", "spelling")
    for model in ("da", "esim")
]


def test_each_challenge_is_a_picture_with_a_name_and_a_table() -> None:
    shown = curves(RUNS, "oracle_lr")
    assert re.findall("<figcaption>([^<]*)<", shown) == ["negation", "spelling"]
    assert shown.count('<svg role="img" aria-label="accuracy on ') == 2
    assert shown.count('<div class="sheet"') == 2


def test_the_legend_names_each_model_once() -> None:
    legend = curves(RUNS, "oracle_lr").partition("</p>")[0]
    assert legend.count(" da<") == legend.count(" esim<") == 1


def test_no_point_draws_nothing() -> None:
    assert curves([make_run([], state="queued")], "oracle_lr") == ""


def test_the_table_has_a_row_for_each_judged_run_that_opens_its_card() -> None:
    table = outcomes_table(
        [*RUNS, make_run([], run_id="new", state="queued")], "esim-spelling", "oracle_lr"
    )
    assert re.findall('data-cell="([^"]*)"', table) == [run.id for run in RUNS]
    assert table.count('<tr class="opened">') == 1
    assert "20.0" in table and "1: dataset weakness" in table


def test_the_figures_are_those_of_the_rate_that_is_drawn() -> None:
    bold = make_point(70, 79, cell=Cell(50, 1e-2, 0), dev=0.70)
    mild = make_point(80, 62, cell=Cell(50, 1e-5, 0), dev=0.80)
    points = [POINTS[0], bold, mild]
    runs = [make_run(points, lrs=(1e-5, 1e-2), run_id=name) for name in "ab"]
    assert "<td>95.0<span" in outcomes_table(runs, "", "oracle_lr")  # 19 of the gap's 20 points
    assert "<td>10.0<span" in outcomes_table(runs, "", "dev_lr")


def test_one_run_needs_no_table() -> None:
    assert outcomes_table(RUNS[:1], "", "oracle_lr") == ""


def test_one_run_shows_its_cells_and_several_a_line_each() -> None:
    waiting = [replace(run, state="queued") for run in RUNS]
    assert 'class="cells"' in progress_of_all(waiting[:1])
    lines = progress_of_all(waiting)
    assert 'class="cells"' not in lines and lines.count('role="progressbar"') == 4


def test_of_several_the_one_at_work_shows_its_cells() -> None:
    assert 'class="cells"' in progress_of_all([RUNS[0], replace(RUNS[1], state="running")])


def test_runs_of_the_gallery_have_no_progress() -> None:
    assert progress_of_all([replace(run, owner=OWNER) for run in RUNS]) == ""


def test_each_trouble_is_said_once() -> None:
    failed = [replace(run, state="failed", error="memory is short") for run in RUNS]
    assert error_alerts(failed).count("memory is short") == 1


def test_a_run_that_is_being_cancelled_is_listed_so() -> None:
    run = replace(RUNS[0], state="running", cancelling=True)
    assert list_title(run) == "negation · da · cancelling · full, da-negation"
