"""`python -m finetune transfer`."""

import csv
import json
from pathlib import Path

import pytest

from probe.runs.gallery import read
from probe.runs.store import Store
from tests.support.commands import call
from tests.support.runs.clean_source import clean_source, write_clean


@pytest.fixture
def asked(home: Path, model: str) -> list[object]:
    """A call that takes seconds: the tiny model on files of its own."""
    return [
        "transfer", "--model", model, "--out", home / "out", "--transforms", "sort,drop",
        "--sizes", "12", "--seeds", "0", "--tests", "3", "--epochs", "1", "--in-process",
        *write_clean(clean_source(), home),
    ]  # fmt: skip


def test_a_run_leaves_points_summary_and_matrix(asked: list[object], home: Path) -> None:
    result = call(*asked)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0].endswith("on one core")
    with (home / "out" / "points.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["trained_on"] for row in rows] == ["sort", "drop", "clean only", "salad only"]
    summary = json.loads((home / "out" / "summary.json").read_text())
    assert summary["rows"] == summary["columns"] == ["sort", "drop"]
    assert summary["matrix"][0][1] == pytest.approx(float(rows[0]["found_drop"]))
    assert summary["salad_only"]["salad"] == pytest.approx(float(rows[3]["clean"]))
    assert (home / "out" / "transfer.svg").read_text().startswith("<svg")


def test_a_gallery_keeps_the_finished_run_without_a_sentence(
    asked: list[object], home: Path
) -> None:
    result = call(*asked, "--gallery", home / "gallery")
    assert result.exit_code == 0, result.output
    (path,) = (home / "gallery").glob("*.json")
    assert path.stem == f"{Path(str(asked[2])).name}-transfer"
    run = read(path)
    assert (run.kind, len(run.results)) == ("transfer", 4)
    assert run.verdict == Store().runs()[0].verdict != {}
    assert clean_source().test[0].premise not in path.read_text(encoding="utf-8")


def test_cells_that_are_there_are_not_computed_again(asked: list[object]) -> None:
    call(*asked, "--no-salad-only")
    assert call(*asked).output.count("(from an earlier call)") == 2


def test_another_transform_is_refused(asked: list[object]) -> None:
    result = call(*asked, "--transforms", "negation")
    assert result.exit_code == 2
    assert "transforms are some of sort" in result.output
