"""What Probe shows of an answer and of what its changes mean."""

import pytest

from probe.analysis.transformed import Examination, Transformed
from probe.models.classifier import Prediction
from probe.tasks.label_rules import KEEP, UNDEFINED, Rule
from probe.tasks.nli import FLIP, LABELS, NLI, Pair
from probe.tasks.task import INVALID, Label
from probe.transforms.apply import Result
from probe.ui.html.examination import answer
from probe.ui.html.meaning import badge, meaning, summary
from tests.support.models.tiny_models import shared

PAIR = Pair("The old door closed.", "A door closed.")


def answered(label: Label) -> str:
    """Show an answer to a pair."""
    labels = (label, *(other for other in LABELS if other != label))
    shares = (0.7, *[0.3 / (len(labels) - 1)] * (len(labels) - 1))
    prediction = Prediction(label, shares, labels)
    return answer(Examination(shared("bert"), PAIR, prediction, None, (), {}))


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("entailment", "The model says: the hypothesis is true if the premise is."),
        ("contradiction", "The model says: the hypothesis is false if the premise is true."),
        (INVALID, "The model says: the text says nothing that could be judged."),
    ],
)
def test_an_answer_says_what_it_claims(label: Label, said: str) -> None:
    assert said in answered(label)


def test_time_and_precision_have_their_definition() -> None:
    shown = answered("neutral")
    assert "0 ms · fp32: How long the answer took" in shown


SHARES = {label: tuple(0.9 if other == label else 0.05 for other in LABELS) for label in LABELS}
BEFORE = Prediction("contradiction", SHARES["contradiction"], LABELS)


def made(
    name: str, rule: Rule, now: Label, gold: Label | None = None, *, changed: bool = True
) -> Transformed:
    """Return a result of a pair whose answer was contradiction; `gold` is the new gold label."""
    before, after = Pair("It rains.", "It is dry."), Pair("It rains.", "dry is It.", gold)
    result = Result(name, NLI, before, after, rule, changed, True, "", 0, "safe", ())
    usual = "entailment" if name == "copysort" else BEFORE.label
    return Transformed(result, Prediction(now, SHARES[now], LABELS), now == usual)


@pytest.mark.parametrize(
    ("transformed", "words", "kind"),
    [
        (made("sort", UNDEFINED, "contradiction"), "stays, though senseless", "keep"),
        (made("sort", UNDEFINED, "neutral"), "changes", "good"),
        (made("sort", UNDEFINED, "contradiction", changed=False), "unchanged", "plain"),
        (made("copysort", UNDEFINED, "entailment"), "taken for entailment", "keep"),
        (made("copysort", UNDEFINED, "neutral"), "not taken for entailment", "good"),
        (made("negation", KEEP, "contradiction"), "stays, as it should", "good"),
        (made("negation", KEEP, "neutral"), "wrongly moves", "bad"),
        (made("negation", KEEP, "contradiction", "contradiction"), "stays, as it should", "good"),
        (made("negation", KEEP, "contradiction", "neutral"), "wrongly stays", "bad"),
        (made("negation", KEEP, "neutral", "neutral"), "rightly moves", "good"),
        (made("neghyp", FLIP, "contradiction", "entailment"), "wrongly stays", "bad"),
        (made("neghyp", FLIP, "entailment", "entailment"), "rightly moves", "good"),
        (made("neghyp", FLIP, "neutral"), "changes", "plain"),
    ],
)
def test_a_badge_says_what_a_result_means(transformed: Transformed, words: str, kind: str) -> None:
    shown = badge(transformed, BEFORE)
    assert (shown.words, shown.kind) == (words, kind)


def test_a_destroyed_text_that_keeps_its_answer_is_said_to() -> None:
    said = meaning(made("sort", UNDEFINED, "contradiction"), BEFORE)
    assert (
        said == "The text is destroyed, and the model still says contradiction, as sure as before."
    )


def test_the_sentence_counts_what_stays_and_what_means_nothing_any_more() -> None:
    results = [
        made("sort", UNDEFINED, "contradiction"),
        made("shuffle", UNDEFINED, "contradiction"),
        made("drop", UNDEFINED, "entailment"),
        made("negation", KEEP, "contradiction"),
    ]
    assert summary(results, BEFORE) == (
        "3 of 4 answers stay, two of them though the text means nothing any more. "
        "The model is as sure as before: 0.90, was 0.90."
    )


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("ccc", "All 3 answers stay, though two of the texts mean nothing any more. "),
        ("eec", "1 of 3 answers stays, and none where the text means nothing any more. "),
        ("cec", "2 of 3 answers stay, one of them though the text means nothing any more. "),
        ("eee", "0 of 3 answers stay. "),
    ],
)
def test_what_stays_is_counted_among_the_senseless_texts(answers: str, said: str) -> None:
    labels = {"c": "contradiction", "e": "entailment"}
    rules = [("sort", UNDEFINED), ("shuffle", UNDEFINED), ("negation", KEEP)]
    results = [made(*each, labels[answer]) for each, answer in zip(rules, answers, strict=True)]
    assert summary(results, BEFORE).startswith(said)


def test_copies_are_counted_apart() -> None:
    said = summary([made("copysort", UNDEFINED, "entailment")], BEFORE)
    assert said.startswith("The senseless copy is called entailment.")


def test_new_right_answers_are_counted() -> None:
    results = [made("neghyp", FLIP, "entailment", "entailment")] * 2
    assert "2 of the 2 that get a new right answer are right." in summary(results, BEFORE)


def test_what_changes_nothing_says_nothing() -> None:
    unchanged = made("sort", UNDEFINED, "contradiction", changed=False)
    assert summary([unchanged], BEFORE) == "None of these changes anything in this pair."
