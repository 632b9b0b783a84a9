"""What word models share: sides, alignment, characters, highways, dropout, and both readers'."""

import math
from pathlib import Path

import pytest
import torch
from torch.nn.functional import linear

from probe.analysis.importance import METHODS, attribute
from probe.models.library import load_reader
from probe.models.reader import Reader
from probe.models.word_models.layers import (
    ByteDropout,
    CharacterConvolution,
    HighwayLayer,
    Similarity,
    WordConfig,
    WordVectors,
    align,
    distinct,
    join_sides,
    marked,
    other_side,
    passage_and_question,
    passage_logits,
    stack_sides,
    take_rows,
)
from probe.tasks.reading import Question
from tests.support.cases import each
from tests.support.files.questions import asked as asked_question
from tests.support.models.tiny_word_readers import CONFIGS, WORDS, word_reader

SHORT = asked_question("The dog sat.", "Who sat?", (), "1")
LONG = asked_question(
    "A teacher stood in the school, a bakery and the park. The dog sat.", "Where, who ?", (), "2"
)
KINDS = each("kind", CONFIGS)
LOWEST = torch.finfo(torch.float32).min


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def logits(reader: Reader, *questions: Question) -> torch.Tensor:
    """Return the logits of starts, then ends.  # (2 * questions, tokens)"""
    windows = [window for question in questions for window in reader.windows(question)]
    with torch.no_grad():
        return reader.logits(reader.collate(windows))


def test_a_share_is_zeroed_and_the_mean_stays() -> None:
    values = torch.ones(100, 1001, requires_grad=True)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = ByteDropout(0.25).train()(values)
    assert dropped.detach().unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert (dropped == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    assert (dropped[:, 0] == 0).float().mean().item() == pytest.approx(0.25, abs=0.2)
    (gradient,) = torch.autograd.grad(dropped.sum(), values)
    assert torch.equal(gradient, dropped)


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


def test_a_sequence_comes_apart_into_passage_and_question() -> None:
    vectors = torch.arange(10.0).view(2, 5, 1)
    types = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    passage, question = passage_and_question(vectors, mask, types)
    assert passage.vectors[..., 0].tolist()[0] == [2, 3, 4]
    assert passage.vectors[1, :2, 0].tolist() == [6, 7]
    assert passage.mask.tolist() == [[True] * 3, [True, True, False]]
    assert question.vectors[0, :, 0].tolist() == [0, 1]
    assert question.mask.tolist() == [[True, True], [True, False]]


def test_logits_stand_at_the_words_of_the_passage_and_nowhere_else() -> None:
    types = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    passage, _ = passage_and_question(random(2, 5, 1), mask, types)
    lowest = torch.finfo(torch.float32).min
    at_words = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])  # 3, 5 at [NULL], 6 at padding
    assert passage_logits(at_words, passage, 5).tolist() == [
        [lowest, lowest, 1.0, 2.0, lowest],
        [lowest, 4.0, lowest, lowest, lowest],
    ]


def test_similarity_is_that_of_the_joined_vector() -> None:
    similarity, passage, question = Similarity(4), random(2, 5, 4), random(2, 3, 4)
    with torch.no_grad():
        similarity.weight.copy_(random(3, 4))
        similarity.bias.fill_(0.5)
        found = similarity(passage, question)
    for row, p, q in torch.ones(2, 5, 3).nonzero().tolist():
        one, other = passage[row, p], question[row, q]
        joined = torch.cat([one, other, one * other])
        expected = joined @ similarity.weight.detach().flatten() + 0.5
        assert float(found[row, p, q]) == pytest.approx(float(expected), abs=1e-5)


def test_characters_are_the_maximum_over_a_words_convolutions() -> None:
    characters = CharacterConvolution(4, 3, 2, 0.0)
    ids = torch.tensor([[[5, 6, 0], [0, 0, 0], [7, 8, 9]]])
    with torch.no_grad():
        found = characters(ids)[0]
        kernel, bias = characters.convolution.weight, characters.convolution.bias
        vectors = characters.bytes(torch.tensor([259, 5, 6, 260, 0]))  # (5, 4)
        windows = torch.stack([vectors[at : at + 2].T.flatten() for at in range(4)])
        expected = linear(windows, kernel.flatten(1), bias).relu().amax(0)
        alone = characters(ids[:, :1, :2])[0]
    assert torch.allclose(found[0], expected, atol=1e-6)
    assert torch.allclose(found[0], alone[0], atol=1e-6)
    assert found[1].tolist() == [0.0] * 3


def test_an_open_gate_carries_and_a_closed_one_transforms() -> None:
    layer, words = HighwayLayer(2, 4), torch.tensor([[1.0, -2.0]])
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor([3.0, -4.0, 50.0, -50.0]))
        carried, transformed = layer(words)[0].tolist()
    assert carried == pytest.approx(1.0)
    assert transformed == pytest.approx(0.0, abs=1e-6)  # relu(-4)


