"""About how long a check-up takes."""

from dataclasses import replace

import pytest

from probe.analysis.pace import TransformPace
from probe.checkup.measuring import Asked, Plan, estimate_seconds, seconds_at_pace
from probe.models.classifier import Classifier
from probe.tasks.nli import Pair
from tests.support.models.tiny_bert import tiny_pairs

PAIRS = [Pair("12345", "67890", "neutral")] * 4  # ten characters each
PACE = TransformPace(1.0, 5.0, {"sort": 0.5, "drop": 0.25})
PLAN = Plan("tiny", "nli", ("plain", "sort"), Asked(n=2))


def test_all_texts_are_answered_and_a_few_changed_and_answered_again() -> None:
    assert seconds_at_pace(PLAN, ["sort"], PAIRS, PACE) == pytest.approx(40 + 20 * 1.5)


def test_the_model_is_asked_once_which_tokens_matter() -> None:
    both = ["sort", "drop"]
    assert seconds_at_pace(PLAN, both, PAIRS, PACE) == pytest.approx(40 + 20 * (1.5 + 1.25 + 5))


def test_no_more_examples_are_changed_than_there_are() -> None:
    many = replace(PLAN, asked=Asked(n=100))
    assert seconds_at_pace(many, ["sort"], PAIRS, PACE) == pytest.approx(40 + 40 * 1.5)


def test_hans_is_answered_pair_by_pair() -> None:
    once, twice = (
        seconds_at_pace(replace(PLAN, parts=("hans",), asked=Asked(2, n)), [], PAIRS, PACE)
        for n in (1, 2)
    )
    assert once - 40 == pytest.approx(twice - once) != 0


def test_a_model_is_tried_once(classifier: Classifier) -> None:
    seen: list[int] = []
    classifier.model.register_forward_hook(lambda *_: seen.append(1))
    plan, pairs = replace(PLAN, model="checked up once"), tiny_pairs(12)
    first = estimate_seconds(plan, pairs, classifier)
    passes = len(seen)
    assert estimate_seconds(plan, pairs, classifier) == first > 0
    assert len(seen) == passes > 0
