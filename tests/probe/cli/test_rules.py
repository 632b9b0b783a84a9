"""`python -m probe rules`: the evaluation of rules on a file."""

import json
import math
from pathlib import Path

import pytest

from probe.baselines import BASELINES
from probe.cli.rules import evaluate_baseline
from probe.tasks.nli import Pair
from probe.tasks.task import Label
from tests.support.commands import run
from tests.support.files.baseline_pairs import C, E, N, X, numerical_pairs
from tests.support.files.pair_files import row, write


def test_an_evaluation_counts_by_gold_and_by_predicted_label() -> None:
    shape = evaluate_baseline("numerical", numerical_pairs())
    z, n, p = 1.959964, 4, 0.75
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    assert shape == {
        **{"rule": "numerical", "n": 4, "correct": 3, "accuracy": 0.75},
        "low": pytest.approx(middle - half, abs=1e-6),
        "high": pytest.approx(middle + half, abs=1e-6),
        "by_gold": {gold: {"n": n, "correct": 1} for gold, n in ((E, 1), (N, 1), (C, 2))},
        "counts": {E: {E: 1, C: 1}, N: {N: 1}, C: {C: 1}},
    }
    nothing = evaluate_baseline("numerical", [Pair("p", "h")])
    assert [nothing[name] for name in ("n", "accuracy", "low", "high")] == [0, None, None, None]
    pairs = [Pair("a b", "a", E), Pair("a b", "c", N), Pair("a b", "d", C), Pair("a b", "b", C)]
    two = evaluate_baseline("lexical_overlap", pairs)
    assert (two["n"], two["correct"]) == (4, 3)
    assert two["counts"] == {E: {E: 1, C: 1}, X: {N: 1, C: 1}}


def test_the_counts_of_the_appendix_give_its_accuracy() -> None:
    plain, phrase = "Tim has 3.", "Tim has less than 4."
    counts: list[tuple[str, str, Label, int]] = [
        *((plain, plain, C, 1235), (phrase, plain, N, 2532), (phrase, phrase, E, 66)),
        *((phrase, phrase, C, 66), (plain, phrase, E, 2466), (plain, phrase, C, 1231)),
    ]
    pairs = [Pair(*row[:3]) for row in counts for _ in range(row[3])]
    shape = evaluate_baseline("numerical", pairs)
    assert (shape["n"], shape["correct"]) == (7596, 6233)
    assert shape["accuracy"] == pytest.approx(0.820563, abs=1e-6)
    assert shape["counts"][N] == {E: 66, N: 2532, C: 66}


def test_rows_without_a_pair_and_a_label_are_left_out_and_all_is_a_list_of_every_rule(
    tmp_path: Path,
) -> None:
    path = tmp_path / "in.csv"
    path.write_text("premise,hypothesis,gold_label\na,b,entailment\na,b,-\n,b,neutral\na,b,\na\n")
    result = run("rules", "majority", str(path))
    assert "1 of 1 right: 100.0 % (20.7 to 100.0), three classes" in result.stdout
    assert result.stderr.endswith(
        "4 of 5 rows are left out: 1 on whose label the annotators disagree, 1 without a text that "
        "can be read, 1 without a gold label, 1 that do not fit the header\n"
    )
    whole = str(write(tmp_path / "in.jsonl", [row(pair) for pair in numerical_pairs()]))
    shapes = json.loads(run("rules", "all", whole, "--json").stdout)
    assert [shape["rule"] for shape in shapes] == list(BASELINES)
    assert json.loads(run("rules", "numerical", whole, "--json").stdout) == shapes[1]
    assert run("rules", "subsequence", whole).stdout.endswith("two classes\n")
