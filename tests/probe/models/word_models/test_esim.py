"""ESIM and its character-aware variant: encoding, pooling, initial weights, unknown words."""

import pytest
import torch

from probe.analysis.transformed import ImportanceReader
from probe.models.word_models.esim import (
    Characters,
    EsimConfig,
    EsimForSequenceClassification,
    SideEncoder,
    pool,
)
from probe.models.word_models.layers import Side
from probe.tasks.nli import NLI, Pair
from probe.transforms import Options, apply
from tests.support.cases import each
from tests.support.models.tiny_word_models import word_classifier


def sides(vectors: torch.Tensor, lengths: list[int]) -> Side:
    mask = torch.arange(vectors.shape[1]) < torch.tensor(lengths)[:, None]
    return Side(vectors, mask, mask)


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_esim_reads_the_order_of_words_and_letters_where_it_has_characters() -> None:
    ordered = Pair("the man is here", "john is not there")
    shuffled = Pair("is here man the", "there not john is")
    first, second = word_classifier("esim").probabilities([ordered, shuffled])
    assert abs(first - second).max() > 1e-4
    unknown = [Pair("the man is here", f"the man is {word}") for word in ("zebra", "heer")]
    first, second = word_classifier("esim").probabilities(unknown)
    assert first.tolist() == second.tolist()
    first, second = word_classifier("esim_char").probabilities(unknown)
    assert abs(first - second).max() > 1e-5


def test_only_a_character_aware_model_reads_the_letters_that_an_unknown_word_loses() -> None:
    pair = Pair("A man sat.", "qqqqx wwwwy")
    for kind, exact in (("esim", True), ("esim_char", False)):
        reader = ImportanceReader(word_classifier(kind), Options())
        ((result,),) = apply("drop", [pair], NLI, 0, Options(), reader)
        assert (result.changed, result.exact) == (True, exact)
        assert ("lost its letters" in result.note) != exact


def test_characters_are_needed_and_blank_at_padding() -> None:
    classifier = word_classifier("esim_char")
    inputs = classifier.encode([Pair("the man", "a dog")])
    del inputs["character_ids"]
    with pytest.raises(ValueError, match="needs character_ids from its own tokenizer"):
        classifier.logits(inputs)
    embeddings = classifier.model.get_input_embeddings()
    byte_ids = torch.randint(1, 200, (1, 2, 24), generator=torch.Generator().manual_seed(0))
    vectors = embeddings(torch.tensor([[0, 1]]), byte_ids)[0, :, -6:]
    assert vectors[0].tolist() == [0.0] * 6 and vectors[1].abs().sum() > 0


def test_characters_are_encoded_by_both_final_states() -> None:
    characters = Characters(4, 3)
    ids = torch.tensor([[[5, 9, 7, 0, 0], [0, 0, 0, 0, 0]]])
    with torch.no_grad():
        encoded = characters(ids)[0]
        states, _ = characters.reader(characters.bytes(ids[:, 0, :3]))  # (1, 3, 6): the bytes alone
    expected = torch.cat([states[0, 2, :3], states[0, 0, 3:]])  # last forwards, first backwards
    assert encoded[0].tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    assert encoded[1].tolist() == [0.0] * 6


def test_a_side_is_encoded_alike_alone_and_in_a_padded_batch() -> None:
    encoder, words = SideEncoder(4, 3, rate=0.5).eval(), random(2, 5, 4)
    with torch.no_grad():
        both = encoder(sides(words, [5, 2]))
        alone = encoder(sides(words[1:, :2], [2]))
    assert both[1, :2].flatten().tolist() == pytest.approx(alone.flatten().tolist(), abs=1e-6)
    assert both[1, 2:].abs().sum() == 0


def test_dropout_zeroes_the_same_features_of_every_word() -> None:
    encoder, lstm_inputs = SideEncoder(8, 3, rate=0.5), []
    encoder.lstm.register_forward_pre_hook(lambda module, args: lstm_inputs.append(args[0].data))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder(sides(torch.ones(1, 6, 8), [6]))
    assert lstm_inputs[0].shape == (6, 8)
    assert all(torch.equal(row, lstm_inputs[0][0]) for row in lstm_inputs[0])
    assert set(lstm_inputs[0].flatten().tolist()) == {0.0, 2.0}


def test_pooling_ignores_padding() -> None:
    states = torch.tensor([[[-1.0], [-3.0], [0.0]], [[2.0], [5.0], [-1.0]]])
    pooled = pool(states, sides(states, [2, 3]).mask)
    assert pooled.tolist() == [[-2.0, -1.0], [2.0, 5.0]]  # mean, maximum


def test_a_new_encoder_has_open_forget_gates_and_orthogonal_states() -> None:
    config = EsimConfig(vocab_size=4, word_size=5, hidden_size=3)
    lstm = EsimForSequenceClassification(config).encoding.lstm
    assert lstm.bias_hh_l0.tolist() == [0] * 3 + [1] * 3 + [0] * 6  # input, forget, cell, output
    assert lstm.bias_ih_l0.tolist() == [0] * 12
    product = lstm.weight_hh_l0.T @ lstm.weight_hh_l0
    assert torch.allclose(product, torch.eye(3), atol=1e-5)


def linear(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def bilstm(inputs: int, hidden: int) -> int:
    return 2 * 4 * (inputs * hidden + hidden * hidden + 2 * hidden)


@each("characters, extra", [(False, 0), (True, 100)])
def test_the_weights_are_those_of_the_configuration(characters: bool, extra: int) -> None:
    config = EsimConfig(
        vocab_size=4, num_labels=3, characters=characters, activation="tanh"
    )  # as in the paper
    model = EsimForSequenceClassification(config)
    parts = {name: part for name, part in model.named_children() if name != "embeddings"}
    assert {name: sum(w.numel() for w in part.parameters()) for name, part in parts.items()} == {
        "encoding": bilstm(300 + extra, 300), "projection": linear(2400, 300),
        "composition": bilstm(300, 300), "hidden": linear(2400, 300), "outputs": linear(300, 3),
    }  # fmt: skip
    assert isinstance(model.projection[1], torch.nn.Tanh)
