"""`python -m probe baselines`: evaluation of a file, and training."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from probe.baselines import BASELINES
from probe.baselines.hypothesis_only import WEIGHTS_FILE
from probe.cli.resources.baselines import app
from probe.tasks.nli import Pair
from tests.support.files.baseline_pairs import C, E, numerical_pairs, separable_pairs


def run(*words: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def answer(*words: object) -> Any:  # Any: JSON
    """Return the JSON a command prints."""
    result = run("judge", *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def lines(path: Path, pairs: Sequence[Pair]) -> Path:
    """Write gzipped JSON lines."""
    rows = [{"premise": p.premise, "hypothesis": p.hypothesis, "label": p.gold} for p in pairs]
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


def test_the_command_prints_the_agreed_keys(tmp_path: Path) -> None:
    shape = answer("numerical", lines(tmp_path / "in.jsonl.gz", numerical_pairs()))
    assert list(shape) == ["rule", "n", "correct", "accuracy", "low", "high", "by_gold", "counts"]
    assert shape["by_gold"][C] == {"n": 2, "correct": 1}
    assert shape["counts"][E] == {E: 1, C: 1}


def test_all_is_a_list_of_every_rule(tmp_path: Path) -> None:
    evaluations = answer("all", lines(tmp_path / "in.jsonl.gz", numerical_pairs()))
    assert [shape["rule"] for shape in evaluations] == list(BASELINES)


def test_rows_without_a_pair_and_a_label_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("premise,hypothesis,gold_label\na,b,entailment\na,b,-\n,b,neutral\na,b,\na\n")
    result = run("judge", "majority", path)
    assert "1 of 1 right: 100.0 % (20.7 to 100.0), three classes" in result.stdout
    assert result.stderr.endswith(
        "4 of 5 rows are left out: 1 on whose label the annotators disagree, 1 without a text that "
        "can be read, 1 without a gold label, 1 that do not fit the header\n"
    )


def test_two_classes_are_named(tmp_path: Path) -> None:
    result = run("judge", "subsequence", lines(tmp_path / "in.jsonl.gz", numerical_pairs()))
    assert result.stdout.endswith("two classes\n")


def test_a_file_that_cannot_be_evaluated_gets_one_sentence(tmp_path: Path) -> None:
    for name, text, words in [
        ("numbers", "premise,hypothesis,label\na,b,neutral\n", "there is no rule 'numbers'"),
        ("numerical", "premise,label\na,neutral\n", "no column 'hypothesis' in your file"),
        (
            "numerical",
            "premise,hypothesis\na,b\n",
            "gold labels are needed here, and of the columns of in.csv",
        ),
        ("numerical", "premise,hypothesis,label\na,b,perhaps\n", "holds 'perhaps' (1 row)"),
        ("numerical", "premise,hypothesis,label\na,b,\n", "holds no pair with a premise"),
    ]:
        (tmp_path / "in.csv").write_text(text)
        result = run("judge", name, tmp_path / "in.csv")
        assert result.exit_code == 2, (name, text, words)
        assert result.stderr.startswith("error: ") and words in result.stderr, (name, text, words)
        assert result.stderr.count("\n") == 1, (name, text, words)


def test_the_command_trains(tmp_path: Path) -> None:
    path = lines(tmp_path / "train.jsonl.gz", separable_pairs())
    first = run("train", path, "--out", tmp_path / "one", "--least", 2)
    run("train", path, "--out", tmp_path / "two", "--least", 2)
    assert first.stdout.startswith("7 words, ")  # three that tell, men, cats, sat and the full stop
    assert (tmp_path / "one" / WEIGHTS_FILE).read_bytes() == (
        tmp_path / "two" / WEIGHTS_FILE
    ).read_bytes()


def test_a_file_without_frequent_words_trains_nothing(tmp_path: Path) -> None:
    path = lines(tmp_path / "train.jsonl.gz", separable_pairs())
    result = run("train", path, "--out", tmp_path / "out", "--least", 1000)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: no word is in 1000 hypotheses")
