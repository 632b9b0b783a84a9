"""Decomposable Attention, and what it shares with ESIM: alignment, padding, saving, importance."""

import math
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from finetune.training.checkpoints import save_model
from probe.analysis.importance import attribute
from probe.errors import ModelError
from probe.models.library import load
from probe.models.word_models.decomposable import (
    DecomposableConfig,
    DecomposableForSequenceClassification,
)
from probe.models.word_models.layers import WordVectors, align, join_sides, other_side, stack_sides
from probe.settings import ASSETS
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI, Pair
from tests.support.models.tiny_word_models import CONFIGS, WORDS, word_classifier

KINDS = pytest.mark.parametrize("kind", CONFIGS)
PAIRS = [
    Pair("The man is here.", "John's dog isn't sleeping."),
    Pair("a dog", "The woman was there, the man was not here, John was sleeping there."),
    Pair("zebra", "giraffe"),  # no word is known
]


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_alignment_is_the_softmax_weighted_sum_of_a_plain_loop() -> None:
    queries, keys, values = random(2, 3, 4), random(2, 5, 4) / 2, random(2, 5, 2)
    lengths = [5, 2]
    mask = torch.arange(5) < torch.tensor(lengths)[:, None]
    aligned = align(queries, keys, values, mask)
    for row, length in enumerate(lengths):
        for i in range(3):
            scores = [float(queries[row, i] @ keys[row, j]) for j in range(length)]
            total = sum(math.exp(score) for score in scores)
            for column in range(2):
                expected = sum(
                    math.exp(score) / total * float(values[row, j, column])
                    for j, score in enumerate(scores)
                )
                assert float(aligned[row, i, column]) == pytest.approx(expected, abs=1e-5)


def test_sides_are_stacked_premises_first() -> None:
    vectors = torch.arange(12.0).view(2, 6, 1)
    mask = torch.tensor([[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 0, 0]])
    types = torch.tensor([[0, 0, 0, 1, 1, 0], [0, 1, 1, 1, 0, 0]])
    sides = stack_sides(vectors, mask, types)
    rows = [v[m].flatten().tolist() for v, m in zip(sides.vectors, sides.mask, strict=True)]
    assert rows == [[0, 1, 2], [6], [3, 4], [7, 8, 9]]
    assert sides.lengths.tolist() == [3, 1, 2, 3]


def test_padding_on_the_left_changes_nothing() -> None:
    vectors, types = random(1, 3, 2), torch.tensor([[0, 1, 1]])
    plain = stack_sides(vectors, None, types)
    padded = stack_sides(
        torch.cat([random(1, 2, 2), vectors], 1),
        torch.tensor([[0, 0, 1, 1, 1]]),
        torch.tensor([[0, 1, 0, 1, 1]]),
    )
    assert torch.equal(plain.vectors[plain.mask], padded.vectors[padded.mask])


def test_the_sides_of_a_pair_are_swapped_and_joined() -> None:
    rows = torch.tensor([[1], [2], [10], [20]])
    assert other_side(rows).flatten().tolist() == [10, 20, 1, 2]
    assert join_sides(rows).tolist() == [[1, 10], [2, 20]]


@pytest.mark.parametrize("types", [[0, 0], [1, 1]])
def test_an_empty_side_is_refused(types: list[int]) -> None:
    with pytest.raises(ValueError, match="reads two texts, and one of them is empty"):
        stack_sides(random(1, 2, 3), None, torch.tensor([types]))


@KINDS
def test_without_types_no_side_is_known(kind: str) -> None:
    classifier = word_classifier(kind)
    inputs = classifier.encode(PAIRS)
    del inputs["token_type_ids"]
    with pytest.raises(ValueError, match="token_type_ids say which words are the hypothesis"):
        classifier.logits(inputs)


@KINDS
def test_a_pair_alone_and_in_a_padded_batch_is_the_same(kind: str) -> None:
    classifier = word_classifier(kind)
    batched = classifier.probabilities(PAIRS)
    for row, pair in enumerate(PAIRS):
        alone = classifier.probabilities([pair])[0]
        assert alone.tolist() == pytest.approx(batched[row].tolist(), abs=1e-6)


@KINDS
def test_answers_differ_between_pairs(kind: str) -> None:
    first, second, _ = word_classifier(kind).probabilities(PAIRS)
    assert abs(first - second).max() > 1e-4


@KINDS
def test_a_text_of_unknown_words_has_a_defined_answer(kind: str) -> None:
    probabilities = word_classifier(kind).probabilities(PAIRS[2:])[0]
    assert float(sum(probabilities)) == pytest.approx(1)


@KINDS
def test_bf16_autocast_runs(kind: str) -> None:
    classifier = word_classifier(kind)
    exact, rough = classifier.probabilities(PAIRS), classifier.probabilities(PAIRS, "bf16")
    assert abs(exact - rough).max() < 0.05


