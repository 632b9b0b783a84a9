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


def test_the_sentence_says_who_is_better_and_where_all_are_worse_than_a_guess() -> None:
    won = row(APART, "neutral", "entailment", "neutral")
    wrong = row(SHARED, "neutral", "entailment", "entailment")
    right = row(APART, "neutral", "neutral", "neutral")
    unjudged = [row(APART, None, "neutral", other) for other in ("neutral", "entailment")]
    unanswered = replace(row(APART, None), error="the premise is empty")
    guess = "Both are right less often than a guess where every word of the hypothesis"
    for rows, words in (
        ([won] * 6, "two is better than one (100.0 against 0.0 % right, p = 0.031)"),  # 2 / 2 ** 6
        ([won] * 5, "cannot be told apart (100.0 and 0.0 % right, p = 0.062)"),  # 2 / 2 ** 5
        ([right] * 3, "one and two are right on the same pairs, 100.0 %."),
        ([wrong] * FEWEST + [right] * FEWEST, guess),
        ([wrong] * FEWEST + [right] * FEWEST, f"(0 and 0 % of {FEWEST})"),
        (unjudged, "one and two say the same of 50 % of 2 pairs."),
        (unjudged, "no gold labels"),
        ([unanswered], "No row could be compared."),
    ):
        assert words in in_a_sentence(rows, NAMES), words
    assert "guess" not in in_a_sentence([wrong] * (FEWEST - 1), NAMES)
