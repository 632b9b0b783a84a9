"""The bf16 copy that a model computes with beside its own weights."""

from dataclasses import replace

import pytest
import torch

from probe.models.classifier import Classifier
from probe.models.hardware import copy_bytes
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import MODELS, shared, tiny_classifier
from tests.support.models.tiny_word_models import word_classifier

PAIRS = tiny_pairs(5)


def logits(classifier: Classifier) -> torch.Tensor:
    inputs = classifier.encode(PAIRS)
    model = classifier.at("bf16")
    with torch.inference_mode():
        return model.unscaled_logits(inputs)


@pytest.mark.parametrize("kind", MODELS)
def test_the_copy_leaves_the_models_own_weights_as_they_are(kind: str) -> None:
    classifier = tiny_classifier(kind)
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    logits(classifier)
    after = classifier.model.state_dict()
    assert all(value.dtype == torch.float32 for value in classifier.model.parameters())
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_the_copy_is_made_once() -> None:
    classifier = tiny_classifier()
    first, second = classifier.at("bf16"), classifier.at("bf16")
    assert first.model is second.model is not classifier.model


@pytest.mark.parametrize("kind", MODELS)
def test_weights_that_a_training_changes_change_the_copy(kind: str) -> None:
    classifier, other = tiny_classifier(kind), tiny_classifier(kind)
    logits(classifier)
    with torch.no_grad():
        for model in (classifier.model, other.model):
            for weight in model.parameters():
                weight.mul_(0.5)
    assert torch.equal(logits(classifier), logits(other))


def test_weights_that_are_loaded_change_the_copy() -> None:
    classifier, other = tiny_classifier(), tiny_classifier()
    with torch.no_grad():
        for weight in other.model.parameters():
            weight.mul_(0.5)
    logits(classifier)
    classifier.model.load_state_dict(other.model.state_dict())
    assert torch.equal(logits(classifier), logits(other))


def test_the_output_layer_stays_in_fp32() -> None:
    classifier = tiny_classifier()
    weights = dict(classifier.at("bf16").model.named_parameters())
    assert weights.pop("classifier.weight").dtype == torch.float32
    assert weights.pop("classifier.bias").dtype == torch.float32
    assert {value.dtype for value in weights.values()} == {torch.bfloat16}


def test_fp32_runs_the_models_own_weights() -> None:
    classifier = tiny_classifier()
    own = {weight.data_ptr() for weight in classifier.model.parameters()}
    ready = classifier.at("fp32")
    assert {weight.data_ptr() for weight in ready.model.parameters()} == own


def test_a_word_model_keeps_its_weights_and_has_no_copy() -> None:
    classifier = word_classifier("esim")
    assert classifier.at("bf16").model is classifier.model
    assert classifier.bf16_bytes == 0


def test_another_network_with_the_same_fields_has_a_copy_of_its_own() -> None:
    classifier, other = tiny_classifier(), tiny_classifier("roberta")
    third = replace(classifier, model=other.model)
    assert classifier.at("bf16").model is not third.at("bf16").model


def test_the_copy_counts_among_the_bytes_of_a_model() -> None:
    classifier = shared()
    assert classifier.bf16_bytes == copy_bytes(classifier.model)
    assert copy_bytes(classifier.model) == 4 * classifier.model.num_parameters()
