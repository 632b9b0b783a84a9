"""What cells share is computed once, and never taken for something else."""

from dataclasses import replace
from typing import get_args

import pytest
import torch

from finetune.training.encoded import correct, encode, predictions
from finetune.training.frozen_layers import TENSOR_CACHE, prepare
from finetune.training.invalid_class import with_invalid_class
from finetune.training.recipes import Mode
from probe.models.classifier import Classifier
from probe.stopping import Cancelled
from probe.tasks.nli import LABELS, Pair
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import FAMILY, tiny_classifier
from tests.support.models.tiny_word_models import word_classifier

PAIRS = (*tiny_pairs(7), Pair("A man.", "He is not very happy in the park today.", "neutral"))


def test_the_bound_is_a_setting_in_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_STATES_MB", "3")
    assert TENSOR_CACHE.limit() == 3_000_000


def test_tokens_and_tensors_count_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    classifier = tiny_classifier()
    data = encode(classifier, PAIRS, 64, classifier.device)
    monkeypatch.setattr(TENSOR_CACHE, "limit", lambda: data.size)
    TENSOR_CACHE.put("tokens", data)
    missing = torch.zeros(1)
    assert TENSOR_CACHE.get("tokens", lambda: missing) is data
    TENSOR_CACHE.put("tensor", torch.zeros(data.size + 1, dtype=torch.uint8))
    assert TENSOR_CACHE.get("tokens", lambda: missing) is data  # what is too large drops nothing
    TENSOR_CACHE.put("tensor", torch.zeros(data.size, dtype=torch.uint8))
    assert TENSOR_CACHE.get("tokens", lambda: missing) is missing


@pytest.mark.parametrize("kind", [*FAMILY, "da", "esim_char"])
def test_an_encoded_batch_is_what_the_tokenizer_makes(kind: str) -> None:
    classifier = tiny_classifier(kind) if kind in FAMILY else word_classifier(kind)
    rows = [2, 7, 0]
    inputs, _ = encode(classifier, PAIRS, 64, classifier.device).batch(rows)
    expected = classifier.encode([PAIRS[row] for row in rows])
    assert set(inputs) == set(expected)
    for name, value in expected.items():
        assert torch.equal(inputs[name], value.long()), name


def test_an_encoded_pair_is_cut_as_the_tokenizer_cuts_it() -> None:
    classifier = tiny_classifier()
    assert encode(classifier, PAIRS, 9, classifier.device).lengths == [9] * 8


def test_the_first_pairs_alone_are_encoded_as_among_others() -> None:
    classifier = tiny_classifier()
    data = encode(classifier, PAIRS, 64, classifier.device)
    inputs, targets = data.batch([3, 1])
    few, few_targets = data.first(4).batch([3, 1])
    assert data.first(4).lengths == data.lengths[:4]
    assert torch.equal(targets, few_targets)
    assert all(torch.equal(inputs[name], few[name]) for name in inputs)


def test_correct_counts_non_entailment_in_two_classes() -> None:
    classifier = tiny_classifier()
    pairs = [Pair("A.", "B.", gold) for gold in (*LABELS, "non-entailment", None)]
    data = encode(classifier, pairs, 64, classifier.device)
    assert correct(data, torch.tensor([0, 0, 0, 0, 0])) == (True, False, False, False, False)
    assert correct(data, torch.tensor([2, 2, 2, 2, 2])) == (False, False, True, True, False)


def test_predictions_are_those_of_the_classifier() -> None:
    classifier = tiny_classifier(order=("contradiction", "entailment", "neutral"))
    data = encode(classifier, PAIRS, 64, classifier.device)
    numbers = predictions(classifier, data).tolist()
    assert [LABELS[number] for number in numbers] == [p.label for p in classifier.predict(PAIRS)]


def counted(classifier: Classifier) -> list[int]:
    """Return a list that grows with every pass through the model."""
    passes: list[int] = []
    classifier.model.register_forward_hook(lambda *_: passes.append(1))
    return passes


def test_the_untrained_model_is_asked_once_for_all_cells() -> None:
    one, other = tiny_classifier(seed=5), tiny_classifier(seed=5)
    first = prepare(one, "full", "fp32")
    answers = first.initial_predictions(first.encoded(PAIRS, 64))
    passes = counted(other)
    second = prepare(other, "full", "fp32")
    assert torch.equal(second.initial_predictions(second.encoded(PAIRS, 64)), answers)
    assert passes == []


def test_a_trained_model_is_asked_anew() -> None:
    classifier = tiny_classifier(seed=6)
    ready = prepare(classifier, "full", "fp32")
    ready.initial_predictions(ready.encoded(PAIRS, 64))
    passes = counted(classifier)
    with torch.no_grad():
        classifier.model.get_parameter("classifier.bias").add_(1.0)
    ready.initial_predictions(ready.encoded(PAIRS, 64))
    assert len(passes) == 1


def test_what_was_stopped_is_not_kept() -> None:
    ready = prepare(tiny_classifier(seed=7), "fast", "fp32")
    with pytest.raises(Cancelled):
        ready.encoded(PAIRS, 64, lambda: True)
    assert len(ready.encoded(PAIRS, 64).lengths) == 8


def test_a_model_with_another_class_has_targets_of_its_own() -> None:
    before = tiny_classifier()
    after = replace(with_invalid_class(before), tokenizer=before.tokenizer)
    for classifier, labels in ((before, 3), (after, 4)):
        for mode in get_args(Mode):
            data = prepare(classifier, mode, "fp32").encoded(PAIRS, 64)
            assert data.admissible.shape == (len(PAIRS), labels)
