"""What a run is said to take follows from a trial, not from constants."""

from dataclasses import replace

import pytest

from finetune.training.frozen_layers import TENSOR_CACHE
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan
from finetune.trials.inoculation_time import estimate_seconds, overflow_note, seconds_at_pace
from finetune.trials.pace import Pace
from probe.errors import ExperimentError
from probe.models.classifier import Classifier
from probe.tasks.nli import Pair
from tests.support.models.tiny_models import tiny_classifier

PAIR = Pair("12345", "67890", "neutral")  # ten characters
SETS = Sets((PAIR,) * 4, (PAIR,) * 2, (PAIR,) * 20, (PAIR,) * 3)
PLAN = Plan("tiny", "any", (10, 20), (1e-3,), (0,), max_epochs=10, patience=5)


def test_every_trained_pair_and_every_predicted_one_counts() -> None:
    # 8 epochs: 10 and 20 pairs; dev of 4 once for the model as it was and 8 times for each of two
    # cells; both tests together 5 pairs, in three cells; what was trained on once more
    assert seconds_at_pace(PLAN, SETS, Pace(0, 0.1, 0)) == pytest.approx(8 * 30)
    assert seconds_at_pace(PLAN, SETS, Pace(0, 0, 0.1)) == pytest.approx(4 + 2 * 8 * 4 + 3 * 5 + 30)


def test_pairs_are_prepared_once() -> None:
    assert seconds_at_pace(PLAN, SETS, Pace(0.1, 0, 0)) == pytest.approx(4 + 5 + 20)


def test_what_is_too_large_to_keep_is_prepared_for_each_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 10 characters in each of 4 + 5 + 20 pairs, 100 bytes a character
    monkeypatch.setattr(TENSOR_CACHE, "limit", lambda: 29_000)
    assert seconds_at_pace(PLAN, SETS, Pace(0.1, 0, 0, 100)) == pytest.approx(29)
    monkeypatch.setattr(TENSOR_CACHE, "limit", lambda: 28_999)
    assert seconds_at_pace(PLAN, SETS, Pace(0.1, 0, 0, 100)) == pytest.approx(3 * 29)


def test_states_that_are_too_large_to_keep_are_said(
    classifier: Classifier, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = replace(PLAN, model="crowded", mode="fast")
    monkeypatch.setattr(TENSOR_CACHE, "limit", lambda: 10_000)
    assert "lets be kept (0), so each cell computes it anew" in overflow_note(
        plan, sets, classifier
    )
    assert not overflow_note(replace(plan, mode="full"), sets, classifier)


def test_the_control_set_counts_as_a_test() -> None:
    more = replace(SETS, control=(PAIR,) * 7)
    added = seconds_at_pace(PLAN, more, Pace(0, 0, 0.1)) - seconds_at_pace(
        PLAN, SETS, Pace(0, 0, 0.1)
    )
    assert added == pytest.approx(3 * 7)


def test_a_trial_is_made_once_for_a_model_and_mode(classifier: Classifier, sets: Sets) -> None:
    plan = replace(PLAN, model="tried once")
    seen: list[int] = []
    classifier.model.register_forward_hook(lambda *_: seen.append(1))
    first = estimate_seconds(plan, sets, classifier)
    passes = len(seen)
    assert estimate_seconds(plan, sets) == first
    assert not overflow_note(plan, sets)
    assert len(seen) == passes > 0


def test_a_model_without_fast_mode_is_said_before_the_run(sets: Sets) -> None:
    plan = replace(PLAN, model="tiny albert", mode="fast")
    with pytest.raises(ExperimentError, match="--mode full"):
        estimate_seconds(plan, sets, tiny_classifier("albert"))
