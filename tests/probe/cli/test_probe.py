"""`python -m probe` as a person and a program use it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result
from typer.testing import CliRunner

from probe.cli.main import app
from probe.settings import ASSETS
from probe.tasks.nli import LABELS
from probe.transforms import REGISTRY
from probe.transforms.options import OPTIONS
from tests.support.tiny_bert import tiny_bert

ROOT = Path(__file__).resolve().parents[3]
PAIR = ["pair", "--premise", "A man walks to the park.", "--hypothesis", "The man isn't happy!"]
TRANSFORMS = ["--transform", "sort", "--transform", "drop+shuffle"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a tiny model."""
    return str(tiny_bert(tmp_path_factory.mktemp("tiny")))


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


def run(*words: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(words))


def answer(*words: str) -> Any:  # Any: JSON
    """Return the JSON a command prints."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refusal(*words: str) -> str:
    """Return the one sentence a command ends with; the tiny model is doubted before it."""
    result = run(*words)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    told = result.stderr.strip().splitlines()
    lines = [line for line in told if not line.startswith("warning: the model gets ")]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    return lines[0].removeprefix("error: ")


def test_transforms_are_listed_with_their_facts() -> None:
    rows = answer("transforms")
    assert [row["name"] for row in rows] == list(REGISTRY)
    facts = {"name", "family", "side", "label_rule", "level", "needs", "available"}
    assert all(facts <= set(row) for row in rows)
    by_name = {row["name"]: row for row in rows}
    assert by_name["drop"]["level"] == "sub-word"
    assert by_name["drop"]["needs"] == ["model"]
    assert by_name["sort"]["label_rule"] == "undefined"
    assert by_name["length_mismatch"]["side"] == "premise"
    assert by_name["negation"]["label_rule"] == "keep"


def test_transforms_are_listed_for_people_too() -> None:
    lines = run("transforms").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(REGISTRY)


def test_options_are_listed_with_what_they_may_be() -> None:
    rows = answer("transforms", "--options")
    assert [row["name"] for row in rows] == list(OPTIONS)
    by_name = {row["name"]: row for row in rows}
    assert list(by_name["sign"]["values"]) == ["support", "gupta", "abs"]
    assert (by_name["inflect"]["default"], by_name["keep"]["range"]) == (True, [0, 1])
    assert "senses" in run("transforms", "--options").stdout


def test_an_option_is_set_by_name(model: str) -> None:
    words = ("--transform", "word_overlap", "--set", "tautology=naik_code", "--model", model)
    found = answer(*PAIR, *words)
    assert found["transformed"][0]["variant"] == "tautology=naik_code"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("senses", "--set 'senses' is not of the form NAME=VALUE"),
        ("speed=1", "there is no option 'speed'; there are: keep, "),
        ("keep=2", "keep '2' is not from 0 to 1"),
    ],
)
def test_a_wrong_option_is_one_sentence(model: str, text: str, sentence: str) -> None:
    assert refusal(*PAIR, "--set", text, "--model", model).startswith(sentence)


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


def test_models_are_listed() -> None:
    rows = answer("models")
    assert rows[0]["name"] == "minilm"
    assert rows[0]["source"] == "bundled"
    assert run("models").stdout.startswith("minilm ")


def test_a_pair_is_answered_with_the_promised_keys(model: str) -> None:
    found = answer(*PAIR, *TRANSFORMS, "--model", model)
    assert {"model", "precision", "original", "importance", "transformed"} <= set(found)
    said = ["premise", "hypothesis", "label", "probabilities", "confidence"]
    assert list(found["original"]) == said
    assert list(found["original"]["probabilities"]) == list(LABELS)
    assert {"premise", "hypothesis"} <= set(found["importance"])
    for side in ("premise", "hypothesis"):
        assert all(list(token) == ["token", "score"] for token in found["importance"][side])
    promised = {"transform", *said, "agrees", "gold_rule", "changed", "exact", "note"}
    assert [row["transform"] for row in found["transformed"]] == ["sort", "drop+shuffle"]
    assert all(promised <= set(row) for row in found["transformed"])
    assert (found["model"], found["precision"]) == (model, "fp32")


def test_a_pairs_numbers_hang_together(model: str) -> None:
    found = answer(*PAIR, *TRANSFORMS, "--model", model)
    for row in (found["original"], *found["transformed"]):
        assert sum(row["probabilities"].values()) == pytest.approx(1)
        assert row["confidence"] == max(row["probabilities"].values())
        assert row["probabilities"][row["label"]] == row["confidence"]
    for row in found["transformed"]:
        assert row["agrees"] == (row["label"] == found["original"]["label"])
    tokens = [token["token"] for token in found["importance"]["hypothesis"]]
    assert tokens == ["the", "man", "is", "##n", "'", "t", "happy", "!"]
    assert found["transformed"][0]["hypothesis"] == "happy is man n't the !"


def test_the_same_seed_prints_the_same(model: str) -> None:
    words = [*PAIR, "--transform", "shuffle", "--transform", "repeat", "--model", model]
    assert answer(*words, "--seed", "5") == answer(*words, "--seed", "5")


def test_a_gold_label_is_explained_and_follows_the_rule(model: str) -> None:
    words = ["--gold", "c", "--transform", "negation", "--model", model]
    found = answer(*PAIR, *words)
    assert found["importance"]["label"] == "contradiction"
    assert found["transformed"][0]["gold"] == "contradiction"


def test_options_reach_the_transforms(model: str) -> None:
    words = ["--transform", "reverse", "--transform", "drop", "--model", model]
    found = answer(*PAIR, *words, "--pin", ".", "--keep", "1", "--sign", "gupta")
    assert found["transformed"][0]["hypothesis"] == "! happy n't is man the"
    assert not found["transformed"][1]["changed"]
    assert found["transformed"][0]["variant"] == "keep=1+gupta+pin=paper_code"


@pytest.mark.parametrize("method", ["integrated_gradients", "saliency", "occlusion"])
def test_every_method_can_be_chosen(method: str, model: str) -> None:
    importance = answer(*PAIR, "--method", method, "--model", model)["importance"]
    assert importance["method"] == method
    assert (importance["convergence_delta"] is None) == (method != "integrated_gradients")


def test_a_pair_is_shown_to_people_too(model: str) -> None:
    lines = run(*PAIR, "--transform", "sort", "--model", model).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["original", "sort"]


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


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl", ".parquet", ".csv.gz"])
def test_the_name_says_the_form_of_the_result(
    suffix: str, model: str, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / f"out{suffix}"
    words = ["--transforms", "sort", "--model", model]
    assert run("batch", str(table), "--out", str(out), *words).exit_code == 0
    assert out.stat().st_size > 0


def test_columns_can_be_named(model: str, tmp_path: Path) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("one,two\nA man walks.,He moves.\n")
    words = ["--premise", "one", "--hypothesis", "two", "--model", model]
    assert run("batch", str(path), "--out", str(out), *words).exit_code == 0
    assert pd.read_csv(out)["prediction"][0] in LABELS


def test_a_wrong_transform_is_one_sentence(model: str, table: Path, tmp_path: Path) -> None:
    said = "there is no transform 'srot'; there are: "
    assert refusal(*PAIR, "--transform", "srot", "--model", model).startswith(said)
    words = ["--out", str(tmp_path / "o.csv"), "--transforms", "srot", "--model", model]
    assert refusal("batch", str(table), *words).startswith(said)


def test_a_wrong_column_is_one_sentence(model: str, table: Path, tmp_path: Path) -> None:
    words = ["--out", str(tmp_path / "o.csv"), "--premise", "text", "--model", model]
    said = "no column 'text' in your file; it has: id, premise, hypothesis, label"
    assert refusal("batch", str(table), *words) == said


def test_a_file_without_the_columns_is_one_sentence(model: str, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("text,label\na,b\n")
    said = "no column 'premise' and 'hypothesis' in your file; it has: text, label"
    assert refusal("batch", str(path), "--out", str(tmp_path / "o.csv"), "--model", model) == said


def test_a_missing_file_is_one_sentence(model: str, tmp_path: Path) -> None:
    words = ["--out", str(tmp_path / "o.csv"), "--model", model]
    assert refusal("batch", str(tmp_path / "gone.csv"), *words).startswith("gone.csv cannot be")


def test_a_wrong_model_is_one_sentence(table: Path, tmp_path: Path) -> None:
    said = "there is no model or folder called 'minilmm'; on this disk: "
    assert refusal(*PAIR, "--model", "minilmm").startswith(said)
    words = ["--out", str(tmp_path / "o.csv"), "--model", "minilmm"]
    assert refusal("batch", str(table), *words).startswith(said)


def test_a_form_that_cannot_be_written_is_refused_before_the_work(
    table: Path, tmp_path: Path
) -> None:
    words = ["--out", str(tmp_path / "o.xlsx"), "--model", "minilmm"]
    assert refusal("batch", str(table), *words).startswith("o.xlsx: name the file ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--gold", "perhaps"], "unknown gold label 'perhaps'"),
        (["--sign", "minus"], "sign 'minus' is not one of support, gupta, abs"),
        (["--draw", "all"], "draw 'all' is not one of vocabulary, paper_code"),
        (["--method", "lime"], "--method 'lime' is not one of gradient_x_input, "),
        (["--baseline", "zero"], "--baseline 'zero' is not one of pad, mask, unk"),
        (["--label", "maybe"], "--label 'maybe' is not one of entailment, "),
        (["--precision", "int8"], "--precision 'int8' is not one of auto, fp32, bf16"),
        (["--hypothesis", " "], "the hypothesis is empty"),
        (["--hypothesis", "\ud83d"], "the text holds half of a character"),
    ],
)
def test_a_wrong_choice_is_one_sentence(words: list[str], said: str, model: str) -> None:
    assert refusal(*PAIR, "--model", model, *words).startswith(said)


def test_a_missing_baseline_token_is_one_sentence(model: str, tmp_path: Path) -> None:
    path = tiny_bert(tmp_path / "maskless")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (path / name).read_text()
        (path / name).write_text(text.replace('"mask_token": "[MASK]"', '"mask_token": null'))
    words = ["--model", str(path), "--method", "occlusion", "--baseline", "mask"]
    assert refusal(*PAIR, *words) == "this model has no mask token; choose another baseline"


def test_a_person_sees_a_sentence_and_no_traceback() -> None:
    words = [*PAIR, "--model", "nobody/no-such-model"]
    ended = subprocess.run(
        [sys.executable, "-m", "probe", *words],
        cwd=ROOT,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: the hub cannot be reached from here, and the model 'no")
    assert len(ended.stderr.strip().splitlines()) == 1


def test_the_bundled_examples_can_be_scored(model: str, tmp_path: Path) -> None:
    for path in sorted((ASSETS / "examples").iterdir()):
        out = tmp_path / f"{path.stem}.csv"
        result = run("batch", str(path), "--out", str(out), "--model", model)
        assert result.exit_code == 0, result.output
