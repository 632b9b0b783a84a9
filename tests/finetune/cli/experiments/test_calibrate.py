"""`python -m finetune calibrate`."""

import csv
import json
from pathlib import Path

import pytest

from probe.models.library import load
from probe.runs.gallery import read
from probe.runs.store import Store
from tests.support.commands import call
from tests.support.runs.clean_source import clean_source, write_clean


@pytest.fixture
def asked(home: Path, model: str) -> list[object]:
    """A call that takes seconds: the tiny model on files of its own."""
    return [
        "calibrate", "--model", model, "--out", home / "out", "--sizes", "12", "--seeds", "0",
        "--tests", "3", "--epochs", "1", "--in-process", *write_clean(clean_source(), home),
    ]  # fmt: skip


def test_a_run_leaves_points_summary_and_diagrams(asked: list[object], home: Path) -> None:
    result = call(*asked)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0].endswith("on one core")
    with (home / "out" / "points.csv").open() as file:
        rows = list(csv.DictReader(file))
    methods = ["baseline", "temperature", "smoothing", "focal"]
    assert [row["method"] for row in rows] == methods
    summary = json.loads((home / "out" / "summary.json").read_text())
    wanted = {"ece_before", "ece_after", "temperature", "agreement_before", "agreement_after"}
    assert wanted <= set(summary)
    assert summary["ece_before"] == pytest.approx(float(rows[0]["ece"]))
    assert summary["agreement_before"] == summary["agreement_after"]
    drawn = (home / "out" / "reliability.svg").read_text()
    assert drawn.startswith("<svg") and "Temperature scaling" in drawn
    assert summary["explanation"] in result.output
    assert load(Store().runs()[0].kept).temperature == pytest.approx(summary["temperature"])


def test_a_gallery_keeps_the_finished_run_without_a_sentence(
    asked: list[object], home: Path
) -> None:
    result = call(*asked, "--gallery", home / "gallery")
    assert result.exit_code == 0, result.output
    (path,) = (home / "gallery").glob("*.json")
    assert path.stem == f"{Path(str(asked[2])).name}-calibration"
    run = read(path)
    assert (run.kind, len(run.results)) == ("calibration", 4)
    assert run.verdict == Store().runs()[0].verdict != {}
    assert clean_source().test[0].premise not in path.read_text(encoding="utf-8")


def test_cells_that_are_there_are_not_computed_again(asked: list[object]) -> None:
    call(*asked)
    output = call(*asked, "--seeds", "0,1").output
    assert output.count("(from an earlier call)") == 3  # all but the one whose model is kept


def test_the_first_method_is_the_summarys(asked: list[object], home: Path) -> None:
    call(*asked, "--methods", "focal")
    assert json.loads((home / "out" / "summary.json").read_text())["method"] == "focal"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--methods", "hope"], "methods are some of"),
        (["--sizes", "25"], "each size must be from 1 to 24"),
        (["--sizes", "ten"], "--sizes 'ten' is not a list of numbers"),
        (["--mode", "slow"], "is not one of full, fast"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    words: list[str], sentence: str, asked: list[object]
) -> None:
    result = call(*asked, *words)
    assert result.exit_code == 2
    assert sentence in result.output
    assert len(result.output.splitlines()) == 1


def test_a_gallery_that_is_a_file_is_refused_before_the_run(
    asked: list[object], home: Path
) -> None:
    (home / "good.csv").touch()
    result = call(*asked, "--gallery", home / "good.csv")
    assert result.exit_code == 2
    assert result.output == f"error: {home / 'good.csv'} cannot be written: File exists\n"
    assert Store().runs() == ()
