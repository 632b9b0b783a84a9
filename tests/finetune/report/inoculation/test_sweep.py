"""Several runs in one figure and one table."""

from dataclasses import replace

from finetune.report.inoculation import baselines_of, frames, line_names, panels, points_frame
from finetune.trials.inoculation_plan import Cell
from probe.runs.gallery import OWNER
from tests.support.runs.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 75, cell=Cell(50, 2e-5, 0))]


def test_a_line_is_named_by_its_model() -> None:
    runs = [make_run(POINTS, "da", run_id="a"), make_run(POINTS, "/models/esim", run_id="b")]
    assert line_names(runs) == {"a": "Decomposable Attention", "b": "ESIM"}


def test_two_runs_of_a_model_on_a_challenge_are_told_apart() -> None:
    runs = [make_run(POINTS, run_id="a"), make_run(POINTS, run_id="b", owner=OWNER)]
    assert line_names(runs) == {"a": "MiniLM (as published, a)", "b": "MiniLM (gallery)"}


def test_each_challenge_has_a_panel_with_its_models() -> None:
    runs = [
        make_run(POINTS, model, challenge, f"{model}-{challenge}")
        for challenge in ("negation", "spelling")
        for model in ("da", "esim")
    ]
    found = frames(runs, "oracle_lr")
    assert {name: list(dict.fromkeys(frame["name"])) for name, frame in found.items()} == {
        "negation": ["Decomposable Attention", "ESIM"],
        "spelling": ["Decomposable Attention", "ESIM"],
    }  # fmt: skip


def test_a_run_without_a_finished_cell_has_no_panel() -> None:
    assert not panels([make_run([], state="queued")], "oracle_lr", (300, 200))[0]


def test_all_panels_have_one_axis() -> None:
    low = [make_point(50, 20), make_point(50, 25, cell=Cell(50, 2e-5, 0))]
    runs = [make_run(POINTS), make_run(low, challenge="spelling", run_id="b")]
    _, look = panels(runs, "oracle_lr", (300, 200))
    assert (look.low, look.high) == (10, 90)


def test_baselines_are_drawn_for_one_run_alone() -> None:
    run = make_run(POINTS)
    run = replace(run, verdict={**run.verdict, "baselines": {"lexical_overlap": 0.41}})
    assert baselines_of([run]) == {"lexical overlap": 41.0}
    assert baselines_of([run, run]) == {}


def test_the_table_has_a_row_for_each_finished_cell_of_each_run() -> None:
    runs = [make_run(POINTS, run_id="a"), make_run(POINTS[:1], run_id="b", state="running")]
    frame = points_frame(runs)
    rows = frame[["run", "size", "lr", "on_challenge", "n_challenge"]].to_numpy().tolist()
    assert rows == [["a", 0, 0.0, 0.6, 100], ["a", 50, 2e-5, 0.75, 100], ["b", 0, 0.0, 0.6, 100]]
