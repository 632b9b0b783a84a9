"""What the Inoculate tab shows of several runs."""

import re
from dataclasses import replace

from finetune.trials.inoculation import Cell
from finetune.ui.html.gap import gap_plot
from finetune.ui.html.panels import curves
from finetune.ui.html.sweep import (
    list_title,
    nothing_yet,
    outcomes_table,
    progress_of_all,
    sentence,
)
from probe.runs.gallery import OWNER
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from tests.support.runs.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
RUNS = [
    make_run(POINTS, model, challenge, f"{model}-{challenge}")
    for challenge in ("negation", "spelling")
    for model in ("da", "esim")
]


def test_each_challenge_is_a_picture_with_a_name_and_all_have_a_table() -> None:
    shown = curves(RUNS, "oracle_lr")
    assert re.findall("<h3>([^<]*)<", shown) == ["Add a negation", "Misspell a word"]
    assert shown.count('<svg role="img" aria-label="accuracy by number of examples') == 2
    assert shown.count('<div class="sheet"') == 1


def test_a_badge_names_the_outcome_of_each_run_and_opens_it_in_words() -> None:
    shown = curves([*RUNS, make_run(POINTS[:1], "da", "numerical", "new")], "oracle_lr")
    assert re.findall('data-cell="([^"]*)"', shown) == [run.id for run in RUNS]
    assert shown.count('class="badge good"') == 4 and "ESIM: 1 · gap closes<" in shown


def test_the_curves_can_be_taken_away() -> None:
    names = re.findall('download="([^"]*)"', curves(RUNS, "oracle_lr"))
    assert names == ["inoculation-curves.svg", "inoculation-curves.csv"]


def test_the_panel_of_the_opened_run_is_marked() -> None:
    shown = curves(RUNS, "oracle_lr", "esim-spelling")
    assert re.findall('class="card panel( opened)?"', shown) == ["", " opened"]


def test_the_legend_names_each_model_once() -> None:
    legend = curves(RUNS, "oracle_lr").partition('<div class="legend">')[2].partition("<a ")[0]
    assert legend.count("Decomposable Attention<") == legend.count(" ESIM<") == 1


def test_one_model_needs_no_name_in_the_legend() -> None:
    assert "glyph" not in curves(RUNS[:1], "oracle_lr")


def test_the_share_closed_of_each_run_is_a_row_with_its_meaning() -> None:
    plot = gap_plot(RUNS, "oracle_lr")
    assert plot.count('<span class="name">') == 4
    assert '<span class="soft">only lacked examples</span>' in plot
    assert gap_plot([make_run([], state="queued")], "oracle_lr") == ""


def test_where_there_is_no_gap_no_share_is_drawn() -> None:
    level = make_run([make_point(60, 60), make_point(60, 60, cell=Cell(50, 2e-5, 0))])
    plot = gap_plot([level], "oracle_lr")
    assert "no gap to close" in plot and "<u " not in plot


def test_a_sentence_stands_above_the_results() -> None:
    assert sentence(RUNS[:1], "oracle_lr").startswith('<p class="say">Decomposable Attention')
    assert sentence([], "oracle_lr") == ""


def test_an_empty_gallery_says_what_will_stand_there_and_how_to_get_it() -> None:
    shown = nothing_yet([], PARAPHRASE_IDENTIFICATION)
    assert "No finished run of paraphrase here yet" in shown and "press Start" in shown
    assert "begins with the first training" in nothing_yet([make_run([], state="queued")], NLI)
    assert "Take the run up again" in nothing_yet([make_run([], state="cancelled")], NLI)


def test_no_point_draws_nothing() -> None:
    assert curves([make_run([], state="queued")], "oracle_lr") == ""


def test_the_table_has_a_row_for_each_judged_run_that_opens_its_card() -> None:
    table = outcomes_table(
        [*RUNS, make_run([], run_id="new", state="queued")], "esim-spelling", "oracle_lr"
    )
    assert re.findall('data-cell="([^"]*)"', table) == [run.id for run in RUNS]
    assert table.count('<tr class="opened">') == 1
    assert "20.0" in table and "1 · gap closes" in table


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
    assert progress_of_all(RUNS) == ""


def test_of_several_the_one_at_work_shows_its_cells() -> None:
    assert 'class="cells"' in progress_of_all([RUNS[0], replace(RUNS[1], state="running")])


def test_runs_of_the_gallery_have_no_progress() -> None:
    assert progress_of_all([replace(run, owner=OWNER) for run in RUNS]) == ""


def test_a_run_that_is_being_stopped_is_listed_so() -> None:
    run = replace(RUNS[0], state="running", cancelling=True)
    assert list_title(run) == (
        "Add a negation · Decomposable Attention · stopping · as published, da-negation"
    )
