"""How each kind of model was trained: Liu et al.'s files and our own recipe."""

import pytest
import torch
from torch.optim import Adagrad, Adam, AdamW, Optimizer

from finetune.training.recipes import habit
from probe.models.classifier import Classifier
from tests.support.tiny_models import tiny_classifier
from tests.support.tiny_word_models import word_classifier

DA, ESIM, CHARACTERS, BERT = (
    word_classifier("da"),
    word_classifier("esim"),
    word_classifier("esim_char"),
    tiny_classifier("bert"),
)


@pytest.mark.parametrize(
    ("classifier", "kind", "batch"),
    [(DA, Adagrad, 64), (ESIM, Adam, 32), (CHARACTERS, Adam, 32), (BERT, AdamW, 32)],
)
def test_a_model_is_trained_as_it_was(
    classifier: Classifier, kind: type[Optimizer], batch: int
) -> None:
    manner = habit(classifier)
    assert type(manner.optimiser([torch.nn.Parameter(torch.zeros(2))], 0.1)) is kind
    assert manner.batch == batch


@pytest.mark.parametrize(
    ("classifier", "clipped"),
    # each value at most 5; the norm at most 10; the norm at most 1
    [(DA, [5.0, 5.0]), (ESIM, [6.0, 8.0]), (BERT, [0.6, 0.8])],
)
def test_gradients_are_clipped_as_they_were(classifier: Classifier, clipped: list[float]) -> None:
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.tensor([30.0, 40.0])
    habit(classifier).clip([weight])
    torch.testing.assert_close(weight.grad, torch.tensor(clipped), atol=1e-5, rtol=1e-5)


def test_each_optimiser_starts_without_a_memory() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    for _ in range(2):
        optim = habit(DA).optimiser([weight], 0.1)
        weight.data.fill_(1.0)
        weight.grad = torch.ones(1)
        optim.step()
        # AdaGrad's first step is the rate, whatever the gradient; a second one would be 0.7 of it
        assert weight.item() == pytest.approx(0.9)
