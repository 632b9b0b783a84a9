"""BiDAF: its weights, its LSTMs against packed ones, and its attention by hand."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from probe.models.word_models.bidaf import (
    BidafConfig,
    BidafForQuestionAnswering,
    BiLstm,
)
from probe.models.word_models.layers import Side
from tests.support.models.tiny_word_readers import SIZES


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def mask_of(*lengths: int) -> torch.Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def side(vectors: torch.Tensor, *lengths: int) -> Side:
    return Side(vectors, mask_of(*lengths), torch.zeros(0))


def bilstm(inputs: int, hidden: int) -> int:
    return 2 * 4 * (inputs * hidden + hidden * hidden + 2 * hidden)


def test_the_weights_are_those_of_the_configuration() -> None:
    model = BidafForQuestionAnswering(BidafConfig(vocab_size=4, word_size=100))
    weights = {
        name: sum(weight.numel() for weight in part.parameters())
        for name, part in model.named_children()
    }
    weights["embeddings"] -= 4 * 100  # words
    assert weights == {
        "embeddings": 262 * 16 + 100 * (5 * 16 + 1),
        "highway": 2 * (200 * 400 + 400),
        "phrase": bilstm(200, 100),
        "similarity": 601,
        "modelling": bilstm(800, 100) + bilstm(200, 100),
        "start": 1001,
        "end_encoder": bilstm(1400, 100),
        "end": 1001,
        "dropout": 0,
    }
    assert sum(weights.values()) == 2_582_095


def test_a_text_is_read_both_ways_as_a_packed_one_is() -> None:
    ours, words, mask = BiLstm(5, 3), random(3, 6, 5), mask_of(6, 2, 4)
    packed_lstm = nn.LSTM(5, 3, batch_first=True, bidirectional=True)
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        getattr(packed_lstm, name).data.copy_(getattr(ours.forwards, name))
        getattr(packed_lstm, f"{name}_reverse").data.copy_(getattr(ours.backwards, name))
    with torch.no_grad():
        packed = pack_padded_sequence(words, mask.sum(1), True, enforce_sorted=False)
        expected, _ = pad_packed_sequence(packed_lstm(packed)[0], batch_first=True)
        assert torch.allclose(ours(words, mask), expected, atol=1e-6)


def test_attention_flows_both_ways() -> None:
    model = BidafForQuestionAnswering(BidafConfig(**SIZES)).eval()
    with torch.no_grad():
        model.similarity.weight.copy_(random(3, 16))
    passage, question = side(random(2, 4, 16), 4, 3), side(random(2, 3, 16).flip(1), 2, 3)
    with torch.no_grad():
        merged = model.merge(passage, question)
        scores = model.similarity(passage.vectors, question.vectors)
    for row, (words, asked) in enumerate([(4, 2), (3, 3)]):
        table, answers = scores[row, :words, :asked], question.vectors[row, :asked]
        rows = passage.vectors[row, :words]
        exponentials = table.exp()
        aligned = (exponentials / exponentials.sum(1, keepdim=True)) @ answers
        closest = table.max(1).values.exp()
        summary = (closest / closest.sum()) @ rows
        expected = torch.cat([rows, aligned, rows * aligned, rows * summary], 1)
        assert torch.allclose(merged[row, :words], expected, atol=1e-5)


def test_the_end_knows_where_the_answer_probably_begins() -> None:
    """The start's layer reaches the logits of the end through the probability of each start."""
    model = BidafForQuestionAnswering(BidafConfig(**SIZES)).eval()
    passage, question = side(random(1, 4, 16), 4), side(random(1, 3, 16).flip(1), 3)
    _, end = model.answer(passage, question)
    (gradient,) = torch.autograd.grad(end.sum(), model.start.weight)
    assert gradient.abs().sum() > 0


def test_a_new_model_has_open_forget_gates() -> None:
    lstm = BidafForQuestionAnswering(BidafConfig(vocab_size=4, hidden_size=3)).phrase.backwards
    assert lstm.bias_hh_l0.tolist() == [0] * 3 + [1] * 3 + [0] * 6  # input, forget, cell, output


def test_only_a_correction_of_shared_vectors_is_trained() -> None:
    for rank, trained in ((0, []), (2, ["embeddings.words.left", "embeddings.words.right"])):
        config = BidafConfig(hidden_size=3, vectors="words", correction=rank)
        names = [name for name, _ in BidafForQuestionAnswering(config).named_parameters()]
        assert [name for name in names if "words" in name] == trained
