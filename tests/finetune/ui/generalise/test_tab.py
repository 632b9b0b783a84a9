"""The Generalise tab's entry: what it shows of runs, and the files that a person takes away."""

from pathlib import Path

import pytest

from finetune.report.inoculation import shown_runs
from finetune.trials.generalisation import KIND
from finetune.ui.generalise.tab import show_judged_anew, show_runs, write_files
from finetune.ui.generalise.titles import place, skills, subject
from probe.errors import RunError
from probe.runs.gallery import FOLDER, gallery_runs
from probe.tasks.nli import NLI
from tests.support.runs.generalisation import make_points, stored_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]


def test_runs_stand_one_under_the_other() -> None:
    runs = [stored_run(make_points(MATRIX)), stored_run(make_points(MATRIX)[:3], state="running")]
    assert show_runs(Path("no gallery"), runs).count('class="generalised"') == 2


def test_an_inoculation_of_the_gallery_stands_beside_a_run_of_its_model_and_skill() -> None:
    shown = show_runs(FOLDER, [stored_run(make_points(MATRIX))])
    assert "Inoculation on the same skill" in shown
    assert "run=gallery-minilm-numerical" in shown


def test_one_of_several_runs_is_judged_by_the_loss_that_was_typed() -> None:
    runs = [stored_run(make_points(MATRIX), run_id=name) for name in ("a", "b")]
    shown = show_judged_anew(Path("no gallery"), runs, "b", "60")
    assert 'data-rule="a" value="10"' in shown
    assert 'data-rule="b" value="60"' in shown


@pytest.mark.parametrize("typed", ["", "many", "0", "-5", "101", "nan"])
def test_a_loss_that_is_no_share_is_refused_beside_what_is_stored(typed: str) -> None:
    runs = [stored_run(make_points(MATRIX), run_id="a")]
    shown = show_judged_anew(Path("no gallery"), runs, "a", typed)
    assert "loss" in shown.partition('class="generalised"')[0]
    assert 'data-rule="a" value="10"' in shown


def test_a_judged_run_leaves_points_figure_and_summary(tmp_path: Path) -> None:
    paths = write_files([stored_run(make_points(MATRIX))], tmp_path)
    assert [path.name for path in paths] == ["points.csv", "figure.svg", "summary.json"]
    assert all(path.stat().st_size for path in paths)


def test_a_run_that_is_not_judged_leaves_no_summary(tmp_path: Path) -> None:
    run = stored_run(make_points(MATRIX)[:3], state="cancelled")
    paths = write_files([run], tmp_path)
    assert [path.name for path in paths] == ["points.csv", "figure.svg"]


def test_several_runs_have_a_folder_each(tmp_path: Path) -> None:
    runs = [stored_run(make_points(MATRIX), run_id=name) for name in ("a", "b")]
    assert {path.parent.name for path in write_files(runs, tmp_path)} == {"a", "b"}


def test_a_run_without_a_result_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no cell is finished yet"):
        write_files([stored_run([], state="failed")], tmp_path)


def test_the_gallery_has_a_finished_run_of_numbers_by_sentence() -> None:
    generalised = [run for run in gallery_runs() if run.kind == KIND]
    (run,) = [run for run in generalised if subject(run) == "Numbers by sentence on MiniLM"]
    assert run.verdict["grid"]["size"] == 1000
    assert len(run.results) == len(run.cells) == 2 + 3 * 3 * 2 * 2


def test_inoculations_of_the_gallery_are_shown_without_it() -> None:
    assert all(run.kind != KIND for run in shown_runs())


def test_a_newcomer_sees_the_run_of_the_skill_that_the_form_begins_with() -> None:
    first = min((run for run in gallery_runs() if run.kind == KIND), key=place)
    assert first.plan["phenomenon"] == skills(NLI)[0]
