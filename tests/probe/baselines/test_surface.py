"""The baselines that compare the words of a pair, and the majority label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.baselines import BASELINES
from probe.baselines.training import evaluate_baseline
from probe.tasks.nli import Pair
from probe.tasks.task import Label
from tests.support.files.baseline_pairs import C, E, N, X, label_of
from tests.support.property_settings import STEADY

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
    assert label_of("numerical", premise, hypothesis) == label


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
    evaluation = evaluate_baseline(
        "numerical", [Pair(*row[:3]) for row in counts for _ in range(row[3])]
    )
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
    assert label_of("lexical_overlap", premise, hypothesis) == overlap
    assert label_of("subsequence", premise, hypothesis) == subsequence


FEW = st.lists(st.sampled_from(["a", "man", "Men", "can't", "run."]), max_size=6).map(" ".join)


@STEADY
@given(FEW, FEW)
def test_a_subsequence_overlaps(premise: str, hypothesis: str) -> None:
    if label_of("subsequence", premise, hypothesis) == E:
        assert label_of("lexical_overlap", premise, hypothesis) == E


@STEADY
@given(FEW, FEW, FEW)
def test_what_was_cut_from_the_premise_is_a_subsequence(
    before: str, middle: str, after: str
) -> None:
    assert label_of("subsequence", f"{before} {middle} {after}", middle) == E


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
def test_every_pair_gets_the_most_frequent_label(golds: list[Label | None], label: Label) -> None:
    pairs = [Pair("p", "h", gold) for gold in golds]
    assert BASELINES["majority"](pairs) == [label] * len(golds)
