"""`python -m finetune mitigate`, and the model that it keeps."""

import csv
import json
import re
from pathlib import Path

import pytest

from probe.models.library import load
from probe.runs.gallery import read
from probe.runs.store import Store
from probe.tasks.task import INVALID
from tests.support.commands import call
from tests.support.runs.clean_source import clean_source, write_clean


@pytest.fixture
def asked(home: Path, model: str) -> list[object]:
    """A call that takes seconds: the tiny model on files of its own."""
    return [
        "mitigate", "--model", model, "--out", home / "out", "--sizes", "12", "--seeds", "0",
        "--tests", "3", "--epochs", "1", "--in-process", *write_clean(clean_source(), home),
    ]  # fmt: skip


def test_a_run_leaves_points_summary_heat_map_and_a_model(asked: list[object], home: Path) -> None:
    result = call(*asked)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0].endswith("on one core")
    with (home / "out" / "points.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["baseline", "threshold", "invalid", "entropic"]
    summary = json.loads((home / "out" / "summary.json").read_text())
    assert {"method", "clean", "invalid_found", "per_transform"} <= set(summary)
    assert summary["method"] == "invalid"
    assert summary["invalid_found"] == pytest.approx(float(rows[2]["invalid_found"]))
    assert (home / "out" / "invalid.svg").read_text().startswith("<svg")
    kept = re.findall(r"the repaired model is kept as (\S+)", result.output)
    assert kept == [Store().runs()[0].kept]
    assert INVALID in load(kept[0]).labels


def test_the_model_of_the_first_method_is_kept(asked: list[object], home: Path) -> None:
    call(*asked, "--methods", "threshold")
    kept = load(Store().runs()[0].kept)
    summary = json.loads((home / "out" / "summary.json").read_text())
    assert INVALID not in kept.labels
    assert kept.invalid_below == pytest.approx(summary["methods"][1]["threshold"])


def test_named_transforms_alone_are_looked_for(asked: list[object], home: Path) -> None:
    result = call(*asked, "--methods", "threshold", "--transforms", "sort,drop")
    assert result.exit_code == 0, result.output
    summary = json.loads((home / "out" / "summary.json").read_text())
    assert set(summary["per_transform"]) == {"sort", "drop"}


def test_a_gallery_keeps_the_finished_run_without_a_sentence(
    asked: list[object], home: Path
) -> None:
    result = call(*asked, "--gallery", home / "gallery")
    assert result.exit_code == 0, result.output
    (path,) = (home / "gallery").glob("*.json")
    assert path.stem == f"{Path(str(asked[2])).name}-mitigation"
    run = read(path)
    assert (run.kind, len(run.results)) == ("mitigation", 4)
    assert run.verdict == Store().runs()[0].verdict != {}
    assert clean_source().test[0].premise not in path.read_text(encoding="utf-8")


def test_cells_that_are_there_are_not_computed_again_but_the_kept(asked: list[object]) -> None:
    call(*asked)
    assert call(*asked).output.count("(from an earlier call)") == 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--methods", "hope"], "methods are some of"),
        (["--sizes", "25"], "each size must be from 1 to 24"),
        (["--transforms", "sort,negation"], "transforms are some of sort"),
        (["--share", "0"], "shares that are destroyed"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    words: list[str], sentence: str, asked: list[object]
) -> None:
    result = call(*asked, *words)
    assert result.exit_code == 2
    assert sentence in result.output
    assert len(result.output.splitlines()) == 1