def test_a_sequence_needs_two_sides() -> None:
    for types, sentence in ((None, "there are none"), (torch.zeros(1, 3), "one of them is empty")):
        with pytest.raises(ValueError, match=sentence):
            passage_and_question(random(1, 3, 2), None, types)
        with pytest.raises(ValueError, match=sentence):
            stack_sides(random(1, 3, 2), None, types)


def test_rows_of_sides_and_words_by_hand() -> None:
    rows = torch.tensor([[1], [2], [10], [20]])
    assert other_side(rows).flatten().tolist() == [10, 20, 1, 2]
    assert join_sides(rows).tolist() == [[1, 10], [2, 20]]
    vectors, places = random(3, 4, 2), torch.tensor([[3, 0], [1, 1], [2, 3]])
    expected = torch.stack([vectors[row, places[row]] for row in range(3)])
    assert torch.equal(take_rows(vectors, places), expected)
    long = [1] * 8
    words = torch.tensor([[*long, 2, 3], [*long, 2, 4], [0] * 10, [*long, 2, 3], [*long, 3, 2]])
    once, at = distinct(words)
    assert torch.equal(once[at], words)
    assert sorted(once.tolist()) == sorted([words[row].tolist() for row in (0, 1, 2, 4)])
    assert marked(torch.tensor([[5, 6, 0], [7, 8, 9], [0, 0, 0]])).tolist() == [
        [259, 5, 6, 260, 0], [259, 7, 8, 9, 260], [0, 0, 0, 0, 0],
    ]  # fmt: skip


def test_every_byte_of_a_draw_has_the_same_chance_and_outside_training_nothing_changes() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = ByteDropout(0.5).train()(torch.ones(10_000, 8))
    assert (dropped == 0).float().mean(0).tolist() == pytest.approx([0.5] * 8, abs=0.02)
    for layer in (ByteDropout(0.5).eval(), ByteDropout(0.0).train()):
        assert layer(dropped) is dropped


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


@KINDS
def test_only_words_of_the_passage_answer_whatever_stands_beside(kind: str) -> None:
    reader = word_reader(kind, trained=True)
    alone, together = logits(reader, SHORT), logits(reader, SHORT, LONG)
    length = alone.shape[1]
    assert torch.allclose(together[[0, 2], :length], alone, atol=1e-5)
    assert (together[[0, 2], length:] == LOWEST).all()
    assert torch.allclose(together[[1, 3]], logits(reader, LONG), atol=1e-5)
    (window,) = reader.windows(SHORT)
    inside = [place is not None for place in window.places]
    assert (alone > LOWEST).tolist() == [inside, inside]


@KINDS
def test_a_passage_is_encoded_alike_whatever_the_question_is(kind: str) -> None:
    reader, encoded = word_reader(kind, trained=True), []
    model = reader.model
    for asked in ("Who sat?", "What stood in the park, the shop?"):
        (window,) = reader.windows(asked_question(LONG.passage, asked, (), "1"))
        inputs = reader.collate([window])
        with torch.no_grad():
            vectors = model.get_input_embeddings()(inputs["input_ids"], inputs["character_ids"])
            if kind == "qanet":
                vectors = model.get_submodule("projection")(vectors)
            passage, _ = passage_and_question(vectors, None, inputs["token_type_ids"])
            encoded.append(model.encode(passage).vectors)  # type: ignore[operator]  # its own method
    assert torch.allclose(*encoded, atol=1e-5)


@KINDS
def test_the_question_and_unknown_words_of_the_passage_matter(kind: str) -> None:
    reader = word_reader(kind, trained=True)
    one, other = (asked_question("The xyz sat.", each) for each in ("Who sat?", "What sat?"))
    third = asked_question("The zxy sat.", "Who sat?", (), "1")
    first, *others = (logits(reader, each)[0, 4:7] for each in (one, other, third))
    assert all((first - each).abs().max() > 1e-5 for each in others)


@KINDS
def test_every_word_has_its_importance_alone_and_in_a_batch(kind: str) -> None:
    reader = word_reader(kind, trained=True)
    for method in METHODS:
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
    loaded = load_reader(str(tmp_path))
    assert torch.allclose(logits(loaded, SHORT, LONG), logits(reader, SHORT, LONG), atol=1e-6)
    passage = " ".join(f"{WORDS[3 + n % 16]} {n}" for n in range(400))
    answer = reader.predict([asked_question(passage, "Who sat?", (), "1")])[0]
    assert answer.windows > 1  # type: ignore[attr-defined]  # of spans
    assert passage[answer.start : answer.end] == answer.label != ""  # type: ignore[attr-defined]


@KINDS
def test_a_new_highway_carries_and_padding_has_no_characters(kind: str) -> None:
    model = word_reader(kind).model
    gates = [module.bias for module in model.modules() if isinstance(module, HighwayLayer)]
    assert [gate.chunk(2)[0].abs().max().item() for gate in gates] == [0.0, 0.0]
    assert [gate.chunk(2)[1].min().item() for gate in gates] == [1.0, 1.0]
    assert model.get_parameter("embeddings.characters.bytes.weight")[0].abs().sum() == 0
