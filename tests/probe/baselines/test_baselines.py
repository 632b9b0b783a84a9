"""Baselines that understand nothing, and how they are judged."""

import gzip
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from probe.baselines import BASELINES, Tally, judge
from probe.baselines.evaluate import evaluation_json
from probe.baselines.hypothesis_only import FILE, FOLDER, Weights, load, scores
from probe.baselines.training import train, vocabulary, write
from probe.cli.baselines import app
from probe.errors import MissingWeights, TrainingError, UnknownBaseline
from probe.tasks.nli import LABELS, Pair, matches
from probe.tasks.task import Label
from tests.support.property_settings import STEADY

E, N, C, X = "entailment", "neutral", "contradiction", "non-entailment"


def said(name: str, premise: str, hypothesis: str) -> Label:
    """Return what a rule says of one pair."""
    (label,) = BASELINES[name]([Pair(premise, hypothesis)])
    return label


# numerical (Liu et al. 2019, appendix C)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        ("Tim has 350 nails.", "Tim has 750 nails.", C),
        ("Tim has less than 750 nails.", "Tim has 350 nails.", N),
        ("Tim has 350 nails.", "Tim has less than 750 nails.", E),
        ("Tim has more than 5 nails.", "Tim has more than 350 nails.", N),
        ("More than 5 came.", "Ten came.", N),
        ("Tim has 350 nails.", "Tim has nails, no less.", C),
        ("The moreless thane sat.", "He has 3.", C),
        ("", "", C),
    ],
)
def test_the_side_with_the_phrase_decides(premise: str, hypothesis: str, label: Label) -> None:
    assert said("numerical", premise, hypothesis) == label


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
    evaluation = judge("numerical", [Pair(*row[:3]) for row in counts for _ in range(row[3])])
    assert (evaluation.n, evaluation.correct) == (7596, 6233)
    assert evaluation.accuracy == pytest.approx(0.820563, abs=1e-6)
    assert evaluation.counts[N] == {E: 66, N: 2532, C: 66}


# word overlap (McCoy et al. 2019)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "overlap", "subsequence"),
    [
        ("The judge by the door saw a man.", "The door saw a man.", E, E),
        ("The judge saw the man.", "The man saw the judge.", E, X),
        ("The judge saw the man.", "The judge saw a man.", X, X),
        ("He left. She slept!", "She slept.", E, E),
        ("He left. She slept!", "He left she?", E, E),
        ("The category is old.", "The cat is old.", X, X),
        ("The category is old.", "The cat.", X, X),
        ("We met the cat egory.", "The cat", E, E),
        ("MEN walk", "men walk", E, E),
        ("a b a c", "a c", E, E),
        ("a b", "a a b b", E, X),
        ("", "A man.", X, X),
    ],
)
def test_words_are_looked_for_in_the_premise(
    premise: str, hypothesis: str, overlap: Label, subsequence: Label
) -> None:
    assert said("lexical_overlap", premise, hypothesis) == overlap
    assert said("subsequence", premise, hypothesis) == subsequence


FEW = st.lists(st.sampled_from(["a", "man", "Men", "can't", "run."]), max_size=6).map(" ".join)


@STEADY
@given(FEW, FEW)
def test_a_subsequence_overlaps(premise: str, hypothesis: str) -> None:
    if said("subsequence", premise, hypothesis) == E:
        assert said("lexical_overlap", premise, hypothesis) == E


@STEADY
@given(FEW, FEW, FEW)
def test_what_was_cut_from_the_premise_is_a_subsequence(
    before: str, middle: str, after: str
) -> None:
    assert said("subsequence", f"{before} {middle} {after}", middle) == E


# majority


@pytest.mark.parametrize(
    ("golds", "label"),
    [
        ([C, N, C], C),
        ([N, C, E], E),
        ([X, X, E], X),
        ([None, None, N], N),
        ([None], E),
    ],
)
def test_the_most_frequent_label_is_said_of_all(golds: list[Label | None], label: Label) -> None:
    pairs = [Pair("p", "h", gold) for gold in golds]
    assert BASELINES["majority"](pairs) == [label] * len(golds)


# hypothesis only


