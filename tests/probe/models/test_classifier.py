"""One loaded model: its label order, its batches, its longest input."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from probe.errors import ModelError
from probe.models.classifier import Classifier, by_length
from probe.models.prediction import as_predictions
from probe.models.text_model import by_tokens
from probe.tasks.nli import LABELS, Pair
from probe.tasks.task import Label
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import MODELS, shared, tiny_classifier
from tests.support.models.tiny_word_models import word_classifier

KINDS = each("kind", MODELS)
PERMUTED: tuple[Label, ...] = ("contradiction", "entailment", "neutral")
# of very different lengths, so that batches by length take them out of order
PAIRS = [
    Pair(pair.premise * (1 + n % 4), pair.hypothesis, pair.gold, pair.id)
    for n, pair in enumerate(tiny_pairs(13))
]


@KINDS
def test_the_order_of_the_outputs_does_not_matter(kind: str) -> None:
    permuted, rows = tiny_classifier(kind, order=PERMUTED), [LABELS.index(it) for it in PERMUTED]
    *_, weight, bias = permuted.model.parameters()
    with torch.no_grad():  # the rows of the last layer, which are in our order
        weight.copy_(weight[rows])
        bias.copy_(bias[rows])
    expected = shared(kind).probabilities(PAIRS)
    assert permuted.probabilities(PAIRS) == pytest.approx(expected, abs=1e-6)
    inputs = permuted.tokenizer(PAIRS[0].premise, PAIRS[0].hypothesis, return_tensors="pt")
    with torch.no_grad():
        raw = permuted.model(**inputs).logits[0].softmax(-1)
    by_label = permuted.predict(PAIRS[:1])[0].by_label
    assert [by_label[label] for label in PERMUTED] == pytest.approx(raw.tolist(), abs=1e-6)


@KINDS
def test_a_pair_is_classified_alike_alone_in_a_batch_and_in_another_order(kind: str) -> None:
    batched, backwards = (shared(kind).probabilities(pairs) for pairs in (PAIRS, PAIRS[::-1]))
    alone = [shared(kind).probabilities([pair])[0] for pair in PAIRS]
    assert batched == pytest.approx(np.stack(alone), abs=1e-5)
    assert batched == pytest.approx(backwards[::-1], abs=1e-5)
    assert batched.sum(axis=1) == pytest.approx(1, abs=1e-9)
    assert len({round(float(row[0]), 6) for row in batched}) > 5  # they can be told apart
    assert shared(kind).probabilities(PAIRS, "bf16") == pytest.approx(batched, abs=0.05)
    assert shared(kind).predict([]) == []


def test_a_prediction_is_the_first_label_of_the_largest_probability() -> None:
    for shares, label in (([0.2, 0.3, 0.5], "contradiction"), ([0.2, 0.4, 0.4], "neutral")):
        (prediction,) = as_predictions(np.log([shares]), LABELS)
        assert (prediction.label, prediction.confidence) == (label, pytest.approx(max(shares)))


def test_batches_by_length_hold_every_row_once_and_like_ones_together() -> None:
    lengths = [(5 * n) % 7 + 1 for n in range(20)]
    for batches in (by_length(lengths, 4), *(by_tokens(lengths, size) for size in (1, 10, 1000))):
        assert sorted(row for rows in batches for row in rows) == list(range(20))
    assert list(by_length([1, 9, 2, 8], 2)) == [[1, 3], [2, 0]] and not [*by_length([], 4)]
    assert [len(rows) for rows in by_tokens([0] * 5, 10, most_rows=2)] == [2, 2, 1]
    cases: list[tuple[list[int], int, list[list[int]]]] = [
        ([3, 9, 4, 8, 2, 2], 18, [[1, 3], [2, 0, 4, 5]]),  # padding included
        ([50, 2], 10, [[0], [1]]),
        # one with tokens enough ends before a much shorter example
        ([100, 100, 100, 100, 81, 79, 20], 2048, [[0, 1, 2, 3, 4], [5, 6]]),
        ([100, 100, 100, 81, 79, 20], 2048, [[0, 1, 2, 3], [4, 5]]),
        ([100, 100, 81, 79, 20], 2048, [[0, 1, 2, 3], [4]]),
    ]
    for lengths, tokens, expected in cases:
        assert list(by_tokens(lengths, tokens)) == expected, lengths


@each("kind", [*MODELS, "da", "esim", "esim_char"])
def test_rows_put_together_are_what_the_tokenizer_gives(kind: str) -> None:
    classifier = shared(kind) if kind in MODELS else word_classifier(kind)
    tokens, rows = classifier.token_rows(PAIRS), [4, 0, 3]
    padded, direct = tokens.padded(rows), classifier.encode([PAIRS[row] for row in rows])
    assert set(padded) == set(direct)
    assert all(torch.equal(padded[name], direct[name].long()) for name in direct)
    model = classifier.at("fp32")
    with torch.inference_mode():
        together = model.unscaled_logits(tokens.padded(range(len(PAIRS))))
        alone = [model.unscaled_logits(tokens.padded([row])) for row in range(len(PAIRS))]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=0)


@each("kind, special", [("bert", 3), ("roberta", 4), ("distilbert", 3)])
def test_a_pair_is_too_long_when_its_end_is_cut(kind: str, special: int) -> None:
    max_words = 128 - special  # each "a" is a sub-word
    classifier = shared(kind)
    fits, over = (Pair("a", " a" * n) for n in (max_words - 1, max_words))
    assert not classifier.too_long(fits) and classifier.too_long(over)
    assert len(classifier.tokenizer(fits.premise, fits.hypothesis)["input_ids"]) == 128
    encoded = classifier.encode([Pair("the man walks " * 300, "a man walks"), PAIRS[0]])
    assert encoded["input_ids"].shape == (2, 128)
    hypothesis = len(classifier.sub_words("a man walks"))
    assert encoded.sequence_ids(0).count(1) == hypothesis  # the longer side is cut first
    emoji = Pair("a man", "😀" * 40)  # four bytes, so four sub-words each
    if kind == "roberta":
        assert classifier.too_long(emoji)


@KINDS
def test_sub_words_become_text_and_sub_words_again(kind: str) -> None:
    classifier = shared(kind)
    ids = classifier.sub_words("the baker isn't happy!")
    assert classifier.decode(ids) == "the baker isn't happy!"
    assert classifier.sub_words(classifier.decode(ids)) == ids
    assert not set(classifier.vocabulary) & set(classifier.tokenizer.all_special_ids)
    assert len(classifier.vocabulary) == len(classifier.tokenizer) - 5


def test_threads_tokenise_beside_each_other() -> None:
    classifier, interval = tiny_classifier(), sys.getswitchinterval()
    short, long = Pair("A man walks.", "He is old."), Pair("The café " * 60, "He is old.")
    tasks: list[Callable[[], object]] = [
        lambda: classifier.too_long(long),
        lambda: len(classifier.sub_words(long.premise)),
        *[lambda: int(classifier.encode([short, long])["input_ids"].shape[1])] * 2,
    ]
    expected = [{task()} for task in tasks]
    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        with ThreadPoolExecutor(len(tasks)) as threads:
            answers = list(threads.map(lambda task: {task() for _ in range(200)}, tasks))
    finally:
        sys.setswitchinterval(interval)
    assert answers == expected and expected[0] == {True}


def test_answers_that_are_no_numbers_are_refused_in_a_sentence() -> None:
    broken: Classifier = tiny_classifier()
    *_, bias = broken.model.parameters()
    with torch.no_grad():
        bias.fill_(float("nan"))
    for answer in (broken.predict, broken.probabilities):
        with pytest.raises(ModelError, match=r"no numbers \(NaN\)"):
            answer(PAIRS)
