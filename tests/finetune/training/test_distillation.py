"""Distillation: the targets, what a student learns of them, and a training that is resumed."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from finetune.training.encoder import TrainingOptions, mean_probabilities, soft_targets, train
from finetune.training.losses import soft_cross_entropy
from probe.errors import TrainingError
from probe.models.classifier import Classifier
from probe.models.inputs import TokenRows
from probe.models.library import load
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_word_models import word_classifier

PAIRS = tiny_pairs(24)
WITHOUT_LABELS = tuple(replace(pair, gold=None) for pair in PAIRS)
OPTIONS = TrainingOptions(lr=2e-3, epochs=40, batch=8, max_tokens=64, precision="fp32")


@pytest.fixture(scope="module")
def teacher(model: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that knows the pairs."""
    out = tmp_path_factory.mktemp("teacher") / "teacher"
    list(train(load(model), PAIRS, OPTIONS, out))
    return str(out)


def distance(first: str | Path, second: str | Path) -> float:
    """Return how far the probabilities of two models are apart, on average."""
    one, other = (load(str(name)).probabilities(PAIRS) for name in (first, second))
    return float(abs(one - other).mean())


@pytest.mark.parametrize(
    ("admitted", "expected"),
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


def test_a_label_that_the_teachers_rule_out_keeps_its_weight() -> None:
    taught, admitted = torch.tensor([[1.0, 0.0, 0.0]]), torch.tensor([[False, True, False]])
    assert soft_targets(taught, admitted, 0.25).tolist() == [[0.25, 0.75, 0.0]]


def test_the_loss_is_least_where_the_probabilities_are_the_targets() -> None:
    targets = torch.tensor([[0.7, 0.2, 0.1]])
    entropy = -(targets * targets.log()).sum()
    assert soft_cross_entropy(targets.log(), targets) == pytest.approx(float(entropy))
    assert soft_cross_entropy(torch.zeros(1, 3), targets) > entropy


def test_the_mean_of_the_teachers_is_taught(model: str, teacher: str) -> None:
    models = [load(model), load(teacher)]
    mean = mean_probabilities(models, PAIRS, "fp32").numpy()
    assert mean == pytest.approx(sum(each.probabilities(PAIRS) for each in models) / 2, abs=1e-6)


def test_teachers_that_read_texts_alike_have_them_tokenised_once(
    model: str, teacher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [load(model), load(teacher), word_classifier("da")]
    expected = sum(each.probabilities(PAIRS) for each in models) / 3
    tokenised, token_rows = [], Classifier.token_rows

    def counted(self: Classifier, *given: Any) -> TokenRows:
        tokenised.append(self.name)
        return token_rows(self, *given)

    monkeypatch.setattr(Classifier, "token_rows", counted)
    assert mean_probabilities(models, PAIRS, "fp32").numpy() == pytest.approx(expected, abs=1e-6)
    assert tokenised == [models[0].name, models[2].name]


def test_a_student_learns_from_its_teacher_without_a_label(
    model: str, teacher: str, tmp_path: Path
) -> None:
    options = replace(OPTIONS, teachers=(teacher,))
    list(train(load(model), WITHOUT_LABELS, options, tmp_path))
    assert distance(tmp_path, teacher) < 0.05 < 0.2 < distance(model, teacher)


def test_a_resumed_distillation_ends_with_the_same_weights(
    model: str, teacher: str, tmp_path: Path
) -> None:
    options = replace(OPTIONS, epochs=2, teachers=(teacher,))
    whole, resumed = load(model), load(model)
    list(train(whole, PAIRS, options, tmp_path / "whole", every=2))
    next(islice(train(load(model), PAIRS, options, tmp_path / "cut", every=2), 1, None))
    list(train(resumed, PAIRS, options, tmp_path / "cut", every=2))
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, resumed.model.state_dict()[name])
    other = replace(options, teachers=(model,))
    with pytest.raises(TrainingError, match="another --teacher"):
        list(train(load(model), PAIRS, other, tmp_path / "cut", every=2))