def toy() -> list[Pair]:
    """Pairs whose label one word of the hypothesis gives away."""
    marks: dict[str, Label] = {"some": E, "tall": N, "nobody": C}
    return [
        Pair(f"p{n}", f"{word} {filler} sat.", label)  # each filler with each label
        for n in range(8)
        for filler in ("men", "cats")
        for word, label in marks.items()
    ]


def test_scores_are_the_weights_of_the_words_that_occur() -> None:
    matrix = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    weights = Weights({"no": 0, "men": 1}, matrix, np.array([0.5, 0.0, -0.5]))
    assert scores("No no men?", weights).tolist() == [9.5, 18.0, 35.5]
    assert scores("unheard", weights).tolist() == [0.5, 0.0, -0.5]
    assert scores("", weights).tolist() == [0.5, 0.0, -0.5]


def test_training_finds_the_words_that_give_the_label_away() -> None:
    weights = train(toy(), 2)
    for word, label in (("some", E), ("tall", N), ("nobody", C)):
        assert LABELS[int(scores(f"{word} dogs ran", weights).argmax())] == label


def test_training_never_reads_the_premise() -> None:
    others = [Pair("quite another", pair.hypothesis, pair.gold) for pair in toy()]
    assert train(toy(), 2).matrix.tolist() == train(others, 2).matrix.tolist()


def test_words_of_few_hypotheses_are_left_out() -> None:
    assert vocabulary([{"b", "a"}, {"b", "c"}, {"c", "b"}], 2) == {"b": 0, "c": 1}


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    weights = train(toy(), 2)
    write(weights, tmp_path)
    found = load(tmp_path)
    assert found.rows == weights.rows
    assert np.array_equal(found.matrix, weights.matrix)
    assert np.array_equal(found.bias, weights.bias)


def test_training_needs_all_three_labels() -> None:
    with pytest.raises(TrainingError, match="needs pairs of all three labels"):
        train([Pair("p", "h", E), Pair("p", "g", X)], 1)


def test_missing_weights_say_how_to_make_them(tmp_path: Path) -> None:
    with pytest.raises(MissingWeights, match=r"python -m probe baselines train"):
        load(tmp_path)


def test_the_shipped_weights_are_small_and_plain() -> None:
    path = FOLDER / FILE
    assert path.stat().st_size < 1_000_000
    shape = json.loads(path.read_text(encoding="utf-8"))
    assert {len(row) for row in shape["weights"].values()} == {len(shape["words"])}
    assert not [word for word in shape["words"] if " " in word]


def test_the_shipped_weights_know_the_habits_of_annotators() -> None:
    # Gururangan et al. 2018, table 4: "nobody" and "sleeping" give contradictions away
    assert said("hypothesis_only", "", "Nobody is sleeping.") == C
    assert said("hypothesis_only", "A man ran.", "Nobody is sleeping.") == C


# judging


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        (E, E, True),
        (N, C, False),
        (E, X, False),
        (C, X, True),
        (X, X, True),
        (X, N, True),
        (X, C, True),
        (X, E, False),
    ],
)
def test_non_entailment_on_either_side_compares_two_classes(
    predicted: Label, gold: Label, expected: bool
) -> None:
    assert matches(predicted, gold) == expected


def some_pairs() -> list[Pair]:
    """Three right and one wrong by the numerical rules, and one without a label."""
    return [
        Pair("Tim has 3.", "Tim has 4.", C),
        Pair("Tim has more than 3.", "Tim has 4.", N),
        Pair("Tim has 3.", "Tim has less than 4.", E),
        Pair("Tim has 3.", "Tim has more than 3.", C),
        Pair("Tim has 3.", "Tim has 3."),
    ]


def test_a_rule_is_judged_by_label_and_by_what_it_said() -> None:
    evaluation = judge("numerical", some_pairs())
    assert (evaluation.n, evaluation.correct, evaluation.accuracy) == (4, 3, 0.75)
    assert evaluation.by_gold == {E: Tally(1, 1), N: Tally(1, 1), C: Tally(2, 1)}
    assert evaluation.counts == {E: {E: 1, C: 1}, N: {N: 1}, C: {C: 1}}


