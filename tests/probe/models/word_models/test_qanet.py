"""QANet: its weights, its sub-layers by hand, and stochastic depth."""

import math

import pytest
import torch
from torch.nn.functional import conv1d

from probe.models.word_models.layers import Side
from probe.models.word_models.qanet import (
    EncoderBlock,
    QanetConfig,
    QanetForQuestionAnswering,
    SelfAttention,
    SeparableConvolution,
    positions,
)
from tests.support.models.tiny_word_readers import CONFIGS, QUESTIONS, SIZES, word_reader


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def mask_of(*lengths: int) -> torch.Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def linear(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def block(convolutions: int, width: int) -> int:
    norm, square = 2 * 128, linear(128, 128)
    separable = norm + (width + 1) * 128 + square
    return convolutions * separable + norm + linear(128, 384) + square + norm + 2 * square


def test_the_weights_are_those_of_the_configuration() -> None:
    model = QanetForQuestionAnswering(QanetConfig(vocab_size=4))
    weights = {
        name: sum(weight.numel() for weight in part.parameters())
        for name, part in model.named_children()
    }
    weights["embeddings"] -= 4 * 300  # words
    assert weights == {
        "embeddings": 262 * 64 + linear(5 * 64, 200),
        "dropout": 0,
        "projection": linear(500, 128) + 2 * linear(128, 256) + 128 * 128,
        "encoder": block(4, 7),
        "similarity": 3 * 128 + 1,
        "merged": 512 * 128,
        "blocks": 7 * block(2, 5),
        "start": 257,
        "end": 257,
    }


def test_a_convolution_sees_zeros_behind_a_text() -> None:
    layer, words = SeparableConvolution(4, 3), random(1, 5, 4)
    with torch.no_grad():
        found = layer(words, mask_of(5) & (torch.arange(5) < 3))[0, :3]
        kernel = layer.depthwise.weight.squeeze(-1)  # (4, 1, 3)
        alone = words[:, :3].transpose(1, 2)
        convolved = conv1d(alone, kernel, layer.depthwise.bias, padding=1, groups=4)
        expected = (convolved[0].T @ layer.pointwise.weight.T + layer.pointwise.bias).relu()
    assert torch.allclose(found, expected, atol=1e-6)


def test_each_head_attends_to_the_words_of_its_text() -> None:
    layer, words = SelfAttention(6, 2), random(2, 4, 6)
    with torch.no_grad():
        found = layer(words, mask_of(4, 2))
        for row, length in enumerate((4, 2)):
            queries, keys, values = layer.inputs(words[row, :length]).chunk(3, -1)
            heads = []
            for part in (slice(0, 3), slice(3, 6)):
                scores = (queries[:, part] @ keys[:, part].T / math.sqrt(3)).exp()
                heads.append(scores / scores.sum(1, keepdim=True) @ values[:, part])
            expected = layer.outputs(torch.cat(heads, 1))
            assert torch.allclose(found[row, :length], expected, atol=1e-6)


def test_positions_are_sines_then_cosines() -> None:
    table = positions(3, 4)
    assert table[0].tolist() == [0.0, 0.0, 1.0, 1.0]
    expected = [math.sin(2), math.sin(2e-4), math.cos(2), math.cos(2e-4)]
    assert table[2].tolist() == pytest.approx(expected)


def test_attention_goes_to_the_question_and_back() -> None:
    model = QanetForQuestionAnswering(QanetConfig(**SIZES, blocks=1, heads=2)).eval()
    words, asked = random(1, 4, 8), random(1, 3, 8).flip(1)
    with torch.no_grad():
        model.similarity.weight.copy_(random(3, 8))
        merged = model.merge(
            Side(words, mask_of(4) & (torch.arange(4) < 3), torch.zeros(0)),
            Side(asked, mask_of(3) & (torch.arange(3) < 2), torch.zeros(0)),
        )[0, :3]
        table = model.similarity(words, asked)[0, :3, :2].exp()
    words, asked = words[0, :3], asked[0, :2]
    to_question, to_passage = table / table.sum(1, keepdim=True), table / table.sum(0)
    aligned, returned = to_question @ asked, to_question @ to_passage.T @ words
    expected = torch.cat([words, aligned, words * aligned, words * returned], 1)
    assert torch.allclose(merged, expected, atol=1e-5)


def tiny_block(layer_dropout: float) -> EncoderBlock:
    config = QanetConfig(**SIZES, heads=2, dropout=0.0, layer_dropout=layer_dropout)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return EncoderBlock(config, 2, 3)


def test_the_last_sub_layer_is_passed_by_at_its_chance_and_earlier_ones_less_often() -> None:
    block, used = tiny_block(0.8).train(), [0] * 4
    for number, layer in enumerate(block.layers):
        layer.register_forward_hook(
            lambda *_, number=number: used.__setitem__(number, used[number] + 1)
        )
    words, mask = random(1, 3, 8), mask_of(3)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        for _ in range(1000):
            block(words, mask)
    for number, count in enumerate(used, 1):
        assert count == pytest.approx(1000 * (1 - 0.8 * number / 4), abs=60)


def test_after_training_a_sub_layer_counts_by_its_chance_to_be_used() -> None:
    block, words, mask = tiny_block(0.8).eval(), random(1, 3, 8), mask_of(3)
    with torch.no_grad():
        expected = words + positions(3, 8)
        for norm, layer, chance in zip(
            block.norms, block.layers, (0.8, 0.6, 0.4, 0.2), strict=True
        ):
            expected = expected + chance * layer(norm(expected), mask)
        assert torch.allclose(block(words, mask), expected, atol=1e-6)


def test_the_same_blocks_are_applied_three_times() -> None:
    model = QanetForQuestionAnswering(CONFIGS["qanet"]).eval()  # type: ignore[arg-type]
    merged, mask = random(1, 3, 32), mask_of(3)
    with torch.no_grad():
        passes = model.model(merged, mask)
        vectors = model.merged(merged)
        for found in passes:
            for block in model.blocks:
                vectors = block(vectors, mask)
            assert torch.equal(found, vectors)
    assert len(passes) == 3


def test_a_new_model_takes_every_word_for_an_end_alike() -> None:
    reader = word_reader("qanet")
    (window,) = reader.windows(QUESTIONS[0])
    with torch.no_grad():
        logits = reader.logits(reader.collate([window]))
    inside = torch.tensor([place is not None for place in window.places])
    assert logits[:, inside].softmax(1).std(1).max() < 0.1 / int(inside.sum())
