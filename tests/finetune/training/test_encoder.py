"""Encoder training: resumable, seeded, with the schedule it says, and by teachers."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from finetune.training.encoder import (
    TrainingOptions,
    mean_probabilities,
    schedule,
    soft_targets,
    train,
)
from probe.errors import TrainingError
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.models.text_model import TokenRows
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_word_models import word_classifier

OPTIONS = TrainingOptions(lr=1e-3, epochs=2, batch=4, max_tokens=64, precision="fp32")
PAIRS = tiny_pairs(22)  # 6 batches an epoch, the last one short


def weights(classifier: Classifier) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in classifier.model.state_dict().items()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


@each("stops", [1, 2, 3])
def test_a_resumed_training_ends_with_the_same_weights_bit_by_bit(
    stops: int, model: str, tmp_path: Path
) -> None:
    whole, resumed = load(model), load(model)
    list(train(whole, PAIRS, OPTIONS, tmp_path / "whole", every=3))
    list(islice(train(load(model), PAIRS, OPTIONS, tmp_path / "cut", every=3), stops))
    dev = {"dev": PAIRS, "few": PAIRS[:3]}
    rows = list(train(resumed, PAIRS, OPTIONS, tmp_path / "cut", dev, every=3))
    assert all(set(row.accuracy) == {"dev", "few"} for row in rows)
    assert [row.step for row in rows] == [3, 6, 9, 12][stops:]
    assert same(weights(whole), weights(resumed))


def test_a_checkpoint_of_another_recipe_is_refused(model: str, tmp_path: Path) -> None:
    next(train(load(model), PAIRS, OPTIONS, tmp_path, every=3))
    other = TrainingOptions(lr=2e-3, epochs=2, batch=4, max_tokens=64, precision="fp32")
    with pytest.raises(TrainingError, match=r"another --lr \(0.001, now 0.002\)"):
        list(train(load(model), PAIRS, other, tmp_path, every=3))


@each(
    "step, factor",
    # ten steps, two of them rising: 1/2, 1, then down by eighths to 1/8
    [(0, 0.5), (1, 1.0), (2, 1.0), (3, 7 / 8), (6, 0.5), (9, 1 / 8)],
)
def test_the_rate_rises_then_falls_to_zero(step: int, factor: float) -> None:
    assert schedule(step, 10, 0.2) == pytest.approx(factor)


TAUGHT = tiny_pairs(24)
WITHOUT_LABELS = tuple(replace(pair, gold=None) for pair in TAUGHT)
LEARNING = TrainingOptions(lr=2e-3, epochs=40, batch=8, max_tokens=64, precision="fp32")


@pytest.fixture(scope="module")
def teacher(model: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that knows the pairs."""
    out = tmp_path_factory.mktemp("teacher") / "teacher"
    list(train(load(model), TAUGHT, LEARNING, out))
    return str(out)


def distance(first: str | Path, second: str | Path) -> float:
    """Return how far the probabilities of two models are apart, on average."""
    one, other = (load(str(name)).probabilities(TAUGHT) for name in (first, second))
    return float(abs(one - other).mean())


@each(
    "admitted, expected",
    [
        ((False, True, False), (0.3, 0.65, 0.05)),  # half of what is taught, half of the label
        ((False, True, True), (0.3, 0.525, 0.175)),  # 3/4 and 1/4 of the second half
        ((False, False, False), (0.6, 0.3, 0.1)),  # no label
    ],
)
def test_targets_mix_what_is_taught_and_the_label(
    admitted: tuple[bool, ...], expected: tuple[float, ...]
) -> None:
    (target,) = soft_targets(torch.tensor([[0.6, 0.3, 0.1]]), torch.tensor([admitted]), 0.5)
    assert target.tolist() == pytest.approx(expected)
    certain = torch.tensor([[1.0, 0.0, 0.0]])
    (ruled_out,) = soft_targets(certain, torch.tensor([[False, True, False]]), 0.25)
    assert ruled_out.tolist() == [0.25, 0.75, 0.0]


def test_teachers_that_read_texts_alike_have_them_tokenised_once(
    model: str, teacher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [load(model), load(teacher), word_classifier("da")]
    expected = sum(each.probabilities(TAUGHT) for each in models) / 3
    tokenised, token_rows = [], Classifier.token_rows

    def counted(self: Classifier, *given: Any) -> TokenRows:
        tokenised.append(self.name)
        return token_rows(self, *given)

    monkeypatch.setattr(Classifier, "token_rows", counted)
    assert mean_probabilities(models, TAUGHT, "fp32").numpy() == pytest.approx(expected, abs=1e-6)
    assert tokenised == [models[0].name, models[2].name]


def test_a_student_learns_from_its_teacher_without_a_label(
    model: str, teacher: str, tmp_path: Path
) -> None:
    options = replace(LEARNING, teachers=(teacher,))
    list(train(load(model), WITHOUT_LABELS, options, tmp_path))
    assert distance(tmp_path, teacher) < 0.05 < 0.2 < distance(model, teacher)


def test_a_resumed_distillation_ends_with_the_same_weights(
    model: str, teacher: str, tmp_path: Path
) -> None:
    options = replace(LEARNING, epochs=2, teachers=(teacher,))
    whole, resumed = load(model), load(model)
    list(train(whole, TAUGHT, options, tmp_path / "whole", every=2))
    next(islice(train(load(model), TAUGHT, options, tmp_path / "cut", every=2), 1, None))
    list(train(resumed, TAUGHT, options, tmp_path / "cut", every=2))
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, resumed.model.state_dict()[name])
    other = replace(options, teachers=(model,))
    with pytest.raises(TrainingError, match="another --teacher"):
        list(train(load(model), TAUGHT, other, tmp_path / "cut", every=2))
