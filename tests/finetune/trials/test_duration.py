"""What a run is said to take follows from what is measured, not from constants."""

from dataclasses import replace

import pytest
import torch

from finetune.training.frozen_layers import TENSOR_CACHE
from finetune.trials import calibration, generalisation, mitigation, transfer
from finetune.trials.datasets import Sets, SourceData
from finetune.trials.duration import (
    Throughput,
    Work,
    generalisation_seconds,
    inoculation_seconds,
    inoculation_work,
    overflow_note,
    repair_seconds,
    repair_work,
    seconds_of,
    throughput,
)
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


def test_every_example_of_an_inoculation_counts() -> None:
    # 8 epochs of 10 and 20; 5 tests in three cells; dev of 4 once and in each epoch
    assert inoculation_work(PLAN, SETS) == Work(3, 4 + 5 + 20, 3 * 5 + 4 + 2 * 8 * 4, 8 * 30)
    more = inoculation_work(PLAN, replace(SETS, control=(PAIR,) * 7))
    assert more.answered - inoculation_work(PLAN, SETS).answered == 3 * 7


def test_every_text_of_a_repair_counts() -> None:
    source, names = SourceData((PAIR,) * 4, (PAIR,) * 5, (PAIR,) * 30), len(salad_names(NLI))
    # two epochs of 20; 5 whole and 3 broken texts are answered in each cell, dev in each epoch
    plan = calibration.Plan("tiny", TRAINING, ("smoothing",), (20,), (0,), tests=3)
    work = repair_work(plan, source)
    assert (work.trials, work.trained) == (2, 2 * 20)
    assert work.answered == 2 * (5 + 3 * names) + (1 + 2) * 4
    assert work.destroyed == 3 * names
    mended = mitigation.Plan("tiny", TRAINING, ("invalid",), (20,), (0,), transforms=("sort",))
    assert repair_work(mended, source).trained == 2 * (20 + 10)
    taught = transfer.Plan("tiny", TRAINING, ("sort", "drop"), (20,), (0,), salad_only=False)
    assert repair_work(taught, source).trained == 2 * 2 * (20 + 10)


def test_what_is_too_large_to_keep_is_prepared_for_each_trial(
    classifier: Classifier, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, each = Work(3, 29, 0, 0), Throughput(1.0, 0.0, 0.0, 1000.0)
    for limit, times in ((29_000, 1), (28_999, 3)):
        monkeypatch.setattr(TENSOR_CACHE, "limit", lambda limit=limit: limit)
        assert seconds_of(work, each) == pytest.approx(times * 29)
    monkeypatch.setattr(TENSOR_CACHE, "limit", lambda: 10_000)
    plan = replace(PLAN, model="crowded", mode="fast")
    said = overflow_note(plan, sets, classifier)
    assert "lets be kept (0), so each cell computes it anew" in said
    assert not overflow_note(replace(plan, mode="full"), sets, classifier)


def test_each_figure_has_its_share_of_the_seconds() -> None:
    work, each = Work(1, 1, 10, 100, 1000), Throughput(2.0, 3.0, 5.0, 0.0)
    assert seconds_of(work, each, 7.0) == 2 + 300 + 50 + 7000


def test_measuring_leaves_the_model_as_it_was(classifier: Classifier) -> None:
    before = {name: it.clone() for name, it in classifier.model.state_dict().items()}
    for mode in ("full", "fast"):
        each = throughput(mode, "fp32", clean_source().pool, classifier)  # type: ignore[arg-type]  # a mode
        assert (each.states > 0) is (mode == "fast")
    after = classifier.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert all(weight.grad is None for weight in classifier.model.parameters())


def test_a_model_is_measured_once_in_a_mode(classifier: Classifier, sets: Sets) -> None:
    plan, seen = replace(PLAN, model="measured once"), list[int]()
    classifier.model.register_forward_hook(lambda *_: seen.append(1))
    first = inoculation_seconds(plan, sets, classifier)
    passes = len(seen)
    assert inoculation_seconds(plan, sets) == first > 0
    assert not overflow_note(plan, sets)
    assert len(seen) == passes > 0


def test_more_trainings_take_longer(classifier: Classifier) -> None:
    plan = replace(GENERALISED, model="tiny for time", mode="full", sizes=(20,), tests=10, dev=5)
    data = generalisation.SourceData(tiny_pairs(9))
    once = generalisation_seconds(replace(plan, seeds=(0,)), data, classifier)
    assert 0 < once < generalisation_seconds(plan, data, classifier)
    less = mitigation.Plan("tiny for time", TRAINING, sizes=(6,), seeds=(0,), tests=3)
    more, source = replace(less, sizes=(6, 24), seeds=(0, 1), tests=12), clean_source()
    first = repair_seconds(less, source, classifier)
    assert 0 < first < repair_seconds(more, source, classifier)


def test_a_model_without_fast_mode_is_said_before_the_run(sets: Sets) -> None:
    plan = replace(PLAN, model="tiny albert", mode="fast")
    with pytest.raises(ExperimentError, match="--mode full"):
        inoculation_seconds(plan, sets, tiny_classifier("albert"))
