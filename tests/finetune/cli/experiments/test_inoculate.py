"""`python -m finetune inoculate` and `runs`."""

import csv
import inspect
import json
import re
from pathlib import Path

import pytest

from finetune.cli.inoculate import inoculate_command
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import (
    THRESHOLD_OPTIONS,
    THRESHOLDS,
    Plan,
    row_json,
    run_request,
)
from probe.runs.store import Store
from probe.tasks.nli import Pair
from tests.support.commands import call
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.runs.points import make_point


def write(path: Path, pairs: tuple[Pair, ...]) -> Path:
    rows = [{"premise": p.premise, "hypothesis": p.hypothesis, "label": p.gold} for p in pairs]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def asked(home: Path, model: str, sets: Sets) -> list[object]:
    """A call that takes a second: the tiny model on files of its own."""
    files = [(f"--{name.replace('_', '-')}", write(home / f"{name}.jsonl", pairs))
             for name, pairs in sets.examples.items() if pairs]  # fmt: skip
    return [
        "inoculate", "--model", model, "--challenge", "mine", "--sizes", "6,12", "--lrs", "1e-3",
        "--seeds", "0", "--max-epochs", "2", "--out", home / "out",
        "--in-process",
        *[word for pair in files for word in pair],
    ]  # fmt: skip


def test_a_run_leaves_points_summary_and_curve(asked: list[object], home: Path) -> None:
    result = call(*asked)
    assert result.exit_code == 0, result.output
    with (home / "out" / "points.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:9] == [
        *("run", "model", "challenge", "mode", "size", "lr", "seed", "on_original", "on_challenge"),
    ]
    assert [row["size"] for row in rows] == ["0", "6", "12"]
    scores = ("on_original", "on_challenge")
    assert all(0 <= float(row[name]) <= 1 for row in rows for name in scores)
    summary = json.loads((home / "out" / "summary.json").read_text())
    assert {"gap", "closed", "drop", "outcome", "oracle_lr", "dev_lr", "warnings"} <= set(summary)
    assert summary["n"] == {
        "original_dev": 12, "original_test": 12, "challenge_train": 30, "challenge_test": 12,
        "control": 0,
    }  # fmt: skip
    assert summary["plan"]["sizes"] == [6, 12]
    assert (home / "out" / "curve.svg").read_text().startswith("<svg")


def test_the_gap_is_that_of_the_first_row(asked: list[object], home: Path) -> None:
    call(*asked)
    with (home / "out" / "points.csv").open() as file:
        before = next(csv.DictReader(file))
    gap = json.loads((home / "out" / "summary.json").read_text())["gap"]
    assert gap == pytest.approx(float(before["on_original"]) - float(before["on_challenge"]))


def test_rows_are_printed_as_they_come(asked: list[object]) -> None:
    lines = call(*asked).output.splitlines()
    assert re.fullmatch("about .* on one core", lines[0])
    epochs = [line for line in lines if "loss" in line]
    ended = [line for line in lines if line.startswith("size") and line not in epochs]
    assert ended[0].startswith("size 0")
    assert epochs[0].startswith("size 6") and "epoch 1" in epochs[0]
    assert "Outcome" in "".join(lines) or "Between" in "".join(lines)


def test_cells_that_are_there_are_not_computed_again(asked: list[object]) -> None:
    call(*asked)
    output = call(*asked, "--sizes", "6,12,18").output
    assert output.count("(from an earlier call)") == 3
    assert output.count("epoch 1  loss") == 1  # size 18


def test_cells_of_other_settings_do_not_count(asked: list[object]) -> None:
    call(*asked)
    assert "earlier call" not in call(*asked, "--patience", "1").output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "nobody"], "no model or folder called 'nobody'"),
        (["--sizes", "31"], "has 30 pairs; no size can be larger"),
        (["--sizes", "ten"], "--sizes 'ten' is not a list of numbers"),
        (["--lrs", "0"], "learning rate must be above 0"),
        (["--original-dev", "gone.csv"], "gone.csv cannot be opened"),
        (["--cured", "0.1", "--uncured", "0.9"], "must be at least that for Outcome 2"),
        (["--threads", "0"], "invalid value for '--threads'"),
        (["--precision", "int8"], "is not one of auto, fp32, bf16"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    words: list[str], sentence: str, asked: list[object]
) -> None:
    result = call(*asked, *words)
    assert result.exit_code == 2
    assert sentence in result.output
    assert len(result.output.splitlines()) == 1


def test_a_challenge_without_files_must_be_known(home: Path, model: str) -> None:
    result = call("inoculate", "--model", model, "--challenge", "sort", "--out", home)
    assert result.exit_code == 2
    assert "there is no challenge 'sort'; there are: " in result.output


