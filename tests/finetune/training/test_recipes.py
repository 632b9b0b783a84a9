"""How each kind of model was trained: Liu et al.'s files and our own recipe."""

import pytest
import torch
from torch.optim import Adagrad, Adam, AdamW, Optimizer

from finetune.training.loop import trainable
from finetune.training.optimisers import OPTIMISERS, adamw, clip_gradients, make_optimiser
from finetune.training.recipes import mode_words
from probe.models.architectures import ARCHITECTURES, DEFAULT
from probe.models.classifier import Classifier
from tests.support.models.tiny_models import tiny_classifier
from tests.support.models.tiny_word_models import word_classifier

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
    recipe = classifier.architecture.recipe
    assert type(make_optimiser(recipe, [torch.nn.Parameter(torch.zeros(2))], 0.1)) is kind
    assert recipe.batch == batch


def test_a_mode_is_called_by_plain_words_within_a_sentence() -> None:
    assert (mode_words("fast"), mode_words("full")) == ("quick", "as published")


def test_every_recipe_can_be_carried_out() -> None:
    for row in (DEFAULT, *ARCHITECTURES.values()):
        assert row.recipe.optimiser in OPTIMISERS
        optimiser = make_optimiser(row.recipe, [torch.nn.Parameter(torch.zeros(2))], row.recipe.lr)
        assert {group["lr"] for group in optimiser.param_groups} == {row.recipe.lr}


def test_biases_and_norms_are_not_decayed() -> None:
    decayed, kept = adamw(trainable(BERT), 1e-3, 0.01).param_groups
    assert (decayed["weight_decay"], kept["weight_decay"]) == (0.01, 0.0)
    assert {weight.ndim for weight in kept["params"]} == {1}


@pytest.mark.parametrize(
    ("classifier", "clipped"),
    # each value at most 5; the norm at most 10; the norm at most 1
    [(DA, [5.0, 5.0]), (ESIM, [6.0, 8.0]), (BERT, [0.6, 0.8])],
)
def test_gradients_are_clipped_as_they_were(classifier: Classifier, clipped: list[float]) -> None:
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.tensor([30.0, 40.0])
    clip_gradients(classifier.architecture.recipe, [weight])
    torch.testing.assert_close(weight.grad, torch.tensor(clipped), atol=1e-5, rtol=1e-5)


def test_each_optimiser_starts_without_a_memory() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    for _ in range(2):
        optimiser = make_optimiser(DA.architecture.recipe, [weight], 0.1)
        weight.data.fill_(1.0)
        weight.grad = torch.ones(1)
        optimiser.step()
        # AdaGrad's first step is the rate, whatever the gradient; a second one would be 0.7 of it
        assert weight.item() == pytest.approx(0.9)
