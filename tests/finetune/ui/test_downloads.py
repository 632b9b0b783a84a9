"""The files that a person takes away."""

import csv
from pathlib import Path

import pytest

from finetune.trials.inoculation import Cell
from finetune.ui.downloads import write_files
from probe.errors import RunError
from tests.support.pages.visitors import ME
from tests.support.runs.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
RUNS = [make_run(POINTS, "da", run_id="a"), make_run(POINTS, "esim", "spelling", "b")]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("cache")))
        return {Path(place).name: Path(place) for place in write_files(ME, RUNS, "oracle_lr")}


def test_there_are_points_figure_and_report(places: dict[str, Path]) -> None:
    assert set(places) == {"points.csv", "figure.svg", "figure.png", "report.html"}


def test_the_points_of_all_runs_are_in_one_table(places: dict[str, Path]) -> None:
    with places["points.csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = [(row["model"], row["challenge"], row["size"], row["on_challenge"]) for row in rows]
    assert found == [
        ("da", "negation", "0", "0.6"), ("da", "negation", "50", "0.78"),
        ("esim", "spelling", "0", "0.6"), ("esim", "spelling", "50", "0.78"),
    ]  # fmt: skip


def test_the_pictures_are_pictures(places: dict[str, Path]) -> None:
    assert places["figure.png"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert places["figure.svg"].read_text().startswith("<svg ")


def test_the_figure_names_its_models_and_challenges(places: dict[str, Path]) -> None:
    text = places["figure.svg"].read_text()
    for word in ("Add a negation", "Misspell a word", ">Decomposable Attention<", ">ESIM<"):
        assert word in text


def test_without_a_point_there_is_nothing_to_write() -> None:
    with pytest.raises(RunError, match="nothing to draw"):
        write_files(ME, [make_run([], state="queued")], "oracle_lr")
