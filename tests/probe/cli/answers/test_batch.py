"""`python -m probe batch`."""

import json
from pathlib import Path

import pandas as pd
import pytest

from probe.tasks.nli import LABELS, NLI
from probe.ui.panels.example_files import example_files
from tests.support.commands import refusal, run


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


def test_a_file_is_scored_and_summed_up(model: str, table: Path, tmp_path: Path) -> None:
    out, summary = tmp_path / "new" / "out.csv", tmp_path / "also" / "s.json"
    result = run(
        *["batch", str(table), "--out", str(out), "--transforms", "sort, drop", "--model", model],
        *["--seed", "0", "--summary", str(summary)],
    )
    assert result.exit_code == 0, result.output
    frame = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert list(frame["id"]) == ["007", "008", "009"]
    assert list(frame["error"]) == ["", "the premise is empty", ""]
    for name in ("sort", "drop"):
        parts = {"premise", "hypothesis", "prediction", "confidence", "agrees"}
        assert {f"{name}.{part}" for part in parts} <= set(frame.columns)
    shape = json.loads(summary.read_text())
    assert (shape["rows"], shape["scored"], shape["errors"]) == (3, 2, 1)
    assert shape["accuracy_n"] == 2
    assert set(shape["transforms"]) == {"sort", "drop"}


def test_a_sample_in_fp32_is_told_where_the_file_is_scored_in_bf16(
    model: str, table: Path, tmp_path: Path
) -> None:
    for precision in ["bf16", "fp32"]:
        words = ["--out", str(tmp_path / "o.csv"), "--model", model, "--precision", precision]
        told = run("batch", str(table), *words).output
        assert ("of 2 answers differ" in told) == (precision == "bf16"), precision


def test_every_pair_made_is_written_with_its_lineage(model: str, tmp_path: Path) -> None:
    source, made = tmp_path / "in.csv", tmp_path / "made.jsonl"
    source.write_text("premise,hypothesis\nTim has 350 stamps.,Tim is glad.\n")
    names = "numerical,negation+reverse"
    words = ("--out", str(tmp_path / "out.csv"), "--pairs", str(made), "--model", model)
    assert run("batch", str(source), "--transforms", names, *words).exit_code == 0
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    assert [(row["row"], row["transform"], row["number"], row["of"]) for row in rows] == [
        (1, "numerical", 1, 3),
        (1, "numerical", 2, 3),
        (1, "numerical", 3, 3),
        (1, "negation+reverse", 1, 1),
    ]
    assert [row["gold"] for row in rows[:3]] == ["entailment", "contradiction", "neutral"]
    steps = json.loads(rows[3]["steps"])
    assert [step["hypothesis"] for step in steps] == [
        "Tim is glad and false is not true.",
        "true not is false and glad is tim .",
    ]
    assert [(step["transform"], step["seed"]) for step in steps] == [
        ("negation", 0),
        ("reverse", 0),
    ]
    assert steps[0]["edits"]["hypothesis"][1] == ["added", "and false is not true"]


def test_the_name_says_the_form_of_the_result(model: str, table: Path, tmp_path: Path) -> None:
    for suffix in [".tsv", ".jsonl", ".parquet", ".csv.gz"]:
        out = tmp_path / f"out{suffix}"
        words = ["--transforms", "sort", "--model", model]
        assert run("batch", str(table), "--out", str(out), *words).exit_code == 0, suffix
        assert out.stat().st_size > 0, suffix


def test_a_form_that_cannot_hold_the_file_is_refused_before_it_is_scored(
    model: str, home: Path
) -> None:
    for more in [[], ["--run"]]:
        path, out = home / "in.jsonl", home / "out.tsv"
        path.write_text('{"premise": "A man walks.", "hypothesis": "He\\nmoves."}\n')
        said = refusal("batch", str(path), "--out", str(out), "--model", model, *more)
        assert said.endswith(
            "out.tsv: a text holds a tab or line break, which TSV cannot; choose .csv"
        ), more
        assert [each for each in home.rglob("*") if each.is_file()] == [path], more


