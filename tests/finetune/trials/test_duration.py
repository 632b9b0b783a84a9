"""What a run is said to take follows from what is measured, not from constants."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from finetune.training.frozen_layers import TENSOR_CACHE
from finetune.trials import calibration, mitigation, transfer
from finetune.trials.datasets import Sets, SourceData
from finetune.trials.duration import (
    Throughput,
    Work,
    overflow_note,
    run_seconds,
    throughput,
    work_of,
)
from finetune.trials.generalisation import SourceData as Conditions
from finetune.trials.inoculation import Plan
from finetune.trials.word_salad import salad_names
from probe.errors import ExperimentError
from probe.models.classifier import Classifier
from probe.tasks.nli import NLI, Pair
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import tiny_classifier
from tests.support.runs.clean_source import TRAINING, clean_source
from tests.support.runs.generalisation import PLAN as GENERALISED

PAIR = Pair("12345", "67890", "neutral")
SETS = Sets((PAIR,) * 4, (PAIR,) * 2, (PAIR,) * 20, (PAIR,) * 3)
PLAN = Plan("tiny", "any", (10, 20), (1e-3,), (0,), max_epochs=10, patience=5)


def test_every_example_counts() -> None:
    # 8 epochs of 10 and 20; 5 tests in three cells; dev of 4 once and in each epoch
    inoculated = Work(3, 4 + 5 + 20, 3 * 5 + 4 + 2 * 8 * 4, 8 * 30)
    assert work_of(PLAN, SETS) == (inoculated, SETS.challenge_train)
    more, _ = work_of(PLAN, replace(SETS, control=(PAIR,) * 7))
    assert more.answered - inoculated.answered == 3 * 7
    source, names = SourceData((PAIR,) * 4, (PAIR,) * 5, (PAIR,) * 30), len(salad_names(NLI))
    # two epochs of 20; 5 whole and 3 broken texts are answered in each cell, dev in each epoch
    plan = calibration.Plan("tiny", TRAINING, ("smoothing",), (20,), (0,), tests=3)
    answered = 2 * (5 + 3 * names) + (1 + 2) * 4
    assert work_of(plan, source)[0] == Work(2, 4 + 5 + 3 * names + 20, answered, 2 * 20, 3 * names)
    mended = mitigation.Plan("tiny", TRAINING, ("invalid",), (20,), (0,), transforms=("sort",))
    assert work_of(mended, source)[0].trained == 2 * (20 + 10)
    taught = transfer.Plan("tiny", TRAINING, ("sort", "drop"), (20,), (0,), salad_only=False)
    assert work_of(taught, source)[0].trained == 2 * 2 * (20 + 10)


def test_each_figure_has_its_share_and_what_is_too_large_to_keep_is_prepared_anew(
    classifier: Classifier, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, each = Work(1, 1, 10, 100, 1000), Throughput(2.0, 3.0, 5.0, 0.0)
    assert work.seconds(each, 7.0) == 2 + 300 + 50 + 7000
    for limit, times in ((29_000, 1), (28_999, 3)):
        monkeypatch.setattr(TENSOR_CACHE, "limit", lambda limit=limit: limit)
        assert Work(3, 29, 0, 0).seconds(Throughput(1.0, 0.0, 0.0, 1000.0)) == times * 29
    monkeypatch.setattr(TENSOR_CACHE, "limit", lambda: 10_000)
    plan = replace(PLAN, model="crowded", mode="fast")
    said = overflow_note(plan, sets, classifier)
    assert "lets be kept (0), so each cell computes it anew" in said
    assert not overflow_note(replace(plan, mode="full"), sets, classifier)


def test_a_model_is_measured_once_in_a_mode_and_left_as_it_was(
    classifier: Classifier, sets: Sets
) -> None:
    before = {name: it.clone() for name, it in classifier.model.state_dict().items()}
    for mode in ("full", "fast"):
        each = throughput(mode, "fp32", clean_source().pool, classifier)  # type: ignore[arg-type]  # a mode
        assert (each.states > 0) is (mode == "fast")
    after = classifier.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert all(weight.grad is None for weight in classifier.model.parameters())
    plan, seen = replace(PLAN, model="measured once"), list[int]()
    classifier.model.register_forward_hook(lambda *_: seen.append(1))
    first = run_seconds(plan, sets, classifier)
    passes = len(seen)
    assert run_seconds(plan, sets) == first > 0
    assert not overflow_note(plan, sets)
    assert len(seen) == passes > 0


def test_more_trainings_take_longer_and_a_model_without_fast_mode_is_said_before(
    classifier: Classifier, sets: Sets
) -> None:
    plan = replace(GENERALISED, model="tiny for time", mode="full", sizes=(20,), tests=10, dev=5)
    less = mitigation.Plan("tiny for time", TRAINING, sizes=(6,), seeds=(0,), tests=3)
    more = replace(less, sizes=(6, 24), seeds=(0, 1), tests=12)
    pairs: list[tuple[Any, Any, Any]] = [
        (replace(plan, seeds=(0,)), plan, Conditions(tiny_pairs(9))),
        (less, more, clean_source()),
    ]
    for short, long, data in pairs:
        first = run_seconds(short, data, classifier)
        assert 0 < first < run_seconds(long, data, classifier)
    with pytest.raises(ExperimentError, match="--mode full"):
        run_seconds(replace(PLAN, model="albert", mode="fast"), sets, tiny_classifier("albert"))
