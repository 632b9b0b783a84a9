"""Fast mode: two parts of a model that together are the model; what trials share of it."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from transformers import BatchEncoding

from finetune.training import recipes
from finetune.training.frozen_layers import (
    TENSOR_CACHE,
    Encoded,
    correct,
    cut_of,
    encode,
    lower_states,
    prepare,
    trained_layers,
    upper_part,
)
from finetune.training.invalid_class import with_invalid_class
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Cell, Plan
from finetune.trials.trial import run_cell
from probe.errors import ExperimentError
from probe.models.classifier import Classifier
from probe.stopping import Cancelled
from probe.tasks.nli import LABELS, Pair
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import FAMILY, RELATIVES, tiny_classifier
from tests.support.models.tiny_word_models import CONFIGS as WORD_MODELS
from tests.support.models.tiny_word_models import word_classifier

ENCODERS = ("bert", "roberta", "distilbert", "electra", "deberta", "deberta-v2", *RELATIVES)
PAIRS = (
    *tiny_pairs(9),
    Pair("a man", "the dog is not sleeping here , there .", "neutral", "long"),
    Pair("The woman is sleeping there.", "A man", "non-entailment", "odd"),
)
TRAINED = tiny_pairs(24)
SETS = Sets(TRAINED[:12], TRAINED[12:], TRAINED, TRAINED[12:])
PLAN = Plan("tiny", "any", (12,), (1e-2,), (0,), "fast", batch=4, max_epochs=2, precision="fp32")


ROWS = range(len(PAIRS))


def tiny(kind: str) -> Classifier:
    return word_classifier(kind) if kind in WORD_MODELS else tiny_classifier(kind)


def whole(classifier: Classifier) -> Encoded:
    return encode(classifier, PAIRS, 64, classifier.device)


def assert_upper_says(classifier: Classifier, states: Encoded) -> None:
    """See that the upper part says of these states what the whole says."""
    with torch.no_grad():
        upper = upper_part(classifier).logits(states.batch(ROWS)[0])
        expected = classifier.logits(classifier.encode(PAIRS))
    torch.testing.assert_close(upper, expected, atol=1e-5, rtol=1e-5)


@each("kind", [*ENCODERS, *WORD_MODELS])
def test_both_parts_are_the_whole_before_and_after_training(kind: str) -> None:
    classifier = tiny(kind)
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    states = lower_states(classifier, whole(classifier), "fp32")
    assert_upper_says(classifier, states)
    list(run_cell(PLAN, SETS, Cell(12, 1e-2, 0), classifier))
    after = classifier.model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    shared = {weight.data_ptr() for weight in upper_part(classifier).model.parameters()}
    assert changed
    assert changed <= {name for name, value in after.items() if value.data_ptr() in shared}
    assert_upper_says(classifier, states)  # those from before still belong to the model


def test_a_convolution_behind_the_first_layer_is_not_done_twice() -> None:
    classifier = tiny("deberta-v2")
    config = deepcopy(classifier.model.config)
    config.conv_kernel_size, config.conv_act = 3, "tanh"  # as DeBERTa v2 xlarge has
    with torch.random.fork_rng():
        torch.manual_seed(0)
        convolved = replace(classifier, model=type(classifier.model)(config).eval())
    assert_upper_says(convolved, lower_states(convolved, whole(convolved), "fp32"))


def gradients(classifier: Classifier, inputs: BatchEncoding) -> dict[int, torch.Tensor]:
    """Return the gradient of each weight that takes one, by its place in memory."""
    classifier.model.zero_grad()
    classifier.logits(inputs).log_softmax(1)[:, 0].mean().backward()
    weights = [weight for weight in classifier.model.parameters() if weight.grad is not None]
    return {weight.data_ptr(): weight.grad.clone() for weight in weights if weight.grad is not None}


@each(
    "kind, attention",
    [
        *((kind, "eager") for kind in (*ENCODERS, *WORD_MODELS)),
        *((kind, "sdpa") for kind in ENCODERS if not kind.startswith("deberta")),
    ],
)
def test_every_upper_weight_gets_the_gradient_that_the_whole_gives_it(
    kind: str, attention: str
) -> None:
    classifier = tiny(kind)
    classifier.model.set_attn_implementation(attention)
    states, upper = lower_states(classifier, whole(classifier), "fp32"), upper_part(classifier)
    computed = gradients(upper, states.batch(ROWS)[0])
    expected = gradients(classifier, whole(classifier).batch(ROWS)[0])
    for name, weight in upper.model.named_parameters():
        there = expected.get(weight.data_ptr())
        if name.endswith("attention.self.key.bias"):  # softmax does not see it
            torch.testing.assert_close(there, torch.zeros_like(weight), atol=1e-7, rtol=0)
        elif weight.requires_grad:
            torch.testing.assert_close(computed[weight.data_ptr()], there, atol=1e-6, rtol=1e-4)


def test_the_upper_sixth_is_trained_where_a_model_can_be_cut() -> None:
    layers = {1: 1, 2: 1, 6: 1, 12: 2, 24: 4}
    assert {number: trained_layers(number) for number in layers} == layers
    for kind in ("albert", "bart", "xlnet"):
        with pytest.raises(ExperimentError, match=f"kind is {kind}.*--mode full"):
            cut_of(tiny_classifier(kind))


def test_trials_of_one_model_share_its_states_and_start_where_a_full_one_does() -> None:
    classifier = tiny("bert")
    one, other = prepare(classifier, "fast", "fp32"), prepare(tiny("bert"), "fast", "fp32")
    states = one.encoded(PAIRS, 64).inputs["inputs_embeds"]
    assert states.shape == (sum(one.encoded(PAIRS, 64).lengths), 32)  # without padding
    assert one.frozen_key == other.frozen_key
    assert prepare(tiny_classifier("bert", seed=1), "fast", "fp32").frozen_key != one.frozen_key
    assert other.encoded(PAIRS, 64).inputs["inputs_embeds"] is states
    with torch.no_grad():
        upper_part(classifier).model.get_parameter("classifier.weight").add_(1.0)
    assert prepare(classifier, "fast", "fp32").frozen_key == one.frozen_key
    (fast,) = run_cell(PLAN, SETS, Cell(0, 0.0, 0), tiny("bert"))
    (full,) = run_cell(replace(PLAN, mode="full"), SETS, Cell(0, 0.0, 0), tiny("bert"))
    assert replace(fast, seconds=0.0) == replace(full, seconds=0.0)


def test_tokens_and_tensors_count_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    data, missing = whole(tiny_classifier()), torch.zeros(1)
    monkeypatch.setenv("NLI_CLINIC_STATES_MB", "3")
    assert TENSOR_CACHE.limit() == 3_000_000
    monkeypatch.setattr(TENSOR_CACHE, "limit", lambda: data.size)
    TENSOR_CACHE.put("tokens", data)
    TENSOR_CACHE.put("tensor", torch.zeros(data.size + 1, dtype=torch.uint8))
    assert TENSOR_CACHE.get("tokens", lambda: missing) is data  # what is too large drops nothing
    TENSOR_CACHE.put("tensor", torch.zeros(data.size, dtype=torch.uint8))
    assert TENSOR_CACHE.get("tokens", lambda: missing) is missing


@each("kind", [*FAMILY, "da", "esim_char"])
def test_an_encoded_batch_is_what_the_tokenizer_makes(kind: str) -> None:
    classifier = tiny(kind)
    data = whole(classifier)
    (inputs, targets), (few, few_targets) = data.batch([2, 7, 0]), data.first(8).batch([2, 7, 0])
    expected = classifier.encode([PAIRS[row] for row in (2, 7, 0)])
    assert set(inputs) == set(expected)
    assert torch.equal(targets, few_targets)
    for name, value in expected.items():
        assert torch.equal(inputs[name], value.long()), name
        assert torch.equal(inputs[name], few[name]), name
    assert data.first(4).lengths == data.lengths[:4]
    assert max(encode(classifier, PAIRS, 9, classifier.device).lengths) == 9


def test_correct_counts_non_entailment_in_two_classes() -> None:
    classifier = tiny_classifier()
    pairs = [Pair("A.", "B.", gold) for gold in (*LABELS, "non-entailment", None)]
    data = encode(classifier, pairs, 64, classifier.device)
    assert correct(data, torch.eye(3)[[0] * 5]) == (True, False, False, False, False)
    assert correct(data, torch.eye(3)[[2] * 5]) == (False, False, True, True, False)


def test_the_untrained_model_is_asked_once_for_all_trials_and_a_trained_one_anew() -> None:
    one, other = tiny_classifier(seed=5), tiny_classifier(seed=5)
    passes: list[int] = []
    other.model.register_forward_hook(lambda *_: passes.append(1))
    first, second = prepare(one, "full", "fp32"), prepare(other, "full", "fp32")
    answers = first.scorer(PAIRS)(True)
    assert second.scorer(PAIRS)(True) == answers
    assert passes == []
    with torch.no_grad():
        other.model.get_parameter("classifier.bias").add_(1.0)
    second.scorer(PAIRS)(True)
    assert len(passes) == 1


def test_what_was_stopped_is_not_kept_and_another_class_has_targets_of_its_own() -> None:
    before = tiny_classifier(seed=7)
    after = replace(with_invalid_class(before), tokenizer=before.tokenizer)
    with pytest.raises(Cancelled):
        prepare(before, "fast", "fp32").encoded(PAIRS, 64, lambda: True)
    for classifier, labels in ((before, 3), (after, 4)):
        for mode in recipes.TRAINED:
            data = prepare(classifier, mode, "fp32").encoded(PAIRS, 64)
            assert data.targets.shape == (len(PAIRS), labels)
            assert len(data.lengths) == len(PAIRS)
