"""Decomposable Attention, and what it shares with ESIM: alignment, padding, saving, importance."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from finetune.training.checkpoints import save_model
from probe.analysis.importance import METHODS, attribute
from probe.errors import ModelError
from probe.models.library import load
from probe.models.word_models.decomposable import (
    DecomposableConfig,
    DecomposableForSequenceClassification,
)
from probe.models.word_models.layers import WordVectors
from probe.settings import ASSETS
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI, Pair
from tests.support.cases import each
from tests.support.models.tiny_word_models import CONFIGS, WORDS, word_classifier

KINDS = each("kind", CONFIGS)
PAIRS = [
    Pair("The man is here.", "John's dog isn't sleeping."),
    Pair("a dog", "The woman was there, the man was not here, John was sleeping there."),
    Pair("zebra", "giraffe"),  # no word is known
]


@KINDS
def test_pairs_are_answered_alike_alone_in_a_padded_batch_and_nearly_in_bf16(kind: str) -> None:
    classifier = word_classifier(kind)
    batched = classifier.probabilities(PAIRS)
    alone = np.concatenate([classifier.probabilities([pair]) for pair in PAIRS])
    assert alone == pytest.approx(batched, abs=1e-6)
    assert batched.sum(1) == pytest.approx(1)  # of unknown words too
    assert abs(batched[0] - batched[1]).max() > 1e-4
    assert abs(batched - classifier.probabilities(PAIRS, "bf16")).max() < 0.05
    inputs, labels = classifier.encode(PAIRS), torch.tensor([0, 1, 2])
    result = classifier.model(**inputs, labels=labels)
    loss = cross_entropy(result.logits, labels)
    assert float(result.loss.detach()) == pytest.approx(float(loss.detach()), rel=1e-5)
    del inputs["token_type_ids"]
    with pytest.raises(ValueError, match="token_type_ids say which words are of the second text"):
        classifier.logits(inputs)


@KINDS
def test_every_method_scores_every_word_as_the_gradient_by_hand(kind: str) -> None:
    classifier = word_classifier(kind)
    layer = classifier.model.get_input_embeddings()
    shown = attribute(classifier, PAIRS[:1], ["neutral"], sign="gupta")[0]
    inputs, outputs = classifier.encode(PAIRS[:1]), []
    hook = layer.register_forward_hook(lambda *args: outputs.append(args[2]))
    loss = cross_entropy(classifier.logits(inputs), torch.tensor([1]))
    hook.remove()
    products = (torch.autograd.grad(loss, outputs[0])[0] * outputs[0]).sum(-1)[0].tolist()
    expected = [products[at] for at, side in enumerate(inputs.encodings[0].sequence_ids) if side]
    scores = [token.score for token in shown.tokens("hypothesis")]
    assert scores == pytest.approx(expected, abs=1e-6) and max(map(abs, expected)) > 1e-3
    for method in METHODS:
        several = attribute(classifier, PAIRS, ["neutral"] * 3, method)
        words = [token.token for token in several[0].tokens("hypothesis")]
        assert words == ["john", "'s", "dog", "is", "n't", "sleeping", "."]
        assert all(math.isfinite(it.score) for row in several for it in row.tokens("premise"))
    words = getattr(layer, "words", layer)
    assert isinstance(words, WordVectors)
    words.table.requires_grad_(False)  # a frozen table can be explained, too
    frozen = attribute(classifier, PAIRS[:1], ["neutral"])[0].tokens("hypothesis")
    assert any(token.score != 0 for token in frozen)


@KINDS
def test_a_saved_model_loads_again_through_the_auto_classes(kind: str, tmp_path: Path) -> None:
    classifier = word_classifier(kind)
    save_model(classifier, tmp_path)
    loaded = load(str(tmp_path))
    assert type(loaded.model) is type(classifier.model) and loaded.order == classifier.order
    difference = loaded.probabilities(PAIRS) - classifier.probabilities(PAIRS)
    assert abs(difference).max() < 0.01  # fp16 on disk


def test_decomposable_attention_ignores_word_order() -> None:
    classifier = word_classifier("da")
    ordered = Pair("the man is here", "john is not there")
    shuffled = Pair("is here man the", "there not john is")
    first, second = classifier.probabilities([ordered, shuffled])
    assert first.tolist() == pytest.approx(second.tolist(), abs=1e-6)


def test_the_papers_model_has_382_thousand_weights_and_allennlps_a_layer_less() -> None:
    """Parikh et al. 2016, table 1."""

    def weights(aggregate: int) -> int:
        config = DecomposableConfig(vocab_size=4, num_labels=3, aggregate=aggregate)
        model = DecomposableForSequenceClassification(config)
        return sum(w.numel() for name, w in model.named_parameters() if "table" not in name)

    assert round(weights(aggregate=2), -3) == 382_000
    assert weights(aggregate=2) - weights(aggregate=1) == 200 * 200 + 200


@KINDS
def test_the_shipped_models_read_the_shared_vectors_and_classify(kind: str) -> None:
    classifier = load(kind)
    layer = classifier.model.get_input_embeddings()
    words = getattr(layer, "words", layer)
    assert words.shared == "words"
    assert not words.table.requires_grad
    assert "table" not in " ".join(classifier.model.state_dict())
    pairs = bundled_examples(NLI, "dev")[:90]
    predictions = classifier.predict(pairs)
    correct = sum(
        prediction.label == pair.gold for prediction, pair in zip(predictions, pairs, strict=True)
    )
    assert correct > 45  # a third by chance


def test_a_copy_in_another_folder_still_finds_the_vectors(tmp_path: Path) -> None:
    save_model(load("da"), tmp_path)
    assert (tmp_path / "model.safetensors").stat().st_size < 1_000_000
    pair = Pair("A dog runs.", "An animal moves.")
    shipped, copied = load("da").predict([pair]), load(str(tmp_path)).predict([pair])
    assert shipped == copied


def test_vectors_of_another_size_are_refused(tmp_path: Path) -> None:
    classifier = word_classifier("da")
    save_model(classifier, tmp_path)
    config = (tmp_path / "config.json").read_text().replace('"vectors": ""', '"vectors": "words"')
    (tmp_path / "config.json").write_text(config)
    size = f"'words' are 25000 x 300, the model's {len(WORDS)} x 8"
    with pytest.raises(ModelError, match=size):
        load(str(tmp_path))


def test_the_vocabulary_lies_beside_the_vectors() -> None:
    words = (ASSETS / "vectors" / "words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    known = load("da").tokenizer.get_vocab()
    assert sorted(known, key=lambda word: known[word]) == words
