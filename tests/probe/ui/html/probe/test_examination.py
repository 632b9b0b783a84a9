"""What the Probe tab shows of an answer."""

import pytest

from probe.analysis.transformed import Examination
from probe.models.prediction import Prediction
from probe.tasks.nli import LABELS, Pair
from probe.tasks.task import INVALID, Label
from probe.ui.html.examination import answer
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
