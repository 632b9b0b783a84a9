"""A last layer that computes what a classifier's head reads, and nothing else."""

import pytest
import torch

from probe.models.classifier import Classifier
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import FAMILY, MODELS, shared

PAIRS = tiny_pairs(6)


def whole_logits(classifier: Classifier) -> torch.Tensor:
    with torch.inference_mode():
        return classifier.unscaled_logits(classifier.encode(PAIRS))


@pytest.mark.parametrize("kind", FAMILY)
def test_the_logits_are_those_of_the_whole_model(kind: str) -> None:
    classifier = shared(kind)
    model = classifier.at("fp32")
    with torch.inference_mode():
        short = model.unscaled_logits(model.encode(PAIRS))
    torch.testing.assert_close(short, whole_logits(classifier), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_the_models_own_layers_stay_as_they_are(kind: str) -> None:
    classifier = shared(kind)
    before = whole_logits(classifier)
    model = classifier.at("fp32")
    with torch.inference_mode():
        model.unscaled_logits(model.encode(PAIRS))
    assert torch.equal(before, whole_logits(classifier))


def test_the_last_layer_returns_one_token() -> None:
    classifier = shared("bert")
    model = classifier.at("fp32")
    with torch.inference_mode():
        states = model.model.base_model(**model.encode(PAIRS)).last_hidden_state
    assert states.shape[1] == 1
