"""A generalisation as tables beside the published ones, as files, and as text."""

import csv
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from finetune.report.generalisation import (
    before_table,
    curve_frame,
    curves,
    figure,
    generalisation_tables,
    grid_table,
    heat,
    row_text,
    write_points,
    write_summary,
)
from finetune.report.repairs import MarkdownTable
from finetune.trials.generalisation_plan import Cell, Epoch, base_cell
from finetune.trials.inoculation_plan import Cell as InoculationCell
from probe.errors import RunError
from probe.pictures.svg import png_file
from tests.support.runs.generalisation import PLAN, make_point, make_points, make_run, stored_run
from tests.support.runs.points import make_point as inoculation_point
from tests.support.runs.points import make_run as inoculation_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]
RUN = make_run(make_points(MATRIX))


def by_row(table: MarkdownTable) -> dict[str, dict[str, str]]:
    return {row[0]: dict(zip(table.heads, row, strict=True)) for row in table.rows}


def test_the_model_as_it_was_stands_beside_table_3() -> None:
    rows = by_row(before_table(RUN))
    assert list(rows) == ["simple", "medium", "complex", "all"]
    # two repeats of 300, a third of them right: 33, 33 and 34 of each 100
    assert rows["simple"]["n"] == "600"
    assert rows["simple"]["entailment"].startswith("33.0 (")
    assert rows["simple"]["neutral"].startswith("34.0 (")
    assert rows["all"]["all"].startswith("33.3 (")
    assert (rows["medium"]["paper: entailment"], rows["all"]["paper: all"]) == ("57.1", "39.8")
    lexical = make_run(make_points(MATRIX), replace(PLAN, vary="lexical"))
    assert not [head for head in before_table(lexical).heads if head.startswith("paper")]


def test_the_grid_has_what_was_trained_on_and_the_original_set() -> None:
    rows = by_row(grid_table(RUN))
    assert list(rows) == ["nothing", "simple", "medium", "complex"]
    for row, column, words in (
        ("simple", "simple", "98.0 ("),
        ("simple", "complex", "44.0 ("),
        ("nothing", "original", "80.0 ("),
        ("simple", "n", "600"),
        ("simple", "n original", "300"),
    ):
        assert rows[row][column].startswith(words), (row, column)
    run = stored_run(make_points(MATRIX))
    other = stored_run(make_points(MATRIX), replace(PLAN, task="paraphrase"))
    assert len(list(generalisation_tables([run]))) == 2
    assert not list(generalisation_tables([replace(run, kind="transfer"), other]))


def test_points_and_summary_hold_what_was_measured(tmp_path: Path) -> None:
    with write_points(RUN, tmp_path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8 * 4
    assert list(rows[0])[:11] == [
        "run", "model", "phenomenon", "vary", "mode", "train", "size", "lr", "seed", "test",
        "accuracy",
    ]  # fmt: skip
    line = next(r for r in rows if (r["train"], r["test"]) == ("simple", "complex"))
    assert (line["accuracy"], line["right"], line["n"]) == ("0.44", "132", "300")
    write_summary(RUN, tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {"grid", "verdict", "before", "plan", "inoculation"} <= set(summary)
    assert summary["verdict"]["outcome"] == "data_set"
    assert summary["verdict"]["worst"]["column"] == "complex"
    assert summary["grid"]["accuracy"][0][2] == pytest.approx(0.44)
    assert summary["inoculation"] is None
    words = "".join(ElementTree.fromstring((tmp_path / "figure.svg").read_text()).itertext())
    assert all(text in words for text in ("Trained on: Simple", "Original set", "98", "44"))
    assert png_file(figure(RUN)).startswith(b"\x89PNG")
    points = [(90, 60, {}), (90, 88, {"cell": InoculationCell(100, 2e-5, 0)})]
    beside = [inoculation_point(*right, **cell) for *right, cell in points]
    told = write_summary(RUN, tmp_path, inoculation_run(beside, challenge="numerical"))
    told = told["inoculation"]
    assert (told["challenge"], told["outcome"], told["size"]) == ("numerical", "1", 100)


def test_what_is_finished_is_drawn() -> None:
    with pytest.raises(RunError, match="no cell is finished yet"):
        figure(make_run([]))
    begun = make_run(make_points(MATRIX)[:2])
    assert "rows trained on" not in figure(begun)
    assert [title for title, _ in curves(begun.plan, begun.results)[0]] == [
        f"Trained on: {level}" for level in ("Simple", "Medium", "Complex")
    ]
    frame = curve_frame(PLAN, RUN.results, "simple").set_index(["name", "examples"])["accuracy"]
    assert frame["Complex", 0] == pytest.approx(100 / 3)
    assert frame["Complex", 100] == pytest.approx(44)
    assert frame["Original set", 100] == pytest.approx(80)
    cells = heat(RUN.verdict["grid"], PLAN).cells  # their ground begins at a blind guess
    assert [cell.text for cell in cells[0]] == ["98", "60", "44"]
    assert cells[0][0].strength == pytest.approx(0.85 * (0.98 - 1 / 3) / (2 / 3))


def test_rows_are_told_as_text() -> None:
    point = row_text(make_point(Cell("simple", 100, 1e-3, 1), (294, 180, 132)))
    assert point.startswith("simple    size 100   lr 0.001  seed 1  original 0.8000  simple 0.9800")
    assert row_text(make_point(base_cell(0), (3, 3, 3))).startswith("untrained")
    assert "epoch 2  loss 0.5000" in row_text(Epoch(Cell("complex", 9, 1e-3, 0), 2, 0.5, 0.9, 1, 8))
