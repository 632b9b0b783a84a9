"""The baselines: what each says of texts, and the contract of all."""

import json
from pathlib import Path

import numpy as np
import pytest

from probe.baselines import BASELINES, FOLDER, WEIGHTS_FILE, BagWeights, label_scores, load
from probe.errors import MissingWeights
from probe.tasks.nli import LABELS, Pair
from probe.tasks.task import Label
from tests.support.files.baseline_pairs import C, E, N, X, label_of

TEXTS = ("", " ", "?!", "\x00", "👩‍👩‍👧", "那个人", "a." + " " * 50_000)
NUMERICAL: dict[tuple[str, str], Label] = {  # Liu et al. 2019, appendix C
    ("Tim has 350 nails.", "Tim has 750 nails."): C,
    ("Tim has less than 750 nails.", "Tim has 350 nails."): N,
    ("Tim has 350 nails.", "Tim has less than 750 nails."): E,
    ("Tim has more than 5 nails.", "Tim has more than 350 nails."): N,
    ("More than 5 came.", "Ten came."): N,
    ("Tim has 350 nails.", "Tim has nails, no less."): C,
    ("The moreless thane sat.", "He has 3."): C,
    ("", ""): C,
}
OVERLAP: dict[tuple[str, str], tuple[Label, Label]] = {  # McCoy et al. 2019
    ("The judge by the door saw a man.", "The door saw a man."): (E, E),
    ("The judge saw the man.", "The man saw the judge."): (E, X),
    ("The judge saw the man.", "The judge saw a man."): (X, X),
    ("He left. She slept!", "She slept."): (E, E),
    ("He left. She slept!", "He left she?"): (E, E),
    ("The category is old.", "The cat is old."): (X, X),
    ("The category is old.", "The cat."): (X, X),
    ("We met the cat egory.", "The cat"): (E, E),
    ("MEN walk", "men walk"): (E, E),
    ("a b a c", "a c"): (E, E),
    ("a b", "a a b b"): (E, X),
    ("", "A man."): (X, X),
}


def test_every_rule_labels_any_text_and_has_its_facts() -> None:
    for name, rule in BASELINES.items():
        assert rule.name == name and rule.summary.endswith(".") and rule.source, name
        for text in TEXTS:
            labels = rule([Pair(text, "A man."), Pair("A man.", text), Pair(text, text)])
            assert len(labels) == 3 and set(labels) <= {*LABELS, X}, (name, text[:5])


def test_what_the_texts_hold_decides() -> None:
    rules = ("lexical_overlap", "subsequence")
    assert {pair: label_of("numerical", *pair) for pair in NUMERICAL} == NUMERICAL
    assert {pair: tuple(label_of(r, *pair) for r in rules) for pair in OVERLAP} == OVERLAP


def test_every_pair_gets_the_most_frequent_label() -> None:
    golds: dict[tuple[Label | None, ...], Label] = {
        (C, N, C): C, (N, C, E): E, (X, X, E): X, (None, None, N): N, (None,): E
    }  # fmt: skip
    for each, label in golds.items():
        assert set(BASELINES["majority"]([Pair("p", "h", gold) for gold in each])) == {label}, each


def test_scores_are_the_weights_of_the_words_that_occur() -> None:
    matrix = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    weights = BagWeights({"no": 0, "men": 1}, matrix, np.array([0.5, 0.0, -0.5]))
    assert label_scores("No no men?", weights).tolist() == [9.5, 18.0, 35.5]
    assert label_scores("unheard", weights).tolist() == [0.5, 0.0, -0.5]
    assert label_scores("", weights).tolist() == [0.5, 0.0, -0.5]


def test_the_shipped_weights_are_plain_and_know_the_habits_of_annotators(tmp_path: Path) -> None:
    with pytest.raises(MissingWeights, match=r"python -m recipes.bag_of_words train"):
        load(tmp_path)
    path = FOLDER / WEIGHTS_FILE
    assert path.stat().st_size < 1_000_000
    shape = json.loads(path.read_text(encoding="utf-8"))
    assert {len(row) for row in shape["weights"].values()} == {len(shape["words"])}
    assert not [word for word in shape["words"] if " " in word]
    # Gururangan et al. 2018, table 4: "nobody" and "sleeping" give contradictions away
    assert label_of("hypothesis_only", "", "Nobody is sleeping.") == C
    assert label_of("hypothesis_only", "A man ran.", "Nobody is sleeping.") == C
