"""Fast mode: two parts of a model that together are the model."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from transformers import BatchEncoding

from finetune.training.encoded import Encoded, encode
from finetune.training.frozen_layers import (
    cut_of,
    lower_states,
    prepare,
    trained_layers,
    upper_part,
)
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Cell, Plan
from finetune.trials.inoculation_trial import run_cell
from probe.errors import ExperimentError
from probe.models.architectures import architecture
from probe.models.classifier import Classifier
from probe.stopping import Cancelled
from probe.tasks.nli import Pair
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import RELATIVES, tiny_classifier
from tests.support.models.tiny_word_models import word_classifier

WORD_MODELS = ("da", "esim", "esim_char")
ENCODERS = ("bert", "roberta", "distilbert", "electra", "deberta", "deberta-v2")
CUTTABLE = (*ENCODERS, *RELATIVES, *WORD_MODELS)
WITH_SDPA = [kind for kind in (*ENCODERS, *RELATIVES) if not kind.startswith("deberta")]
PAIRS = (
    *tiny_pairs(9),
    Pair("a man", "the dog is not sleeping here , there .", "neutral", "long"),
    Pair("The woman is sleeping there.", "A man", "non-entailment", "odd"),
)
PLAN = Plan("tiny", "any", (12,), (1e-2,), (0,), "fast", batch=4, max_epochs=2, precision="fp32")


def tiny(kind: str) -> Classifier:
    """Return a tiny classifier of any kind."""
    return word_classifier(kind) if kind in WORD_MODELS else tiny_classifier(kind)


def whole(classifier: Classifier) -> Encoded:
    """Return the pairs as the whole model takes them."""
    return encode(classifier, PAIRS, 64, classifier.device)


def logits(classifier: Classifier, data: Encoded) -> torch.Tensor:
    """Return the logits of all pairs in one batch."""
    with torch.no_grad():
        return classifier.logits(data.batch(range(len(PAIRS)))[0])


@pytest.mark.parametrize("kind", CUTTABLE)
def test_both_parts_together_say_what_the_whole_says(kind: str) -> None:
    classifier = tiny(kind)
    with torch.no_grad():
        expected = classifier.logits(classifier.encode(PAIRS))
    states = lower_states(classifier, whole(classifier), "fp32")
    torch.testing.assert_close(
        logits(upper_part(classifier), states), expected, atol=1e-5, rtol=1e-5
    )


def test_a_convolution_behind_the_first_layer_is_not_done_twice() -> None:
    classifier = tiny("deberta-v2")
    config = deepcopy(classifier.model.config)
    config.conv_kernel_size, config.conv_act = 3, "tanh"  # as DeBERTa v2 xlarge has
    with torch.random.fork_rng():
        torch.manual_seed(0)
        convolved = replace(classifier, model=type(classifier.model)(config).eval())
    with torch.no_grad():
        expected = convolved.logits(convolved.encode(PAIRS))
    states = lower_states(convolved, whole(convolved), "fp32")
    torch.testing.assert_close(
        logits(upper_part(convolved), states), expected, atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("kind", CUTTABLE)
def test_a_trained_upper_part_is_in_the_whole_model(kind: str) -> None:
    classifier = tiny(kind)
    pairs = tiny_pairs(24)
    sets = Sets(pairs[:12], pairs[12:], pairs, pairs[12:])
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    states = lower_states(classifier, whole(classifier), "fp32")
    list(run_cell(PLAN, sets, Cell(12, 1e-2, 0), classifier))
    after = classifier.model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    shared = {weight.data_ptr() for weight in upper_part(classifier).model.parameters()}
    assert changed
    assert changed <= {name for name, value in after.items() if value.data_ptr() in shared}
    # the states from before still belong to the model
    with torch.no_grad():
        expected = classifier.logits(classifier.encode(PAIRS))
    torch.testing.assert_close(
        logits(upper_part(classifier), states), expected, atol=1e-5, rtol=1e-5
    )


def gradients(classifier: Classifier, inputs: BatchEncoding) -> dict[int, torch.Tensor]:
    """Return the gradient of each weight that takes one, by its place in memory."""
    classifier.model.zero_grad()
    loss = classifier.logits(inputs).log_softmax(1)[:, 0].mean()
    loss.backward()
    weights = [it for it in classifier.model.parameters() if it.requires_grad]
    return {it.data_ptr(): it.grad.clone() for it in weights if it.grad is not None}


@pytest.mark.parametrize(
    ("kind", "attention"),
    [(kind, "eager") for kind in CUTTABLE] + [(kind, "sdpa") for kind in WITH_SDPA],
)
def test_every_upper_weight_gets_the_gradient_that_the_whole_gives_it(
    kind: str, attention: str
) -> None:
    classifier = tiny(kind)
    classifier.model.set_attn_implementation(attention)
    states = lower_states(classifier, whole(classifier), "fp32")
    computed = gradients(upper_part(classifier), states.batch(range(len(PAIRS)))[0])
    expected = gradients(classifier, whole(classifier).batch(range(len(PAIRS)))[0])
    for name, weight in upper_part(classifier).model.named_parameters():
        if not weight.requires_grad:
            continue
        if name.endswith("attention.self.key.bias"):  # softmax does not see it
            torch.testing.assert_close(
                expected[weight.data_ptr()], torch.zeros_like(weight), atol=1e-7, rtol=0
            )
        else:
            here, there = computed[weight.data_ptr()], expected[weight.data_ptr()]
            torch.testing.assert_close(here, there, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize(("layers", "trained"), [(1, 1), (2, 1), (6, 1), (12, 2), (24, 4)])
def test_the_upper_sixth_is_trained(layers: int, trained: int) -> None:
    assert trained_layers(layers) == trained


@pytest.mark.parametrize("kind", ["albert", "bart", "xlnet"])
def test_a_model_without_a_cut_is_refused_in_words(kind: str) -> None:
    with pytest.raises(ExperimentError, match=f"kind is {kind}.*--mode full"):
        cut_of(tiny_classifier(kind))


def test_states_are_stored_without_padding() -> None:
    classifier = tiny("bert")
    data = whole(classifier)
    states = lower_states(classifier, data, "fp32")
    assert states.inputs["inputs_embeds"].shape == (sum(data.lengths), 32)
    assert states.inputs["inputs_embeds"].dtype == torch.float32


def test_computing_states_can_be_stopped() -> None:
    classifier = tiny("bert")
    with pytest.raises(Cancelled):
        lower_states(classifier, whole(classifier), "fp32", lambda: True)


def test_cells_of_one_model_share_its_states() -> None:
    classifier = tiny("bert")
    one, other = prepare(classifier, "fast", "fp32"), prepare(tiny("bert"), "fast", "fp32")
    states = one.encoded(PAIRS, 64).inputs["inputs_embeds"]
    assert one.frozen_key == other.frozen_key
    assert other.encoded(PAIRS, 64).inputs["inputs_embeds"] is states


def test_another_models_states_are_not_taken_for_its_own() -> None:
    one = prepare(tiny("bert"), "fast", "fp32")
    other = prepare(tiny_classifier("bert", seed=1), "fast", "fp32")
    assert one.frozen_key != other.frozen_key


def test_what_is_trained_does_not_change_which_states_are_meant() -> None:
    classifier = tiny("bert")
    before = prepare(classifier, "fast", "fp32").frozen_key
    with torch.no_grad():
        upper_part(classifier).model.get_parameter("classifier.weight").add_(1.0)
    assert prepare(classifier, "fast", "fp32").frozen_key == before


@pytest.mark.parametrize("model_type", ["decomposable", "esim", "bert"])
def test_every_word_model_and_bert_has_a_cut(model_type: str) -> None:
    assert architecture(model_type).frozen


def test_a_fast_cell_starts_where_a_full_one_does() -> None:
    pairs = tiny_pairs(24)
    sets = Sets(pairs[:12], pairs[12:], pairs, pairs[12:])
    base = Cell(0, 0.0, 0)
    (fast,) = run_cell(PLAN, sets, base, tiny("bert"))
    (full,) = run_cell(replace(PLAN, mode="full"), sets, base, tiny("bert"))
    assert replace(fast, seconds=0.0) == replace(full, seconds=0.0)