def test_one_challenge_file_needs_the_other(home: Path, model: str) -> None:
    file = write(home / "train.jsonl", tiny_pairs(6))
    words = ["inoculate", "--model", model, "--challenge", "mine", "--challenge-train", file]
    result = call(*words, "--out", home)
    assert result.exit_code == 2
    assert "needs a --challenge-test" in result.output


def test_one_file_is_not_training_and_test_set_at_once(home: Path, model: str) -> None:
    file = write(home / "both.jsonl", tiny_pairs(6))
    words = ["--challenge-train", file, "--challenge-test", home / "." / "both.jsonl"]
    result = call("inoculate", "--model", model, "--challenge", "mine", *words, "--out", home)
    assert result.exit_code == 2
    assert "--challenge-train and --challenge-test are one file" in result.output


def test_a_run_takes_all_pairs_the_usual_rate_and_its_own_thresholds(
    asked: list[object], home: Path
) -> None:
    words = ["--sizes", "6,all", "--lrs", "", "--min-gap", "0.5", "--min-tests", "10"]
    result = call(*asked, *words)
    assert result.exit_code == 0, result.output
    summary = json.loads((home / "out" / "summary.json").read_text())
    assert (summary["plan"]["sizes"], summary["plan"]["lrs"]) == ([6, 30], [2e-5])
    assert (summary["thresholds"]["gap"], summary["outcome"]) == (0.5, "0")
    assert "A test set has only" not in " ".join(summary["warnings"])
    assert summary["artefacts"]["sets"]["challenge_train"]["n"] == 30


def test_new_thresholds_need_no_new_cells(asked: list[object]) -> None:
    call(*asked)
    assert call(*asked, "--cured", "0.9").output.count("(from an earlier call)") == 3


@pytest.mark.parametrize("field", list(THRESHOLD_OPTIONS))
def test_each_threshold_is_an_option(field: str) -> None:
    name = THRESHOLD_OPTIONS[field].removeprefix("--").replace("-", "_")
    parameter = inspect.signature(inoculate_command).parameters[name]
    assert parameter.default == getattr(THRESHOLDS, field)


def test_challenges_are_listed() -> None:
    output = call("challenges").output
    assert "word_overlap" in output and "templates_hans" in output
    rows = json.loads(call("challenges", "--json").output)
    assert {"name", "title", "kind", "family", "summary", "labels", "source"} == set(rows[0])


def test_challenges_of_a_task_say_what_is_our_extension() -> None:
    output = call("challenges", "--task", "sentiment").output
    (line,) = (line for line in output.splitlines() if line.strip().startswith("spelling_swap"))
    assert line.endswith("(the gold label stays; our extension of Naik et al. 2018, section 3)")
    assert "templates_" not in output and "premise" not in output
    assert "our extension of" not in call("challenges").output
    wrong = call("challenges", "--task", "poetry")
    assert wrong.exit_code == 2
    assert wrong.output.startswith("error: there is no task 'poetry'; there are: ")


def test_a_stored_run_is_printed(home: Path, sets: Sets) -> None:
    run = Store().create("me", run_request(Plan("tiny", "negation", (6,), (1e-3,), (0,)), sets))
    row = json.loads(call("run", run.id).output)
    assert (row["id"], len(row["cells"])) == (run.id, 2)


def test_an_unknown_run_is_one_sentence(home: Path) -> None:
    result = call("run", "nobody")
    assert (result.exit_code, result.output) == (2, "error: there is no run 'nobody'\n")


def test_runs_are_listed(home: Path, sets: Sets) -> None:
    run = Store().create("me", run_request(Plan("tiny", "negation", (6,), (1e-3,), (0,)), sets))
    assert f"{run.id}  " in call("runs").output
    (row,) = json.loads(call("runs", "--json").output)
    assert (row["id"], row["state"], len(row["cells"])) == (run.id, "queued", 2)


def test_a_report_is_written_once_a_cell_is_finished(
    home: Path, sets: Sets, tmp_path: Path
) -> None:
    store, out = Store(), tmp_path / "report"
    run = store.create("me", run_request(Plan("tiny", "negation", (6,), (1e-3,), (0,)), sets))
    words = ("report", run.id, "--out", str(out))
    assert call(*words).output == "error: no cell of these runs is finished yet\n"
    store.set_result(run.id, 0, row_json(make_point(80, 60)))
    assert call(*words).output.split() == [
        str(out / name) for name in ("points.csv", "figure.svg", "figure.png", "report.html")
    ]
    assert "negation" in (out / "report.html").read_text()
    assert call(*words, "--selection", "best").exit_code == 2


def test_a_run_named_twice_is_reported_once(home: Path, tmp_path: Path) -> None:
    result = call("report", *["gallery-da-numerical"] * 2, "--out", tmp_path / "report")
    assert result.exit_code == 0, result.output
    with (tmp_path / "report" / "points.csv").open() as file:
        cells = [(row["size"], row["lr"], row["seed"]) for row in csv.DictReader(file)]
    assert len(set(cells)) == len(cells)
