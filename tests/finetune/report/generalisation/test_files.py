"""The files of a generalisation: points, summary and figure; its rows as text."""

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from finetune.report.generalisation import (
    curve_frame,
    curves,
    figure,
    heat,
    row_text,
    write_points,
    write_summary,
)
from finetune.report.panel import png_file
from finetune.trials.generalisation_plan import Cell, Epoch, base_cell
from finetune.trials.inoculation_plan import Cell as InoculationCell
from probe.errors import RunError
from tests.support.runs.generalisation import PLAN, make_point, make_points, make_run
from tests.support.runs.points import make_point as inoculation_point
from tests.support.runs.points import make_run as inoculation_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]
RUN = make_run(make_points(MATRIX))


def test_points_have_a_row_for_each_cell_and_tested_set(tmp_path: Path) -> None:
    with write_points(RUN, tmp_path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8 * 4
    assert list(rows[0])[:11] == [
        "run", "model", "phenomenon", "vary", "mode", "train", "size", "lr", "seed", "test",
        "accuracy",
    ]  # fmt: skip
    line = next(r for r in rows if (r["train"], r["test"]) == ("simple", "complex"))
    assert (float(line["accuracy"]), line["right"], line["n"]) == (
        pytest.approx(0.44),
        "132",
        "300",
    )


def test_the_summary_holds_grid_and_verdict(tmp_path: Path) -> None:
    write_summary(RUN, tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {"grid", "verdict", "before", "plan", "inoculation"} <= set(summary)
    assert summary["verdict"]["outcome"] == "data_set"
    assert summary["verdict"]["worst"]["column"] == "complex"
    assert summary["grid"]["accuracy"][0][2] == pytest.approx(0.44)
    assert summary["inoculation"] is None


def test_an_inoculation_stands_beside_it(tmp_path: Path) -> None:
    beside = inoculation_run(
        [inoculation_point(90, 60), inoculation_point(90, 88, cell=InoculationCell(100, 2e-5, 0))],
        challenge="numerical",
    )
    told = write_summary(RUN, tmp_path, beside)["inoculation"]
    assert (told["challenge"], told["outcome"], told["size"]) == ("numerical", "1", 100)


def test_the_figure_is_an_svg_that_draws_as_png(tmp_path: Path) -> None:
    write_summary(RUN, tmp_path)
    drawn = (tmp_path / "figure.svg").read_text()
    words = "".join(ElementTree.fromstring(drawn).itertext())
    assert all(text in words for text in ("Trained on: Simple", "Original set", "98", "44"))
    assert png_file(figure(RUN)).startswith(b"\x89PNG")


def test_nothing_finished_is_nothing_to_draw() -> None:
    with pytest.raises(RunError, match="no cell is finished yet"):
        figure(make_run([]))


def test_a_run_that_is_not_judged_has_curves_alone() -> None:
    begun = make_run(make_points(MATRIX)[:2])
    assert "rows trained on" not in figure(begun)
    assert [title for title, _ in curves(begun.plan, begun.results)[0]] == [
        f"Trained on: {level}" for level in ("Simple", "Medium", "Complex")
    ]


def test_a_curve_begins_with_the_model_as_it_was() -> None:
    frame = curve_frame(PLAN, RUN.results, "simple").set_index(["name", "examples"])["accuracy"]
    assert frame["Complex", 0] == pytest.approx(100 / 3)
    assert frame["Complex", 100] == pytest.approx(44)
    assert frame["Original set", 100] == pytest.approx(80)


def test_the_ground_of_the_heat_map_begins_at_a_blind_guess() -> None:
    cells = heat(RUN.verdict["grid"], PLAN).cells
    assert [cell.text for cell in cells[0]] == ["98", "60", "44"]
    assert cells[0][0].strength == pytest.approx(0.85 * (0.98 - 1 / 3) / (2 / 3))


def test_rows_are_told_as_text() -> None:
    point = row_text(make_point(Cell("simple", 100, 1e-3, 1), (294, 180, 132)))
    assert point.startswith("simple    size 100   lr 0.001  seed 1  original 0.8000  simple 0.9800")
    assert row_text(make_point(base_cell(0), (3, 3, 3))).startswith("untrained")
    assert "epoch 2  loss 0.5000" in row_text(Epoch(Cell("complex", 9, 1e-3, 0), 2, 0.5, 0.9, 1, 8))
