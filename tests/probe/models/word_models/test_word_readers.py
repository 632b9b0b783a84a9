"""BiDAF and QANet: what a passage's words answer, their layers by hand, stochastic depth."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.functional import conv1d
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from probe.analysis.importance import attribute
from probe.models.library import load_any
from probe.models.reader import Reader, SpanPrediction
from probe.models.word_models.bidaf import BidafConfig, BidafForQuestionAnswering, BiLstm
from probe.models.word_models.layers import HighwayLayer, passage_and_question
from probe.models.word_models.qanet import (
    EncoderBlock,
    QanetConfig,
    QanetForQuestionAnswering,
    SeparableConvolution,
    positions,
)
from probe.tasks.reading import Question
from tests.support.cases import each
from tests.support.files.questions import asked
from tests.support.models.tiny_word_models import READER_SIZES as SIZES
from tests.support.models.tiny_word_models import READER_WORDS as WORDS
from tests.support.models.tiny_word_models import READERS as CONFIGS
from tests.support.models.tiny_word_models import random, side, word_reader

SHORT = asked("The dog sat.", "Who sat?", (), "1")
LONG = asked(
    "A teacher stood in the school, a bakery and the park. The dog sat.", "Where, who ?", (), "2"
)
KINDS = each("kind", CONFIGS)
LOWEST = torch.finfo(torch.float32).min


def logits(reader: Reader, *questions: Question) -> torch.Tensor:
    """Return the logits of starts, then ends.  # (2 * questions, tokens)"""
    windows = [window for question in questions for window in reader.windows(question)]
    with torch.no_grad():
        return reader.logits(reader.collate(windows))


@KINDS
def test_only_words_of_the_passage_answer_whatever_stands_beside(kind: str) -> None:
    reader = word_reader(kind, trained=True)
    alone, together = logits(reader, SHORT), logits(reader, SHORT, LONG)
    length = alone.shape[1]
    assert torch.allclose(together[[0, 2], :length], alone, atol=1e-5)
    assert (together[[0, 2], length:] == LOWEST).all()
    assert torch.allclose(together[[1, 3]], logits(reader, LONG), atol=1e-5)
    (window,) = reader.windows(SHORT)
    inside = [place is not None for place in window.in_passage]
    assert (alone > LOWEST).tolist() == [inside, inside]
    texts = (("xyz", "Who"), ("xyz", "What"), ("zxy", "Who"))  # unknown words are told apart
    questions = [asked(f"The {word} sat.", f"{who} sat?", (), "1") for word, who in texts]
    first, *others = (logits(reader, question)[0, 4:7] for question in questions)
    assert all((first - other).abs().max() > 1e-5 for other in others)


@KINDS
def test_a_passage_is_encoded_alike_whatever_the_question_is(kind: str) -> None:
    reader, encoded = word_reader(kind, trained=True), []
    model = reader.model
    for question in ("Who sat?", "What stood in the park, the shop?"):
        (window,) = reader.windows(asked(LONG.passage, question, (), "1"))
        inputs = reader.collate([window])
        with torch.no_grad():
            vectors = model.get_input_embeddings()(inputs["input_ids"], inputs["character_ids"])
            if kind == "qanet":
                vectors = model.get_submodule("projection")(vectors)
            passage, _ = passage_and_question(vectors, None, inputs["token_type_ids"])
            encoded.append(model.encode(passage).vectors)  # type: ignore[operator]  # its own
    assert torch.allclose(*encoded, atol=1e-5)


@KINDS
def test_every_word_has_its_importance_alone_and_in_a_batch(kind: str) -> None:
    reader = word_reader(kind, trained=True)
    for method in ("gradient_x_input", "occlusion"):
        together = attribute(reader, [SHORT, LONG], ["dog", "The dog"], method)
        (alone,) = attribute(reader, [SHORT], ["dog"], method)
        for field in ("question", "passage"):
            scores = [token.score for token in together[0].tokens(field)]
            assert scores == pytest.approx([it.score for it in alone.tokens(field)], abs=1e-4)
            assert all(abs(it.score) > 0 for one in together for it in one.tokens(field))  # no NaN
    (found,) = attribute(reader, [SHORT], ["dog"], "integrated_gradients", steps=300)
    assert found.delta == pytest.approx(0.0, abs=0.02)


