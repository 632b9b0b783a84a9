"""`python -m probe rules`: the evaluation of rules on a file."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from probe.baselines import BASELINES
from probe.cli.rules import evaluate_baseline
from probe.tasks.nli import Pair
from probe.tasks.task import Label
from tests.support.commands import refusal, run
from tests.support.files.baseline_pairs import C, E, N, X, numerical_pairs


def lines(path: Path, pairs: Sequence[Pair]) -> str:
    """Write JSON lines."""
    rows = [{"premise": p.premise, "hypothesis": p.hypothesis, "label": p.gold} for p in pairs]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_an_evaluation_counts_by_gold_and_by_predicted_label() -> None:
    shape = evaluate_baseline("numerical", numerical_pairs())
    z, n, p = 1.959964, 4, 0.75
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    assert shape == {
        "rule": "numerical",
        "n": 4,
        "correct": 3,
        "accuracy": 0.75,
        "low": pytest.approx(middle - half, abs=1e-6),
        "high": pytest.approx(middle + half, abs=1e-6),
        "by_gold": {
            E: {"n": 1, "correct": 1},
            N: {"n": 1, "correct": 1},
            C: {"n": 2, "correct": 1},
        },
        "counts": {E: {E: 1, C: 1}, N: {N: 1}, C: {C: 1}},
    }


def test_a_baseline_of_two_classes_is_evaluated_in_two() -> None:
    pairs = [Pair("a b", "a", E), Pair("a b", "c", N), Pair("a b", "d", C), Pair("a b", "b", C)]
    shape = evaluate_baseline("lexical_overlap", pairs)
    assert (shape["n"], shape["correct"]) == (4, 3)
    assert shape["counts"] == {E: {E: 1, C: 1}, X: {N: 1, C: 1}}


def test_the_counts_of_the_appendix_give_its_accuracy() -> None:
    plain, phrase = "Tim has 3.", "Tim has less than 4."
    counts: list[tuple[str, str, Label, int]] = [
        (plain, plain, C, 1235),
        (phrase, plain, N, 2532),
        (phrase, phrase, E, 66),
        (phrase, phrase, C, 66),
        (plain, phrase, E, 2466),
        (plain, phrase, C, 1231),
    ]
    shape = evaluate_baseline(
        "numerical", [Pair(*row[:3]) for row in counts for _ in range(row[3])]
    )
    assert (shape["n"], shape["correct"]) == (7596, 6233)
    assert shape["accuracy"] == pytest.approx(0.820563, abs=1e-6)
    assert shape["counts"][N] == {E: 66, N: 2532, C: 66}


def test_an_accuracy_over_nothing_is_null() -> None:
    shape = evaluate_baseline("numerical", [Pair("p", "h")])
    assert (shape["n"], shape["accuracy"], shape["low"], shape["high"]) == (0, None, None, None)


def test_all_is_a_list_of_every_rule(tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", numerical_pairs())
    shapes = json.loads(run("rules", "all", path, "--json").stdout)
    assert [shape["rule"] for shape in shapes] == list(BASELINES)
    assert json.loads(run("rules", "numerical", path, "--json").stdout) == shapes[1]
    assert run("rules", "subsequence", path).stdout.endswith("two classes\n")


def test_rows_without_a_pair_and_a_label_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("premise,hypothesis,gold_label\na,b,entailment\na,b,-\n,b,neutral\na,b,\na\n")
    result = run("rules", "majority", str(path))
    assert "1 of 1 right: 100.0 % (20.7 to 100.0), three classes" in result.stdout
    assert result.stderr.endswith(
        "4 of 5 rows are left out: 1 on whose label the annotators disagree, 1 without a text that "
        "can be read, 1 without a gold label, 1 that do not fit the header\n"
    )


def test_a_file_that_cannot_be_evaluated_gets_one_sentence(tmp_path: Path) -> None:
    (path := tmp_path / "in.csv").write_text("premise,hypothesis,label\na,b,neutral\n")
    known = refusal("rules", "numbers", str(path))
    assert known.startswith("there is no rule 'numbers'; there are: ")
    refused = {
        "premise,label\na,neutral\n": "no column 'hypothesis' in your file",
        "premise,hypothesis\na,b\n": "gold labels are needed here, and of the columns of in.csv",
        "premise,hypothesis,label\na,b,perhaps\n": "holds 'perhaps' (1 row)",
        "premise,hypothesis,label\na,b,\n": "holds no pair with a premise",
    }
    for text, words in refused.items():
        path.write_text(text)
        assert words in refusal("rules", "numerical", str(path)), words
