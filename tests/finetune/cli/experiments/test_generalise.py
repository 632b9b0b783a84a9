"""`python -m finetune generalise`."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import nli_clinic
from finetune.cli.main import app
from finetune.trials.generalisation_plan import generalisation_runs
from probe.runs.gallery import read
from probe.runs.store import Store
from tests.support.files.pair_files import write
from tests.support.models.tiny_bert import tiny_pairs


def call(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def asked(home: Path, model: str) -> list[object]:
    """A call that takes seconds: the tiny model, few pairs, a small original set."""
    pairs = tiny_pairs(12)
    original = write(
        home / "original.jsonl",
        [{"premise": p.premise, "hypothesis": p.hypothesis, "label": p.gold} for p in pairs],
    )
    return [
        "generalise", "--model", model, "--phenomenon", "dative", "--sizes", "8,16",
        "--lrs", "1e-3", "--seeds", "0", "--tests", "12", "--max-epochs", "2",
        "--original", original, "--out", home / "out", "--in-process",
    ]  # fmt: skip


def test_a_run_leaves_points_summary_and_figure(asked: list[object], home: Path) -> None:
    result = call(*asked)
    assert result.exit_code == 0, result.output
    with (home / "out" / "points.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == (1 + 3 * 2) * 4
    assert {row["train"] for row in rows} == {"", "simple", "medium", "complex"}
    assert {row["test"] for row in rows} == {"original", "simple", "medium", "complex"}
    summary = json.loads((home / "out" / "summary.json").read_text())
    assert summary["grid"]["rows"] == summary["grid"]["columns"] == ["simple", "medium", "complex"]
    assert summary["grid"]["size"] == 16
    assert summary["verdict"]["outcome"] in ("data_set", "phenomenon", "not_learnt", "undecided")
    assert summary["plan"]["mode"] == "fast"
    assert "Fast mode" in " ".join(summary["verdict"]["warnings"])
    assert (home / "out" / "figure.svg").read_text().startswith("<svg")
    assert result.output.splitlines()[0].endswith("on one core")


def test_cells_that_are_there_are_not_computed_again(asked: list[object]) -> None:
    call(*asked)
    output = call(*asked, "--sizes", "8,16,20", "--max-loss", "0.2").output
    assert output.count("(from an earlier call)") == 7
    assert output.count("epoch 1  loss") == 3  # size 20


def test_a_gallery_keeps_the_finished_run_without_a_sentence(
    asked: list[object], home: Path
) -> None:
    result = call(*asked, "--gallery", home / "gallery")
    assert result.exit_code == 0, result.output
    (path,) = (home / "gallery").glob("*.json")
    assert path.stem == f"{Path(str(asked[2])).name}-dative-complexity"
    (run,) = generalisation_runs([read(path)])
    assert run.state == "done" and len(run.results) == 1 + 3 * 2
    assert run.verdict["grid"]["size"] == 16
    assert tiny_pairs(1)[0].premise not in path.read_text(encoding="utf-8")


def test_the_rate_is_chosen_of_several(asked: list[object], home: Path) -> None:
    result = call(*asked, "--sizes", "8", "--lrs", "1e-4,1e-2")
    assert result.exit_code == 0, result.output
    grid = json.loads((home / "out" / "summary.json").read_text())["grid"]
    assert len(Store().runs()[0].cells) == 1 + 3 * 2
    assert set(grid["lr"]) <= {1e-4, 1e-2}


def test_a_column_of_a_file_becomes_the_grid(asked: list[object], home: Path) -> None:
    own = write(
        home / "mine.jsonl",
        [
            {"premise": f"{p.premise} {n}", "hypothesis": p.hypothesis, "label": p.gold, "size": c}
            for n, p in enumerate(tiny_pairs(60))
            for c in ("big", "small")
        ],
    )
    words = ["--phenomenon", "", "--challenge-file", own, "--condition", "size", "--sizes", "20"]
    result = call(*asked, *words)
    assert result.exit_code == 0, result.output
    summary = json.loads((home / "out" / "summary.json").read_text())
    assert summary["grid"]["rows"] == ["big", "small"]
    assert (summary["plan"]["phenomenon"], summary["plan"]["vary"]) == ("mine", "file")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "nobody"], "no model or folder called 'nobody'"),
        (["--condition", "size"], "--condition names a column of --challenge-file"),
        (["--phenomenon", "negation"], "no conditions for 'negation'; there are: dative"),
        (["--vary", "range"], "dative templates cannot vary 'range'"),
        (["--sizes", "ten"], "--sizes 'ten' is not a list of numbers"),
        (["--vary", "lexical", "--sizes", "50000"], "pairs to train on besides"),
        (["--max-loss", "0"], "the loss from which it learnt the set must be above 0"),
        (["--challenge-file", "gone.csv"], "gone.csv cannot be opened"),
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


def test_runs_list_it_and_a_report_is_refused_in_a_sentence(asked: list[object]) -> None:
    call(*asked)
    (run,) = Store().runs()
    listed = call("runs").output
    assert run.id in listed and "dative by complexity on " in listed
    refused = call("report", run.id, "--out", "report")
    assert refused.exit_code == 2
    assert "only inoculations have a report" in refused.output


def test_the_console_command_has_it_too() -> None:
    result = CliRunner().invoke(nli_clinic.app, ["generalise", "--help"])
    assert result.exit_code == 0
    assert "--phenomenon" in result.output