@KINDS
def test_a_saved_reader_answers_the_same_and_a_long_passage_in_windows(
    kind: str, tmp_path: Path
) -> None:
    reader = word_reader(kind, trained=True)
    reader.model.save_pretrained(tmp_path)
    reader.tokenizer.save_pretrained(tmp_path)
    loaded = load_any(str(tmp_path))
    assert torch.allclose(logits(loaded, SHORT, LONG), logits(reader, SHORT, LONG), atol=1e-6)
    passage = " ".join(f"{WORDS[3 + n % 16]} {n}" for n in range(400))
    answer = reader.predict([asked(passage, "Who sat?", (), "1")])[0]
    assert isinstance(answer, SpanPrediction) and answer.windows > 1
    assert passage[answer.start : answer.end] == answer.label != ""


@KINDS
def test_a_new_reader_carries_by_its_highways_and_takes_every_word_for_an_end_alike(
    kind: str,
) -> None:
    reader = word_reader(kind)
    gates = [it.bias.chunk(2) for it in reader.model.modules() if isinstance(it, HighwayLayer)]
    assert [(gate.abs().max(), opened.min()) for gate, opened in gates] == [(0.0, 1.0)] * 2
    assert reader.model.get_parameter("embeddings.characters.bytes.weight")[0].abs().sum() == 0
    (window,) = reader.windows(LONG)
    inside = torch.tensor([place is not None for place in window.in_passage])
    shares = logits(reader, LONG)[:, inside].softmax(1)
    assert kind == "bidaf" or shares.std(1).max() < 0.1 / int(inside.sum())
    if kind == "bidaf":
        bias = reader.model.get_parameter("phrase.backwards.bias_hh_l0")
        assert bias.view(4, -1).mean(1).tolist() == [0, 1, 0, 0]  # input, forget, cell, output


def test_the_weights_are_as_many_as_the_papers_have() -> None:
    bidaf = BidafForQuestionAnswering(BidafConfig(vocab_size=4, word_size=100))
    qanet = QanetForQuestionAnswering(QanetConfig(vocab_size=4))
    assert qanet.encoder.position_scale == 1.0  # as in the paper
    assert bidaf.num_parameters() == 2_582_095 + 4 * 100
    assert qanet.num_parameters() == 1_407_307 + 4 * 300
    corrected = BidafForQuestionAnswering(BidafConfig(vectors="words", correction=2))
    names = [name for name, _ in corrected.named_parameters() if "words" in name]
    assert names == ["embeddings.words.left", "embeddings.words.right"]


def test_a_text_is_read_both_ways_as_a_packed_one_is() -> None:
    ours, words = BiLstm(5, 3), side(random(3, 6, 5), 6, 2, 4)
    packed_lstm = nn.LSTM(5, 3, batch_first=True, bidirectional=True)
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        getattr(packed_lstm, name).data.copy_(getattr(ours.forwards, name))
        getattr(packed_lstm, f"{name}_reverse").data.copy_(getattr(ours.backwards, name))
    with torch.no_grad():
        packed = pack_padded_sequence(words.vectors, words.lengths, True, enforce_sorted=False)
        expected, _ = pad_packed_sequence(packed_lstm(packed)[0], batch_first=True)
        assert torch.allclose(ours(words.vectors, words.mask), expected, atol=1e-6)


