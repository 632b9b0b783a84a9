"""What word models share, by hand: sides, alignment, characters, highways, dropout, vectors."""

import pytest
import torch
from torch.nn.functional import linear

from probe.models.word_models.layers import (
    ByteDropout,
    CharacterConvolution,
    HighwayLayer,
    Similarity,
    WordConfig,
    WordVectors,
    align,
    distinct,
    marked,
    passage_and_question,
    passage_logits,
    stack_sides,
)
from tests.support.models.tiny_word_models import random

TYPES = torch.tensor([[0, 0, 1, 1, 1, 0], [0, 1, 1, 0, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 0, 0]])
LOWEST = torch.finfo(torch.float32).min


def test_a_share_of_elements_is_zeroed_in_training_every_byte_alike_and_the_mean_stays() -> None:
    values = torch.ones(10_000, 8, requires_grad=True)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = ByteDropout(0.25).train()(values)
    assert dropped.detach().unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert (dropped == 0).float().mean(0).tolist() == pytest.approx([0.25] * 8, abs=0.02)
    (gradient,) = torch.autograd.grad(dropped.sum(), values)
    assert torch.equal(gradient, dropped)
    for layer in (ByteDropout(0.5).eval(), ByteDropout(0.0).train()):
        assert layer(dropped) is dropped


def test_alignment_is_the_softmax_weighted_sum_over_the_words_of_each_row() -> None:
    queries, keys, values = random(2, 3, 4), random(2, 5, 4) / 2, random(2, 5, 2)
    lengths = torch.tensor([5, 2])
    aligned = align(queries, keys, values, torch.arange(5) < lengths[:, None])
    for row, length in enumerate(lengths.tolist()):
        scores = torch.tensor([[float(q @ k) for k in keys[row, :length]] for q in queries[row]])
        weights = scores.exp() / scores.exp().sum(1, keepdim=True)
        assert torch.allclose(aligned[row], weights @ values[row, :length], atol=1e-5)


def test_sequences_come_apart_into_sides_wherever_padding_stands() -> None:
    vectors = torch.arange(12.0).view(2, 6, 1)
    words = [[0, 1], [6], [2, 3, 4], [7, 8]]
    stacked = stack_sides(vectors, MASK, TYPES)
    rows = [v[m].flatten().tolist() for v, m in zip(stacked.vectors, stacked.mask, strict=True)]
    assert (rows, stacked.lengths.tolist()) == (words, [2, 1, 3, 2])
    passage, question = passage_and_question(vectors, MASK, TYPES)
    assert passage.vectors[passage.mask].flatten().tolist() == [2, 3, 4, 7, 8]
    assert question.vectors[question.mask].flatten().tolist() == [0, 1, 6]
    left = [each.roll(1, 1) for each in (vectors, MASK, TYPES)]
    moved = stack_sides(*left)
    assert torch.equal(moved.vectors[moved.mask], stacked.vectors[stacked.mask])
    for types, sentence in ((None, "there are none"), (0 * TYPES, "one of them is empty")):
        for split in (passage_and_question, stack_sides):
            with pytest.raises(ValueError, match=sentence):
                split(vectors, None, types)


def test_logits_stand_at_the_words_of_the_passage_and_nowhere_else() -> None:
    passage, _ = passage_and_question(random(2, 6, 1), MASK, TYPES)
    at_words = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])  # 3, 5 at [NULL], 6 at padding
    assert passage_logits(at_words, passage, 6).tolist() == [
        [LOWEST, LOWEST, 1.0, 2.0, LOWEST, LOWEST],
        [LOWEST, 4.0, *[LOWEST] * 4],
    ]


def test_similarity_is_that_of_the_joined_vector() -> None:
    similarity, passage, question = Similarity(4), random(1, 5, 4), random(1, 3, 4)
    with torch.no_grad():
        similarity.weight.copy_(random(3, 4))
        similarity.bias.fill_(0.5)
        found = similarity(passage, question)[0]
    weight = similarity.weight.detach().flatten()
    joined = [[torch.cat([p, q, p * q]) @ weight for q in question[0]] for p in passage[0]]
    assert torch.allclose(found, torch.tensor(joined) + 0.5, atol=1e-5)


def test_characters_are_the_maximum_over_a_words_convolutions() -> None:
    characters = CharacterConvolution(4, 3, 2, 0.0)
    ids = torch.tensor([[[5, 6, 0], [0, 0, 0], [7, 8, 9]]])
    with torch.no_grad():
        found, alone = characters(ids)[0], characters(ids[:, :1, :2])[0]
        vectors = characters.bytes(torch.tensor([259, 5, 6, 260, 0]))  # (5, 4)
        windows = torch.stack([vectors[at : at + 2].T.flatten() for at in range(4)])
        kernel, bias = characters.convolution.weight, characters.convolution.bias
        expected = linear(windows, kernel.flatten(1), bias).relu().amax(0)
    for words in (found, alone):
        assert torch.allclose(words[0], expected, atol=1e-6)
    assert found[1].tolist() == [0.0] * 3
    assert marked(torch.tensor([[5, 6, 0], [7, 8, 9], [0, 0, 0]])).tolist() == [
        [259, 5, 6, 260, 0], [259, 7, 8, 9, 260], [0, 0, 0, 0, 0],
    ]  # fmt: skip
    long = [1] * 8
    ids = torch.tensor([[*long, 2, 3], [*long, 2, 4], [0] * 10, [*long, 2, 3], [*long, 3, 2]])
    once, at = distinct(ids)
    assert torch.equal(once[at], ids) and len(once) == 4


def test_an_open_gate_carries_and_a_closed_one_transforms() -> None:
    layer, words = HighwayLayer(2, 4), torch.tensor([[1.0, -2.0]])
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor([3.0, -4.0, 50.0, -50.0]))
        assert layer(words)[0].tolist() == pytest.approx([1.0, 0.0], abs=1e-6)  # relu(-4)


def test_a_correction_is_added_to_the_table_and_unit_vectors_have_length_one() -> None:
    words = WordVectors(WordConfig(vocab_size=4, word_size=3, correction=1))
    assert words.left is not None and words.right is not None
    words.table.data.fill_(1.0)
    words.left.data.copy_(torch.tensor([[0.0], [2.0], [0.0], [0.0]]))
    words.right.data.copy_(torch.tensor([[10.0, 0.0, 1.0]]))
    assert words(torch.tensor([[0, 1]])).tolist() == [[[1, 1, 1], [21, 1, 3]]]
    unit = WordVectors(WordConfig(vocab_size=2, word_size=2), unit=True)
    unit.table.data.copy_(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    assert unit(torch.tensor([[0, 1]])).tolist()[0] == [pytest.approx([0.6, 0.8]), [0, 0]]
