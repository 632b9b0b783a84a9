"""Decomposable Attention and ESIM: padding, importance, saving, letters, what the papers say."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from finetune.training.checkpoints import save_model
from probe.analysis.importance import METHODS, attribute
from probe.analysis.transformed import ImportanceReader
from probe.errors import ModelError
from probe.models.library import load
from probe.models.word_models.decomposable import (
    DecomposableConfig,
    DecomposableForSequenceClassification,
)
from probe.models.word_models.esim import (
    Characters,
    EsimConfig,
    EsimForSequenceClassification,
    SideEncoder,
    pool,
)
from probe.settings import ASSETS
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI, Pair
from probe.transforms import Options, apply
from tests.support.cases import each
from tests.support.models.tiny_word_models import CONFIGS, WORDS, random, side, word_classifier

KINDS = each("kind", CONFIGS)
PAIRS = [
    Pair("The man is here.", "John's dog isn't sleeping."),
    Pair("a dog", "The woman was there, the man was not here, John was sleeping there."),
    Pair("zebra", "giraffe"),  # no word is known
]


@KINDS
def test_pairs_are_answered_alike_alone_in_a_padded_batch_nearly_in_bf16_and_saved(
    kind: str, tmp_path: Path
) -> None:
    classifier = word_classifier(kind)
    batched = classifier.probabilities(PAIRS)
    alone = np.concatenate([classifier.probabilities([pair]) for pair in PAIRS])
    assert alone == pytest.approx(batched, abs=1e-6)
    assert batched.sum(1) == pytest.approx(1)  # of unknown words too
    assert abs(batched[0] - batched[1]).max() > 1e-4
    assert 0 < abs(batched - classifier.probabilities(PAIRS, "bf16")).max() < 0.05
    inputs, labels = classifier.encode(PAIRS), torch.tensor([0, 1, 2])
    result = classifier.model(**inputs, labels=labels)
    loss = cross_entropy(result.logits, labels)
    assert float(result.loss.detach()) == pytest.approx(float(loss.detach()), rel=1e-5)
    del inputs["token_type_ids"]
    with pytest.raises(ValueError, match="token_type_ids say which words are of the second text"):
        classifier.logits(inputs)
    save_model(classifier, tmp_path)
    loaded = load(str(tmp_path))
    assert type(loaded.model) is type(classifier.model) and loaded.order == classifier.order
    assert abs(loaded.probabilities(PAIRS) - batched).max() < 0.01  # fp16 on disk


@KINDS
def test_every_method_scores_every_word_as_the_gradient_by_hand(kind: str) -> None:
    classifier, outputs = word_classifier(kind), list[torch.Tensor]()
    layer = classifier.model.get_input_embeddings()
    shown = attribute(classifier, PAIRS[:1], ["neutral"], sign="gupta")[0]
    inputs = classifier.encode(PAIRS[:1])
    hook = layer.register_forward_hook(lambda *args: outputs.append(args[2]))
    loss = cross_entropy(classifier.logits(inputs), torch.tensor([1]))
    hook.remove()
    products = (torch.autograd.grad(loss, outputs[0])[0] * outputs[0]).sum(-1)[0].tolist()
    expected = [products[at] for at, text in enumerate(inputs.encodings[0].sequence_ids) if text]
    scores = [token.score for token in shown.tokens("hypothesis")]
    assert scores == pytest.approx(expected, abs=1e-6) and max(map(abs, expected)) > 1e-3
    for method in METHODS:
        several = attribute(classifier, PAIRS, ["neutral"] * 3, method)
        words = [token.token for token in several[0].tokens("hypothesis")]
        assert words == ["john", "'s", "dog", "is", "n't", "sleeping", "."]
        assert all(math.isfinite(it.score) for row in several for it in row.tokens("premise"))
    getattr(layer, "words", layer).table.requires_grad_(False)  # a frozen table can be explained
    frozen = attribute(classifier, PAIRS[:1], ["neutral"])[0].tokens("hypothesis")
    assert any(token.score != 0 for token in frozen)


def test_the_shipped_models_share_their_vectors_and_classify(tmp_path: Path) -> None:
    words = (ASSETS / "vectors" / "words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    pairs = bundled_examples(NLI, "dev")[:45]
    for kind in CONFIGS:
        classifier = load(kind)
        layer = classifier.model.get_input_embeddings()
        table = getattr(layer, "words", layer)
        assert table.shared == "words" and not table.table.requires_grad, kind
        assert "table" not in " ".join(classifier.model.state_dict()), kind
        known = classifier.tokenizer.get_vocab()
        assert sorted(known, key=known.__getitem__) == words, kind
        predictions = classifier.predict(pairs)
        right = [it.label == pair.gold for it, pair in zip(predictions, pairs, strict=True)]
        assert sum(right) > 22, kind  # a third by chance
        if kind == "da":
            save_model(classifier, tmp_path)
            assert (tmp_path / "model.safetensors").stat().st_size < 1_000_000
            assert load(str(tmp_path)).predict(pairs) == predictions
    save_model(word_classifier("da"), tmp_path)
    config = (tmp_path / "config.json").read_text().replace('"vectors": ""', '"vectors": "words"')
    (tmp_path / "config.json").write_text(config)
    size = f"'words' are 25000 x 300, the model's {len(WORDS)} x 8"
    with pytest.raises(ModelError, match=size):
        load(str(tmp_path))


def test_word_order_and_letters_matter_to_the_models_that_read_them() -> None:
    order = [
        Pair("the man is here", "john is not there"),
        Pair("is here man the", "there not john is"),
    ]
    letters = [Pair("the man is here", f"the man is {word}") for word in ("zebra", "heer")]
    for pairs, reading in ((order, {"esim", "esim_char"}), (letters, {"esim_char"})):
        differ = set()
        for kind in CONFIGS:
            first, second = word_classifier(kind).probabilities(pairs)
            differ |= {kind} if abs(first - second).max() > 1e-5 else set()
        assert differ == reading
    for kind, exact in (("esim", True), ("esim_char", False)):
        reader = ImportanceReader(word_classifier(kind), Options())
        ((result,),) = apply("drop", [Pair("A man sat.", "qqqqx wwwwy")], NLI, 0, Options(), reader)
        assert (result.changed, result.exact) == (True, exact)
        assert ("lost its letters" in result.note) != exact


def test_characters_are_needed_encoded_by_both_final_states_and_blank_at_padding() -> None:
    classifier, characters = word_classifier("esim_char"), Characters(4, 3)
    inputs = classifier.encode([Pair("the man", "a dog")])
    del inputs["character_ids"]
    with pytest.raises(ValueError, match="needs character_ids from its own tokenizer"):
        classifier.logits(inputs)
    byte_ids = torch.randint(1, 200, (1, 2, 24), generator=torch.Generator().manual_seed(0))
    vectors = classifier.model.get_input_embeddings()(torch.tensor([[0, 1]]), byte_ids)[0, :, -6:]
    assert vectors[0].tolist() == [0.0] * 6 and vectors[1].abs().sum() > 0
    ids = torch.tensor([[[5, 9, 7, 0, 0], [0, 0, 0, 0, 0]]])
    with torch.no_grad():
        encoded = characters(ids)[0]
        states, _ = characters.reader(characters.bytes(ids[:, 0, :3]))  # (1, 3, 6): the bytes alone
    expected = torch.cat([states[0, 2, :3], states[0, 0, 3:]])  # last forwards, first backwards
    assert encoded[0].tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    assert encoded[1].tolist() == [0.0] * 6


def test_esim_drops_the_same_features_of_every_word_and_pools_without_padding() -> None:
    encoder, lstm_inputs = SideEncoder(8, 3, rate=0.5), list[torch.Tensor]()
    encoder.lstm.register_forward_pre_hook(lambda module, args: lstm_inputs.append(args[0].data))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder(side(torch.ones(1, 6, 8), 6))
    assert all(torch.equal(row, lstm_inputs[0][0]) for row in lstm_inputs[0])
    assert set(lstm_inputs[0].flatten().tolist()) == {0.0, 2.0}
    states = torch.tensor([[[-1.0], [-3.0], [0.0]], [[2.0], [5.0], [-1.0]]])
    pooled = pool(states, side(states, 2, 3).mask)
    assert pooled.tolist() == [[-2.0, -1.0], [2.0, 5.0]]  # mean, maximum
    encoded = encoder.eval()(side(random(2, 5, 8), 5, 2))
    assert encoded[1, 2:].abs().sum() == 0


def test_sizes_and_first_weights_are_those_of_the_papers() -> None:
    for characters, weights in ((False, 4_331_103), (True, 4_597_823)):
        config = EsimConfig(vocab_size=4, num_labels=3, characters=characters, activation="tanh")
        model = EsimForSequenceClassification(config)
        assert model.num_parameters() == weights + 4 * 300
        assert isinstance(model.projection[1], torch.nn.Tanh)
    lstm = model.encoding.lstm
    biases = lstm.bias_hh_l0.view(4, 300).mean(1)  # input, forget, cell, output
    assert biases.tolist() == [0, 1, 0, 0] and lstm.bias_ih_l0.abs().sum() == 0
    product = lstm.weight_hh_l0.T @ lstm.weight_hh_l0
    assert torch.allclose(product, torch.eye(300), atol=1e-4)
    for layers, size in ((2, 382_003), (1, 341_803)):  # Parikh et al., table 1; AllenNLP's is one
        sizes = DecomposableConfig(vocab_size=4, num_labels=3, aggregate=layers)
        assert DecomposableForSequenceClassification(sizes).num_parameters() == size + 4 * 300
