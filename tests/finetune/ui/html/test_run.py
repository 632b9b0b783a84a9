"""What the Inoculate tab shows of one run."""

import re
from dataclasses import replace

from finetune.trials.inoculation import BASE, Cell, Epoch, InoculationCell, InoculationRun
from finetune.ui.html.run import grid, outcome, progress
from probe.runs.gallery import OWNER
from probe.runs.run import RunCell
from tests.support.runs.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
DONE = make_run(POINTS)


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


def test_progress_says_how_many_trainings_are_done_and_how_long_it_took() -> None:
    assert "1 of 1 trainings · 60 s" in progress(DONE)
    assert "1 of 1 trainings · 19 min" in progress(replace(DONE, finished=DONE.started + 1140))


def test_progress_names_state_challenge_model_and_speed_in_plain_words() -> None:
    running = replace(DONE, state="running")
    assert "<b>Running: Add a negation on MiniLM, as published</b>" in progress(running)
    assert "<b>Stopping:" in progress(replace(running, cancelling=True))


def test_a_run_under_way_says_how_long_it_still_takes_once_it_can() -> None:
    waiting = RunCell(2, Cell(100, 2e-5, 0), "queued")
    running = replace(DONE, state="running", cells=(*DONE.cells, waiting))
    assert " left</span>" in progress(running)
    assert " left</span>" not in progress(replace(running, cells=(DONE.cells[0], waiting)))


def test_what_failed_is_said_in_a_sentence() -> None:
    failed = replace(DONE, state="failed", error="<memory> is short")
    assert '<div class="problem" role="alert">&lt;memory&gt; is short' in progress(failed)


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
