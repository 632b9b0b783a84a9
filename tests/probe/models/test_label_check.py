"""The check of a model's label order by the sanity examples of its task."""

from collections import Counter
from dataclasses import replace

import pytest

from probe.models.classifier import Classifier
from probe.models.library import LabelCheck, check_labels, load
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import LABELS, NLI, SANITY_PAIRS, TWO_WAY
from probe.tasks.task import Label
from tests.support.models.tiny_models import tiny_classifier

# the order of the outputs' names; the outputs are E, N, C
SWAPPED: tuple[Label, ...] = ("neutral", "entailment", "contradiction")
ROTATED: tuple[Label, ...] = ("neutral", "contradiction", "entailment")


@pytest.fixture(scope="module")
def minilm() -> Classifier:
    """The bundled model, whose outputs are in our order."""
    return load("minilm")


def test_there_are_two_of_each_label() -> None:
    assert Counter(pair.gold for pair in SANITY_PAIRS) == dict.fromkeys(LABELS, 2)


def test_no_sanity_example_is_a_bundled_pair() -> None:
    known = {
        pair.hypothesis for name in ("dev", "test", "pool") for pair in bundled_examples(NLI, name)
    }
    assert not known & {pair.hypothesis for pair in SANITY_PAIRS}


def test_the_bundled_model_gets_all_right(minilm: Classifier) -> None:
    check = check_labels(minilm)
    assert check is not None
    assert (check.correct, check.n, check.best_order) == (6, 6, LABELS)
    assert (check.better_order, check.warning, check.doubt) == (None, "", "")


@pytest.mark.parametrize(("named", "correct"), [(SWAPPED, 2), (ROTATED, 0)])
def test_wrongly_named_labels_are_warned_of(
    named: tuple[Label, ...], correct: int, minilm: Classifier
) -> None:
    check = check_labels(replace(minilm, order=named))
    assert check is not None
    assert (check.correct, check.best_correct, check.best_order) == (correct, 6, LABELS)
    assert check.doubt == ""
    assert check.warning == (
        f"with this order the model gets {correct} of 6 plain pairs right; with entailment, "
        "neutral, contradiction 6 of 6 - are the labels named wrongly?"
    )


def test_the_order_is_never_changed(minilm: Classifier) -> None:
    wrong = replace(minilm, order=ROTATED)
    check_labels(wrong)
    assert wrong.order == ROTATED


@pytest.mark.parametrize(
    ("correct", "best", "clear"), [(6, 6, False), (4, 6, False), (3, 6, True), (2, 5, True)]
)
def test_another_order_has_to_be_clearly_better(correct: int, best: int, clear: bool) -> None:
    check = LabelCheck(correct, 6, LABELS, SWAPPED, best)
    assert (check.better_order == SWAPPED) is clear


@pytest.mark.parametrize(("best", "suggestion"), [(6, SWAPPED), (5, SWAPPED), (4, None)])
def test_an_order_is_offered_only_if_it_gets_nearly_all_right(
    best: int, suggestion: tuple[Label, ...] | None
) -> None:
    assert LabelCheck(0, 6, LABELS, SWAPPED, best).suggestion == suggestion


def test_a_model_that_no_order_fits_is_doubted() -> None:
    doubt = LabelCheck(3, 6, LABELS, SWAPPED, 4).doubt
    assert doubt.startswith("the model gets only 3 of 6 plain pairs right, and no other order")


def test_of_equal_orders_the_given_one_is_best() -> None:
    # it gives every pair the same label: two are right in two of the six orders
    model = tiny_classifier(order=ROTATED)
    head = [p for p in model.model.parameters() if p.shape == (3,)][-1]
    head.data[2] = 1e3  # its third output, which ROTATED calls entailment
    assert check_labels(model) == LabelCheck(2, 6, ROTATED, ROTATED, 2, alone=False)


@pytest.mark.parametrize(("order", "correct"), [(TWO_WAY, 2), (TWO_WAY[::-1], 4)])
def test_of_two_labels_neutral_and_contradiction_are_one(
    order: tuple[Label, ...], correct: int
) -> None:
    model = tiny_classifier(order=order)
    head = [p for p in model.model.parameters() if p.shape == (2,)][-1]
    head.data[0] = 1e3  # it always predicts the first label
    check = check_labels(model)
    assert check is not None and check.correct == correct