def test_columns_can_be_named(model: str, tmp_path: Path) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("one,two\nA man walks.,He moves.\n")
    words = ["--premise", "one", "--hypothesis", "two", "--model", model]
    assert run("batch", str(path), "--out", str(out), *words).exit_code == 0
    assert pd.read_csv(out)["prediction"][0] in LABELS


def test_what_cannot_be_scored_so_is_one_sentence_and_the_file_stays(
    model: str, table: Path, tmp_path: Path
) -> None:
    (other := tmp_path / "other.csv").write_text("text,label\na,b\n")
    known, out = f"{table}", ("--out", str(tmp_path / "o.csv"))
    before, wrong = table.read_bytes(), []
    for file, words, said in [
        (known, ["--transforms", "srot"], "there is no transform 'srot'; there are: "),
        (known, ["--premise", "text"], "no column 'text' in your file; it has: id, premise, "),
        (known, ["--premise", "hypothesis"], "'hypothesis' is used twice, for premise and hypothe"),
        (known, ["--gold", "premise"], "'premise' is used twice, for premise and gold label"),
        (
            known,
            ["--column", "premise=id", "--premise", "premise"],
            "premise is given twice, by --premise and by --column",
        ),
        (known, ["--label-value", "oui=entailment"], "no row has 'oui' in its column 'label'"),
        (known, ["--model", "minilmm"], "there is no model or folder called 'minilmm'; bundled"),
        (known, ["--out", str(table)], "in.csv is named twice"),
        (known, ["--pairs", str(table)], "in.csv is named twice"),
        (known, ["--out", str(tmp_path / "o.ods"), "--model", "minilmm"], "o.ods: name the file "),
        (str(other), [], "no columns 'premise' and 'hypothesis' in your file; it has: text, label"),
        (str(tmp_path / "gone.csv"), [], "gone.csv cannot be"),
    ]:
        found = refusal("batch", file, *out, "--model", model, *words)
        if said not in found:
            wrong.append((file, words, found))
    assert wrong == []
    assert table.read_bytes() == before


def test_the_bundled_examples_can_be_scored(model: str, tmp_path: Path) -> None:
    for path in example_files(NLI):
        out = tmp_path / f"{path.stem}.csv"
        result = run("batch", str(path), "--out", str(out), "--model", model)
        assert result.exit_code == 0, result.output


def test_a_guarded_file_holds_nothing_that_a_spreadsheet_computes(
    model: str, tmp_path: Path
) -> None:
    source, out, made = (tmp_path / name for name in ("in.csv", "out.csv", "made.csv"))
    source.write_text("id,premise,hypothesis\n=1+1,-A man walks.,He moves.\n")
    words = ["batch", str(source), "--transforms", "sort", "--model", model, "--guard"]
    assert run(*words, "--out", str(out), "--pairs", str(made)).exit_code == 0
    scored = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert list(scored.loc[0, ["id", "premise"]]) == ["'=1+1", "'-A man walks."]
    assert list(pd.read_csv(made, dtype=str)["premise"]) == ["'-A man walks."]
    assert "only CSV and TSV are guarded" in refusal(*words, "--out", str(tmp_path / "a.jsonl"))


def test_a_value_is_read_as_the_label_that_is_said(model: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("premise,hypothesis,label\nA man walks.,He moves.,oui\nA man.,He.,2\n")
    words = ("batch", str(source), "--out", str(out), "--model", model)
    assert "--label-value oui=LABEL --label-value 2=LABEL" in refusal(*words)
    assert not out.exists()
    summary = tmp_path / "s.json"
    given = ("--label-value", "oui=entailment", "--label-value", "2=", "--summary", str(summary))
    assert run(*words, *given).exit_code == 0
    shape = json.loads(summary.read_text())
    assert (shape["scored"], shape["accuracy_n"]) == (2, 1)
    assert list(shape["by_label"]) == ["entailment"]


def test_a_run_stopped_before_its_first_part_says_so_and_goes_on_later(
    model: str, table: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("probe.cli.batch.run_to_its_end", interrupted)
    out = home / "out.csv"
    result = run("batch", str(table), "--out", str(out), "--model", model, "--run")
    assert (result.exit_code, out.exists()) == (130, False)
    assert "stopped before a part was scored; the same command goes on" in result.output
