"""`python -m probe batch`."""

import json
from pathlib import Path

import pandas as pd
import pytest

from probe.tasks.nli import LABELS, NLI
from probe.ui.measure.texts import example_files
from tests.support.cases import check_each
from tests.support.commands import run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A file with a bad row."""
    path = tmp_path / "in.csv"
    path.write_text(
        "id,premise,hypothesis,label\n"
        "007,A man walks.,He moves.,entailment\n"
        "008,,He moves.,neutral\n"
        "009,A man walks.,He sleeps now.,contradiction\n"
    )
    return path


def batch(model: str, source: Path, out: Path, *words: str) -> str:
    """Score a file, and return what the command says."""
    ended = run("batch", str(source), "--out", str(out), "--model", model, *words)
    assert ended.exit_code == 0, ended.output
    return ended.output


def test_a_file_is_scored_and_summed_up(model: str, table: Path, tmp_path: Path) -> None:
    out, summary = tmp_path / "new" / "out.csv", tmp_path / "also" / "s.json"
    words = ["--transforms", "sort, drop", "--seed", "0", "--summary", str(summary)]
    for precision in ("bf16", "fp32"):
        told = batch(model, table, out, *words, "--precision", precision)
        assert "2 of 3 rows scored, written to" in told and "reason: the premise is empty" in told
        assert ("of 2 answers differ" in told) == (precision == "bf16"), precision
    frame = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert list(frame["id"]) == ["007", "008", "009"]
    assert list(frame["error"]) == ["", "the premise is empty", ""]
    for name in ("sort", "drop"):
        parts = {"premise", "hypothesis", "prediction", "confidence", "agrees"}
        assert {f"{name}.{part}" for part in parts} <= set(frame.columns)
    shape = json.loads(summary.read_text())
    assert (shape["rows"], shape["scored"], shape["errors"], shape["accuracy_n"]) == (3, 2, 1, 2)
    assert set(shape["transforms"]) == {"sort", "drop"}


def test_every_pair_made_is_written_with_its_lineage(model: str, tmp_path: Path) -> None:
    source, made = tmp_path / "in.csv", tmp_path / "made.jsonl"
    source.write_text("premise,hypothesis\nTim has 350 stamps.,Tim is glad.\n")
    words = ("--transforms", "numerical,negation+reverse", "--pairs", str(made))
    batch(model, source, tmp_path / "out.csv", *words)
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    assert [(row["row"], row["transform"], row["number"], row["of"]) for row in rows] == [
        *((1, "numerical", number, 3) for number in (1, 2, 3)),
        (1, "negation+reverse", 1, 1),
    ]
    assert [row["gold"] for row in rows[:3]] == ["entailment", "contradiction", "neutral"]
    steps = json.loads(rows[3]["steps"])
    assert [(step["transform"], step["seed"], step["hypothesis"]) for step in steps] == [
        ("negation", 0, "Tim is glad and false is not true."),
        ("reverse", 0, "true not is false and glad is tim ."),
    ]
    assert steps[0]["edits"]["hypothesis"][1] == ["added", "and false is not true"]


def test_the_name_says_the_form_and_the_bundled_examples_can_be_scored(
    model: str, table: Path, tmp_path: Path
) -> None:
    outs = {suffix: (table, suffix) for suffix in (".tsv", ".jsonl", ".parquet", ".csv.gz")}
    bundled = {path.name: (path, ".csv") for path in example_files(NLI)}

    def check(case: tuple[Path, str]) -> None:
        out = tmp_path / f"{case[0].stem}-out{case[1]}"
        batch(model, case[0], out)
        assert out.stat().st_size > 0

    check_each(outs | bundled, check)


def test_columns_and_labels_can_be_named_and_nothing_is_left_that_a_spreadsheet_computes(
    model: str, tmp_path: Path
) -> None:
    source, out, summary, made = (
        tmp_path / name for name in ("in.csv", "out.csv", "s.json", "made.csv")
    )
    source.write_text("id,one,two,label\n=1+1,-A man walks.,He moves.,oui\n,A man.,He.,2\n")
    values = ("--label-value", "oui=entailment", "--label-value", "2=", "--summary", str(summary))
    guarded = ("--guard", "--transforms", "sort", "--pairs", str(made))
    batch(model, source, out, "--premise", "one", "--hypothesis", "two", *values, *guarded)
    scored = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert list(scored.loc[0, ["id", "one"]]) == ["'=1+1", "'-A man walks."]
    assert pd.read_csv(made, dtype=str)["premise"][0] == "'-A man walks."
    assert set(pd.read_csv(out)["prediction"]) <= set(LABELS)
    shape = json.loads(summary.read_text())
    assert (shape["scored"], shape["accuracy_n"], [*shape["by_label"]]) == (2, 1, ["entailment"])


def test_a_run_stopped_before_its_first_part_says_so_and_goes_on_later(
    model: str, table: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("probe.cli.compute.run_to_its_end", interrupted)
    out = home / "out.csv"
    result = run("batch", str(table), "--out", str(out), "--model", model, "--run")
    assert (result.exit_code, out.exists()) == (130, False)
    assert "stopped before a part was scored; the same command goes on" in result.output
