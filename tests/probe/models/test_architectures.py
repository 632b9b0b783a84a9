"""The BERT family: how texts are joined, importance against autograd, batches, files."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from benchmarks.architectures import KINDS as BENCHMARK
from benchmarks.architectures import examine
from probe.analysis.importance import Method, attribute
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.tasks.nli import LABELS, Pair
from tests.support.cases import each
from tests.support.models.tiny_models import FAMILY, shared, tiny_classifier

PAIRS = (
    Pair("A man walks slowly to the old park.", "The baker isn't happy!"),
    Pair("She reads her letter, and then she writes some music.", "He was here."),
    Pair("No.", "Yes, I do like tea very much."),
)
KINDS = each("kind", FAMILY)


def positions(classifier: Classifier, pair: Pair, *sides: int) -> list[int]:
    """Return the positions of the sub-words of one side after the other."""
    found = classifier.encode([pair]).sequence_ids(0)
    return [at for side in sides for at, own in enumerate(found) if own == side]


def log_probability(classifier: Classifier, pair: Pair, ids: torch.Tensor) -> torch.Tensor:
    """Return log p of our labels for other ids of the same length.  # (tokens,) -> (3,)"""
    inputs = dict(classifier.encode([pair])) | {"input_ids": ids[None]}
    return classifier.logits(inputs)[0].log_softmax(-1)


def scores(
    classifier: Classifier, pair: Pair, label: int, method: Method = "gradient_x_input"
) -> list[float]:
    (attribution,) = attribute(
        classifier, [pair], [LABELS[label]], method, baseline="mask", steps=100
    )
    return [
        token.score for token in (*attribution.tokens("premise"), *attribution.tokens("hypothesis"))
    ]


def test_models_that_several_threads_open_at_once_are_all_whole(tmp_path: Path) -> None:
    tie_weights, folders = PreTrainedModel.tie_weights, list[str]()
    for kind in ("bart", "roberta", "bert"):
        folders.append(str(tmp_path / kind))
        shared(kind).model.save_pretrained(folders[-1])
        shared(kind).tokenizer.save_pretrained(folders[-1])
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(load, folders * 5))
    assert PreTrainedModel.tie_weights is tie_weights
    for model in opened:
        assert np.isfinite(model.probabilities(PAIRS)).all()


def test_what_is_peculiar_to_one_architecture() -> None:
    mask = shared("xlnet").encode(PAIRS)["attention_mask"]  # which pads on the left
    assert mask[:, -1].tolist() == [1, 1, 1] and set(mask[:, 0].tolist()) == {0, 1}
    unbounded = tiny_classifier("xlnet")
    unbounded.tokenizer.model_max_length = 10**30
    assert unbounded.max_tokens == 512
    # a special token that a person typed does not stop BART
    typed = Pair("The </s> man walks.", "A man walks.")
    batched = shared("bart").probabilities([typed, PAIRS[0]])
    assert shared("bart").probabilities([typed])[0] == pytest.approx(batched[0], abs=1e-5)
    # (10) in one character of three bytes; Unicode's compatibility form spells it with four
    pair = Pair("a man", "\u247d" * 39)
    assert len((pair.premise + pair.hypothesis).encode()) < 128
    assert shared("albert").too_long(pair)


@each("kind", ["albert", "bart", "bloom", "canine", "deberta", "deberta-v2", "distilbert", "xlnet"])
def test_answers_and_importance_are_those_of_plain_transformers_and_autograd(kind: str) -> None:
    assert examine(kind, BENCHMARK[kind])[1]


@KINDS
def test_masking_changes_as_much_as_importance_says(kind: str) -> None:
    """All texts masked: integrated gradients add up to it; one token masked: occlusion is it."""
    classifier, pair = shared(kind), PAIRS[1]
    ids, mask = classifier.encode([pair])["input_ids"][0], classifier.tokenizer.mask_token_id

    def change(places: list[int], label: int) -> float:
        masked = ids.clone()
        masked[places] = mask
        with torch.no_grad():
            before, after = (log_probability(classifier, pair, row)[label] for row in (ids, masked))
        return float(before - after)

    places = positions(classifier, pair, 0, 1)
    importance = scores(classifier, pair, 0, "integrated_gradients")
    assert sum(importance) == pytest.approx(change(places, 0), abs=5e-3)
    by_hand = [change([place], 1) for place in places]
    assert scores(classifier, pair, 1, "occlusion") == pytest.approx(by_hand, abs=1e-5)


@KINDS
def test_importance_is_the_same_alone_and_in_a_batch_and_the_first_token_is_enough(
    kind: str,
) -> None:
    methods: list[Method] = ["gradient_x_input", "integrated_gradients"]
    for method in methods:
        batched = attribute(shared(kind), PAIRS, LABELS, method, steps=5)
        for label, pair, together in zip(LABELS, PAIRS, batched, strict=True):
            alone = attribute(shared(kind), [pair], [label], method, steps=5)[0]
            for field in ("premise", "hypothesis"):
                side, side_alone = together.tokens(field), alone.tokens(field)
                assert [token.token for token in side] == [token.token for token in side_alone]
                expected = [token.score for token in side_alone]
                assert [token.score for token in side] == pytest.approx(expected, abs=1e-5)
    classifier = shared(kind)
    inputs, short = classifier.encode(PAIRS), classifier.at("fp32")
    with torch.inference_mode():
        whole = classifier.unscaled_logits(inputs)
        torch.testing.assert_close(short.unscaled_logits(inputs), whole, atol=1e-5, rtol=1e-5)
        assert torch.equal(whole, classifier.unscaled_logits(inputs))  # whose layers stay
        if kind == "bert":
            assert short.model.base_model(**inputs).last_hidden_state.shape[1] == 1
