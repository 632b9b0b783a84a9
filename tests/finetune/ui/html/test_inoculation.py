"""What Train shows of inoculations, one and several."""

import re
from dataclasses import replace

from markupsafe import Markup

from finetune.trials.inoculation import BASE, Cell, Epoch, InoculationCell, InoculationRun
from finetune.ui.html.inoculation import curves, gap_plot, grid, outcome, outcomes_table, results
from probe.runs.gallery import OWNER
from probe.runs.run import RunCell
from tests.support.runs.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
DONE = make_run(POINTS)
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


def test_the_results_say_what_came_out_and_tell_one_run_in_words() -> None:
    shown = results(RUNS)
    assert 'class="say">Gaps closed by examples. Decomposable Attention: 2 closed' in shown
    assert shown.count('class="card outcome"') == 1 and "negation on da" in shown
    opened = results(
        RUNS, "dev_lr", "esim-spelling", lambda run: Markup("<i>{}</i>").format(run.id)
    )
    assert "spelling on esim" in opened and "<i>esim-spelling</i>" in opened
    assert 'data-by="dev_lr" checked' in opened
    begun = results([make_run(POINTS[:1], state="running")])
    assert "The first training is under way" in begun and "card outcome" not in begun


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


def with_cell(state: InoculationCell) -> InoculationRun:
    """The run with its last cell in this state."""
    return replace(DONE, cells=(*DONE.cells[:-1], state))


def cell_texts(run: InoculationRun) -> list[str]:
    return [re.sub("<[^>]*>", " ", one) for one in re.findall("<td.*?</td>", grid(run))]


def test_the_grid_has_a_row_for_each_size_and_a_column_for_each_rate_and_seed() -> None:
    plan = replace(DONE.plan, sizes=(10, 50), lrs=(1e-5, 2e-5), seeds=(0, 1))
    queued = [
        RunCell(1, Cell(size, lr, seed), "queued")
        for size in plan.sizes
        for lr in plan.lrs
        for seed in plan.seeds
    ]
    text = grid(replace(DONE, plan=plan, cells=(DONE.cells[0], *queued)))
    assert re.findall('scope="row">([^<]*)<', text) == ["0, as it was", "10", "50"]
    heads = re.findall('scope="col">([^<]*)<', text)[1:]
    assert heads == ["1e-05, seed 0", "1e-05, seed 1", "2e-05, seed 0", "2e-05, seed 1"]
    assert text.count("<td") == 1 + 8


def test_a_finished_cell_shows_both_accuracies_and_its_seconds() -> None:
    last = cell_texts(DONE)[-1]
    assert "✓" in last and "78.0" in last and "79.0 · 2 s" in last


def test_a_cell_says_its_state_by_a_sign_and_a_word_not_by_shade_alone() -> None:
    cell, at = DONE.cells[-1].key, Epoch(Cell(50, 2e-5, 0), 3, 0.5, 0.71, 2e-5, 40.0)
    states = {
        "▶ epoch 3 dev 71.0": RunCell(2, cell, "running", at),
        "▶ running": RunCell(2, cell, "running"),
        "▶ testing the model as it was, on both test sets": RunCell(2, BASE, "running"),
        "· queued": RunCell(2, cell, "queued"),
        "✕ failed memory is short": RunCell(2, cell, "failed", error="memory is short"),
        "– cancelled": RunCell(2, cell, "cancelled"),
    }
    for words, state in states.items():
        assert " ".join(cell_texts(with_cell(state))[-1].split()) == words


def test_the_card_names_the_outcome_of_the_choice_that_is_drawn() -> None:
    bold = make_point(700, 790, 1000, Cell(100, 1e-2, 0), dev=0.70)
    mild = make_point(800, 620, 1000, Cell(100, 1e-5, 0), dev=0.80)
    run = make_run([make_point(800, 600, 1000), bold, mild], lrs=(1e-5, 1e-2))
    assert "<h2>Outcome 3" in outcome(run, "oracle_lr")
    assert "<h2>Outcome 2" in outcome(run, "dev_lr")


def test_the_card_has_the_command_and_that_of_the_gallery_a_link_to_the_run() -> None:
    assert "python -m finetune inoculate --model minilm" in outcome(DONE)
    link = "train?aim=inoculate&amp;task=nli&amp;run=run1"
    assert link not in outcome(DONE)  # Copy link makes one with a grant
    assert link in outcome(replace(DONE, owner=OWNER))


def test_a_kept_model_can_be_probed_and_compared() -> None:
    shown = outcome(replace(DONE, kept="minilm-negation-50-run1"))
    assert "?task=nli&amp;model=minilm-negation-50-run1" in shown
    assert "measure?view=compare&amp;task=nli&amp;models=minilm%2Cminilm-negation-50-run1" in shown


def test_the_gallerys_models_are_not_offered() -> None:
    assert "its model is not kept" in outcome(replace(DONE, owner=OWNER))


def test_a_run_that_is_not_judged_yet_has_no_card() -> None:
    assert outcome(make_run(POINTS[:1], state="running")) == ""
