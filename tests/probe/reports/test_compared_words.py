"""The sentence above a comparison: which is better by the test, and where all of them fail."""

from dataclasses import replace

from probe.analysis.comparison import Row
from probe.models.classifier import Prediction
from probe.reports.comparison import in_a_sentence
from probe.statistics import FEWEST
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.task import Label

NAMES = ["one", "two"]
SHARED, APART = ("A dog saw the cat.", "The cat saw a dog."), ("A dog slept.", "Birds sing well.")


def row(texts: tuple[str, str], gold: Label | None, *said: Label) -> Row:
    answers = tuple(Prediction(label, (0.4, 0.3, 0.3), LABELS) for label in said)
    return Row(0, NLI, Pair(*texts, gold), answers, "", (False,) * len(said))


def test_the_model_that_is_right_more_often_is_better_where_chance_seldom_does_it() -> None:
    rows = [row(APART, "neutral", "entailment", "neutral")] * 6
    said = in_a_sentence(rows, NAMES)  # p = 2 / 2 ** 6
    assert said.startswith("two is better than one (100.0 against 0.0 % right, p = 0.031)")


def test_a_difference_that_chance_makes_tells_nothing_apart() -> None:
    rows = [row(APART, "neutral", "entailment", "neutral")] * 5  # p = 2 / 2 ** 5
    assert "cannot be told apart (100.0 and 0.0 % right, p = 0.062)" in in_a_sentence(rows, NAMES)


def test_models_right_on_the_same_pairs_have_no_test() -> None:
    rows = [row(APART, "neutral", "neutral", "neutral")] * 3
    assert in_a_sentence(rows, NAMES) == "one and two are right on the same pairs, 100.0 %."


def test_a_slice_in_which_all_are_surely_worse_than_a_guess_is_named() -> None:
    wrong = [row(SHARED, "neutral", "entailment", "entailment")] * FEWEST
    right = [row(APART, "neutral", "neutral", "neutral")] * FEWEST
    said = in_a_sentence([*wrong, *right], NAMES)
    assert "Both are right less often than a guess where every word of the hypothesis" in said
    assert f"(0 and 0 % of {FEWEST})" in said


def test_a_slice_of_few_pairs_is_not_named() -> None:
    wrong = [row(SHARED, "neutral", "entailment", "entailment")] * (FEWEST - 1)
    assert "guess" not in in_a_sentence(wrong, NAMES)


def test_without_gold_labels_it_says_how_often_they_agree() -> None:
    rows = [row(APART, None, "neutral", "neutral"), row(APART, None, "neutral", "entailment")]
    said = in_a_sentence(rows, NAMES)
    assert said.startswith("one and two say the same of 50 % of 2 pairs.")
    assert "no gold labels" in said


def test_without_any_answer_it_says_so() -> None:
    unanswered = replace(row(APART, None), error="the premise is empty")
    assert in_a_sentence([unanswered], NAMES) == "No row could be compared."
