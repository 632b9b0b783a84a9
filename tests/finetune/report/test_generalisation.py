"""A generalisation as tables beside the published ones, as files, and as text."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from finetune.report.files import write_files
from finetune.report.generalisation import (
    claims,
    curve_frame,
    curves,
    figure,
    heat,
    label_curves,
    label_frame,
    row_text,
)
from finetune.report.tables import generalisation_tables
from finetune.trials.generalisation import Cell, Epoch, Plan, base_cell
from finetune.trials.inoculation import Cell as InoculationCell
from probe.errors import RunError
from probe.pictures.svg import png_file
from tests.support.runs.generalisation import (
    PLAN,
    make_point,
    make_points,
    make_run,
    scores,
    stored_run,
)
from tests.support.runs.points import make_point as inoculation_point
from tests.support.runs.points import make_run as inoculation_run

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]
RUN = make_run(make_points(MATRIX))
STORED = stored_run(make_points(MATRIX))
Cells = dict[str, dict[str, str]]


def tables(plan: Plan = PLAN) -> list[Cells]:
    """Return the tables of a run, by row and column."""
    made = generalisation_tables([stored_run(make_points(MATRIX), plan)])
    return [{row[0]: dict(zip(each.heads, row, strict=True)) for row in each.rows} for each in made]


def test_a_run_stands_beside_table_3_and_as_a_grid() -> None:
    before, grid, claimed = tables()
    assert claimed["`minilm`, numerical by complexity"]["here"].startswith("points behind")
    assert list(before) == ["simple", "medium", "complex", "all"]
    assert list(grid) == ["nothing", "simple", "medium", "complex"]
    for table, row, column, words in (
        # two repeats of 300, a third of them right: 33, 33 and 34 of each 100
        (before, "simple", "n", "600"),
        (before, "simple", "entailment", "33.0 ("),
        (before, "simple", "neutral", "34.0 ("),
        (before, "all", "all", "33.3 ("),
        (before, "medium", "paper: entailment", "57.1"),
        (before, "all", "paper: all", "39.8"),
        (grid, "simple", "simple", "98.0 ("),
        (grid, "simple", "complex", "44.0 ("),
        (grid, "nothing", "original", "80.0 ("),
        (grid, "simple", "n", "600"),
        (grid, "simple", "n original", "300"),
    ):
        assert table[row][column].startswith(words), (row, column)
    lexical, *_ = tables(replace(PLAN, vary="lexical"))
    assert not [head for head in lexical["all"] if head.startswith("paper")]
    assert not tables(replace(PLAN, task="paraphrase"))
    assert not list(generalisation_tables([replace(STORED, kind="transfer")]))


def test_points_and_summary_hold_what_was_measured(tmp_path: Path) -> None:
    points, drawn, pdf, summed = write_files([STORED], tmp_path)
    rows = pd.read_csv(points)
    assert len(rows) == 8 * 4
    names = "run model phenomenon vary mode train size lr seed test accuracy"
    assert list(rows)[:11] == names.split()
    line, *_ = rows[(rows["train"] == "simple") & (rows["test"] == "complex")].to_dict("records")
    assert (line["accuracy"], line["right"], line["n"]) == (0.44, 132, 300)
    summary = json.loads(summed.read_text())
    assert {"grid", "verdict", "before", "plan", "inoculation"} <= set(summary)
    assert summary["verdict"]["outcome"] == "data_set"
    assert summary["verdict"]["worst"]["column"] == "complex"
    assert summary["grid"]["accuracy"][0][2] == pytest.approx(0.44)
    assert summary["inoculation"] is None
    assert pdf.read_bytes().startswith(b"%PDF")
    words = "".join(ElementTree.fromstring(drawn.read_text()).itertext())
    assert all(text in words for text in ("Trained on: Simple", "Original set", "98", "44"))
    assert png_file(figure(RUN)).startswith(b"\x89PNG")
    trained = inoculation_point(90, 88, cell=InoculationCell(100, 2e-5, 0))
    beside = inoculation_run([inoculation_point(90, 60), trained], challenge="numerical")
    both = write_files([STORED, replace(STORED, id="other")], tmp_path, beside)
    assert {path.parent.name for path in both} == {STORED.id, "other"}
    told = json.loads(both[-1].read_text())["inoculation"]
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


def test_curves_by_label_are_of_what_was_trained_on_and_stand_in_the_file(tmp_path: Path) -> None:
    panels, style = label_curves(PLAN, RUN.results)
    assert style.names == ("contradiction", "entailment", "neutral") and len(panels) == 3
    # 132 right of 300 are 44 of each 100; before training 100 are 33, 33 and 34
    frame = label_frame(PLAN, RUN.results, "simple", "complex").set_index(["name", "examples"])
    assert frame.loc[("neutral", 100), "accuracy"] == pytest.approx(44)
    assert frame.loc[("neutral", 0), "accuracy"] == pytest.approx(34)
    assert "Accuracy by gold label" in figure(RUN)
    rows = pd.read_csv(write_files([STORED], tmp_path)[0])
    assert list(rows["right neutral"] + rows["right entailment"] + rows["right contradiction"]) == (
        list(rows["right"])
    )


def test_the_paper_s_claims_are_told_as_far_as_the_intervals_say() -> None:
    def shown(matrix: list[tuple[int, int, int]], original: int = 240) -> list[str]:
        points = make_points(matrix)
        points[2:] = [replace(p, original=scores(original)) for p in points[2:]]
        return [claim.shows for claim in claims(make_run(points))]

    same = [(285, 285, 285)] * 3
    assert shown(same, 210) == ["not decided: the interval holds both", "shows", "shows"]
    assert shown(same, 150)[0] == shown(MATRIX)[1] == "does not show"
    assert shown([same[0], (200, 285, 285), same[0]])[2] == "does not show"
    told = claims(RUN)[1]
    assert told.says == "On another syntax at most 3.2 points are lost."
    assert told.here.startswith("the largest loss in points, after 100 examples: 54.0 (")
    assert not claims(make_run(make_points(MATRIX), replace(PLAN, task="paraphrase")))


def test_rows_are_told_as_text() -> None:
    point = row_text(make_point(Cell("simple", 100, 1e-3, 1), (294, 180, 132)))
    assert point.startswith("simple    size 100   lr 0.001  seed 1  original 0.8000  simple 0.9800")
    assert row_text(make_point(base_cell(0), (3, 3, 3))).startswith("untrained")
    assert "epoch 2  loss 0.5000" in row_text(Epoch(Cell("complex", 9, 1e-3, 0), 2, 0.5, 0.9, 1, 8))
