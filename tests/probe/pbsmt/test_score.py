"""Lexicons, lexical weights, scores and pruning of phrase pairs."""

import math

import pytest

from probe.pbsmt.train import NULL, PhrasePair, Pruning, lexical_weight, lexicons, score

ALIGNED = [
    (["a", "b"], ["x"], {(0, 0)}),
    (["a"], ["x", "y"], {(0, 0)}),
    (["a"], ["z"], {(0, 0)}),
]


def test_word_probabilities_are_shares_of_links() -> None:
    forward, backward = lexicons(ALIGNED)
    assert forward == {
        ("a", "x"): pytest.approx(2 / 3),
        ("a", "z"): pytest.approx(1 / 3),
        ("b", NULL): 1.0,
        (NULL, "y"): 1.0,
    }
    assert backward == {("x", "a"): 1.0, ("z", "a"): 1.0, (NULL, "b"): 1.0, ("y", NULL): 1.0}


def test_a_lexical_weight_is_a_product_of_means() -> None:
    lexicon = {("a", "x"): 0.5, ("b", "x"): 0.1, ("b", "y"): 0.2, (NULL, "z"): 0.25}
    links = [(0, 0), (1, 0), (1, 1)]
    # x of a and b: (.5 + .1) / 2; y of b: .2; z of nothing: .25
    assert lexical_weight(("a", "b"), ("x", "y", "z"), links, lexicon) == pytest.approx(
        0.3 * 0.2 * 0.25
    )


def test_a_score_weighs_four_logarithms() -> None:
    counts = {
        PhrasePair(("a",), ("x",), ((0, 0),)): 3,
        PhrasePair(("a",), ("z",), ((0, 0),)): 1,
        PhrasePair(("b",), ("x",), ((0, 0),)): 2,
    }
    forward = {("a", "x"): 0.5, ("a", "z"): 0.5, ("b", "x"): 1.0}
    backward = {("x", "a"): 0.4, ("z", "a"): 0.1, ("x", "b"): 0.6}
    table = score(counts, forward, backward, pruning=Pruning(min_count=1))
    by_hand = 0.2 * (math.log(3 / 4) + math.log(3 / 5) + math.log(0.5) + math.log(0.4))
    assert table[("a",)][0] == (pytest.approx(by_hand), ("x",))
    assert [target for _, target in table[("a",)]] == [("x",), ("z",)]
    assert table[("b",)] == [
        (pytest.approx(0.2 * (math.log(2 / 5) + math.log(0.6))), ("x",)),
    ]


def test_of_several_alignments_the_likelier_gives_the_lexical_weight() -> None:
    counts = {
        PhrasePair(("a", "b"), ("x",), ((0, 0),)): 1,
        PhrasePair(("a", "b"), ("x",), ((1, 0),)): 1,
    }
    forward = {("a", "x"): 0.1, ("b", "x"): 0.5}
    backward = {("x", "a"): 1.0, ("x", "b"): 1.0, (NULL, "a"): 1.0, (NULL, "b"): 1.0}
    (total, _), *_ = score(counts, forward, backward)["a", "b"]
    assert total == pytest.approx(0.2 * math.log(0.5))


def test_pairs_seen_too_seldom_go_but_a_word_may_always_stay_itself() -> None:
    counts = {
        PhrasePair(("a",), ("a",), ((0, 0),)): 1,
        PhrasePair(("a",), ("x",), ((0, 0),)): 1,
        PhrasePair(("b",), ("y",), ((0, 0),)): 2,
    }
    ones = {(first, second): 1.0 for first in "abxy" for second in "abxy"}
    table = score(counts, ones, ones, pruning=Pruning(min_count=2))
    assert {source: [target for _, target in row] for source, row in table.items()} == {
        ("a",): [("a",)],
        ("b",): [("y",)],
    }


def test_only_the_best_targets_of_a_source_stay() -> None:
    counts = {
        PhrasePair(("a",), (target,), ((0, 0),)): count
        for target, count in zip("xyz", (2, 9, 5), strict=True)
    }
    ones = {(first, second): 1.0 for first in "axyz" for second in "axyz"}
    table = score(counts, ones, ones, pruning=Pruning(min_count=1, max_options=2))
    assert [target for _, target in table[("a",)]] == [("y",), ("z",)]