@KINDS
def test_gradient_x_input_through_captum_is_the_gradient_by_hand(kind: str) -> None:
    classifier = word_classifier(kind)
    attribution = attribute(classifier, PAIRS[:1], ["neutral"], sign="gupta")[0]
    inputs, outputs = classifier.encode(PAIRS[:1]), []
    layer = classifier.model.get_input_embeddings()
    hook = layer.register_forward_hook(lambda *args: outputs.append(args[2]))
    loss = cross_entropy(classifier.logits(inputs), torch.tensor([1]))
    hook.remove()
    products = (torch.autograd.grad(loss, outputs[0])[0] * outputs[0]).sum(-1)[0].tolist()
    sides = inputs.encodings[0].sequence_ids
    expected = [products[index] for index, side in enumerate(sides) if side == 1]
    assert [token.score for token in attribution.tokens("hypothesis")] == pytest.approx(
        expected, abs=1e-6
    )
    assert max(map(abs, expected)) > 1e-3


@KINDS
@pytest.mark.parametrize("method", ["integrated_gradients", "saliency", "occlusion"])
def test_every_method_scores_every_word(kind: str, method: str) -> None:
    attributions = attribute(word_classifier(kind), PAIRS, ["neutral"] * 3, method)  # type: ignore[arg-type]
    words = [token.token for token in attributions[0].tokens("hypothesis")]
    assert words == ["john", "'s", "dog", "is", "n't", "sleeping", "."]
    assert all(
        math.isfinite(token.score) for row in attributions for token in row.tokens("premise")
    )


@KINDS
def test_a_frozen_table_can_be_explained(kind: str) -> None:
    classifier = word_classifier(kind)
    layer = classifier.model.get_input_embeddings()
    words = getattr(layer, "words", layer)
    assert isinstance(words, WordVectors)
    words.table.requires_grad_(False)
    scores = attribute(classifier, PAIRS[:1], ["neutral"])[0].tokens("hypothesis")
    assert any(token.score != 0 for token in scores)


@KINDS
def test_a_saved_model_loads_again_through_the_auto_classes(kind: str, tmp_path: Path) -> None:
    classifier = word_classifier(kind)
    save_model(classifier, tmp_path)
    loaded = load(str(tmp_path))
    assert type(loaded.model) is type(classifier.model)
    assert loaded.order == classifier.order
    difference = loaded.probabilities(PAIRS) - classifier.probabilities(PAIRS)
    assert abs(difference).max() < 0.01  # fp16 on disk


@KINDS
def test_the_loss_is_the_mean_cross_entropy(kind: str) -> None:
    classifier = word_classifier(kind)
    inputs, labels = classifier.encode(PAIRS), torch.tensor([0, 1, 2])
    result = classifier.model(**inputs, labels=labels)
    expected = -result.logits.softmax(-1)[[0, 1, 2], [0, 1, 2]].log().mean()
    assert float(result.loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)


def test_decomposable_attention_ignores_word_order() -> None:
    classifier = word_classifier("da")
    ordered = Pair("the man is here", "john is not there")
    shuffled = Pair("is here man the", "there not john is")
    first, second = classifier.probabilities([ordered, shuffled])
    assert first.tolist() == pytest.approx(second.tolist(), abs=1e-6)


def trained_weights(aggregate: int) -> int:
    config = DecomposableConfig(vocab_size=4, aggregate=aggregate)
    model = DecomposableForSequenceClassification(config)
    return sum(w.numel() for name, w in model.named_parameters() if "table" not in name)


def test_the_papers_model_has_382_thousand_weights() -> None:
    """Parikh et al. 2016, table 1."""
    assert round(trained_weights(aggregate=2), -3) == 382_000


def test_allennlps_model_has_one_hidden_layer_less() -> None:
    assert trained_weights(aggregate=2) - trained_weights(aggregate=1) == 200 * 200 + 200


def test_a_correction_is_added_to_the_table() -> None:
    words = WordVectors(4, 3, rank=1)
    assert words.left is not None and words.right is not None
    words.table.data.fill_(1.0)
    words.left.data.copy_(torch.tensor([[0.0], [2.0], [0.0], [0.0]]))
    words.right.data.copy_(torch.tensor([[10.0, 0.0, 1.0]]))
    assert words(torch.tensor([[0, 1]])).tolist() == [[[1, 1, 1], [21, 1, 3]]]


def test_unit_vectors_have_length_one() -> None:
    words = WordVectors(2, 2, unit=True)
    words.table.data.copy_(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    assert words(torch.tensor([[0, 1]])).tolist()[0] == [pytest.approx([0.6, 0.8]), [0, 0]]


@pytest.mark.parametrize("name", ["da", "esim", "esim_char"])
def test_the_shipped_models_read_the_shared_vectors_and_classify(name: str) -> None:
    classifier = load(name)
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