@each("kind, size", [("bidaf", 16), ("qanet", 8)])
def test_attention_goes_to_the_question_and_back(kind: str, size: int) -> None:
    bidaf, qanet = BidafConfig(**SIZES), QanetConfig(**SIZES, blocks=1, heads=2)
    model = (
        BidafForQuestionAnswering(bidaf) if kind == "bidaf" else QanetForQuestionAnswering(qanet)
    )
    passage, question = side(random(2, 4, size), 4, 3), side(random(2, 3, size).flip(1), 2, 3)
    with torch.no_grad():
        model.similarity.weight.copy_(random(3, size))
        merged = model.eval().merge(passage, question)
        scores = model.similarity(passage.vectors, question.vectors)
    for row, (m, n) in enumerate([(4, 2), (3, 3)]):
        table, words, others = scores[row, :m, :n].exp(), passage.vectors[row, :m], question.vectors
        to_question = table / table.sum(1, keepdim=True)
        aligned, closest = to_question @ others[row, :n], table.max(1).values
        returned = to_question @ (table / table.sum(0)).T @ words  # attention over attention
        summary = (closest / closest.sum()) @ words if kind == "bidaf" else returned
        expected = torch.cat([words, aligned, words * aligned, words * summary], 1)
        assert torch.allclose(merged[row, :m], expected, atol=1e-5)


def test_the_end_knows_where_the_answer_probably_begins() -> None:
    """The start's layer reaches the logits of the end through the probability of each start."""
    model = BidafForQuestionAnswering(BidafConfig(**SIZES)).eval()
    _, end = model.answer(side(random(1, 4, 16), 4), side(random(1, 3, 16).flip(1), 3))
    (gradient,) = torch.autograd.grad(end.sum(), model.start.weight)
    assert gradient.abs().sum() > 0


def test_a_convolution_sees_zeros_behind_a_text() -> None:
    convolution, text = SeparableConvolution(4, 3), side(random(2, 4, 4), 4, 3)
    alone, kernel = text.vectors[1:, :3].transpose(1, 2), convolution.depthwise.weight.squeeze(-1)
    with torch.no_grad():
        found = convolution(text.vectors, text.mask)[1, :3]
        convolved = conv1d(alone, kernel, convolution.depthwise.bias, padding=1, groups=4)
        mixed = convolved[0].T @ convolution.pointwise.weight.T + convolution.pointwise.bias
    assert torch.allclose(found, mixed.relu(), atol=1e-6)


def test_sub_layers_are_passed_by_in_training_and_count_by_their_chance_later() -> None:
    used, text = [0] * 4, side(random(1, 3, 8), 3)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        chance = {"dropout": 0.0, "layer_dropout": 0.8}
        config = QanetConfig(**SIZES, heads=2, position_scale=0.5, **chance)
        block = EncoderBlock(config, 2, 3).train()
        for number, layer in enumerate(block.layers):
            layer.register_forward_hook(
                lambda *_, number=number: used.__setitem__(number, used[number] + 1)
            )
        for _ in range(500):
            block(text.vectors, text.mask)
        assert used == pytest.approx([400, 300, 200, 100], abs=40)
        assert positions(3, 4)[0].tolist() == [0.0, 0.0, 1.0, 1.0]  # sines, then cosines
        angles = [math.sin(2), math.sin(2e-4), math.cos(2), math.cos(2e-4)]
        assert positions(3, 4)[2].tolist() == pytest.approx(angles)
        expected = text.vectors + 0.5 * positions(3, 8)
        chances = (0.8, 0.6, 0.4, 0.2)
        for norm, layer, chance in zip(block.norms, block.layers, chances, strict=True):
            expected = expected + chance * layer(norm(expected), text.mask)
        assert torch.allclose(block.eval()(text.vectors, text.mask), expected, atol=1e-6)


def test_the_same_blocks_are_applied_three_times() -> None:
    model = QanetForQuestionAnswering(CONFIGS["qanet"]).eval()  # type: ignore[arg-type]
    merged = side(random(1, 3, 32), 3)
    with torch.no_grad():
        passes, vectors = model.model(merged.vectors, merged.mask), model.merged(merged.vectors)
        for found in passes:
            for block in model.blocks:
                vectors = block(vectors, merged.mask)
            assert torch.equal(found, vectors)
    assert len(passes) == 3