def test_the_interval_is_wilsons() -> None:
    evaluation = judge("numerical", some_pairs())
    z, n, p = 1.959964, 4, 0.75
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    assert (evaluation.low, evaluation.high) == pytest.approx(
        (middle - half, middle + half), abs=1e-6
    )


def test_a_rule_of_two_classes_is_judged_in_two() -> None:
    pairs = [Pair("a b", "a", E), Pair("a b", "c", N), Pair("a b", "d", C), Pair("a b", "b", C)]
    evaluation = judge("lexical_overlap", pairs)
    assert (evaluation.n, evaluation.correct) == (4, 3)
    assert evaluation.counts == {E: {E: 1, C: 1}, X: {N: 1, C: 1}}


def test_an_accuracy_over_nothing_is_null() -> None:
    shape = evaluation_json(judge("numerical", [Pair("p", "h")]))
    assert (shape["n"], shape["accuracy"], shape["low"], shape["high"]) == (0, None, None, None)
    json.dumps(shape, allow_nan=False)


def test_an_unknown_rule_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownBaseline, match=r"^there is no rule 'numbers'; there are: \w+, "):
        judge("numbers", some_pairs())


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("text", ["", " ", "?!", "\x00", "👩‍👩‍👧", "那个人", "a." + " " * 50_000])
def test_a_rule_labels_any_text(name: str, text: str) -> None:
    pairs = [Pair(text, "A man."), Pair("A man.", text), Pair(text, text)]
    assert [label in (*LABELS, X) for label in BASELINES[name](pairs)] == [True] * 3


@pytest.mark.parametrize("name", BASELINES)
def test_a_rule_has_its_facts(name: str) -> None:
    assert BASELINES[name].name == name
    assert BASELINES[name].summary.endswith(".") and BASELINES[name].source


# the command


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
    shape = answer("numerical", lines(tmp_path / "in.jsonl.gz", some_pairs()))
    assert list(shape) == ["rule", "n", "correct", "accuracy", "low", "high", "by_gold", "counts"]
    assert shape["by_gold"][C] == {"n": 2, "correct": 1}
    assert shape["counts"][E] == {E: 1, C: 1}


def test_all_is_a_list_of_every_rule(tmp_path: Path) -> None:
    found = answer("all", lines(tmp_path / "in.jsonl.gz", some_pairs()))
    assert [shape["rule"] for shape in found] == list(BASELINES)


def test_rows_without_a_pair_and_a_label_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("premise,hypothesis,gold_label\na,b,entailment\na,b,-\n,b,neutral\na,b,\na\n")
    result = run("judge", "majority", path)
    assert "1 of 1 right: 100.0 % (20.7 to 100.0), three classes" in result.stdout
    assert result.stderr == "left out: 4 rows without a pair and a gold label\n"


def test_two_classes_are_named(tmp_path: Path) -> None:
    result = run("judge", "subsequence", lines(tmp_path / "in.jsonl.gz", some_pairs()))
    assert result.stdout.endswith("two classes\n")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("numbers", "premise,hypothesis,label\na,b,neutral\n", "there is no rule 'numbers'"),
        ("numerical", "premise,label\na,neutral\n", "no column 'hypothesis' in your file"),
        ("numerical", "premise,hypothesis\na,b\n", "no column 'label' in in.csv"),
        ("numerical", "premise,hypothesis,label\na,b,perhaps\n", "unknown gold label 'perhaps'"),
        ("numerical", "premise,hypothesis,label\na,b,\n", "holds no pair with a premise"),
    ],
)
def test_what_cannot_be_judged_gets_one_sentence(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / "in.csv").write_text(text)
    result = run("judge", name, tmp_path / "in.csv")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ") and words in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_command_trains(tmp_path: Path) -> None:
    path = lines(tmp_path / "train.jsonl.gz", toy())
    first = run("train", path, "--out", tmp_path / "one", "--least", 2)
    run("train", path, "--out", tmp_path / "two", "--least", 2)
    assert first.stdout.startswith("7 words, ")  # three that tell, men, cats, sat and the full stop
    assert (tmp_path / "one" / FILE).read_bytes() == (tmp_path / "two" / FILE).read_bytes()
