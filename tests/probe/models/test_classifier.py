"""One loaded model: its label order, its batches, its longest input."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from probe.errors import ModelError
from probe.models.classifier import Classifier, by_length, fast_bf16, resolve
from probe.models.prediction import as_predictions
from probe.tasks.nli import LABELS, Pair
from probe.tasks.task import Label
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import MODELS, shared, tiny_classifier

KINDS = pytest.mark.parametrize("kind", MODELS)
PERMUTED: tuple[Label, ...] = ("contradiction", "entailment", "neutral")
# of very different lengths, so that batches by length take them out of order
PAIRS = [
    Pair(pair.premise * (1 + n % 4), pair.hypothesis, pair.gold, pair.id)
    for n, pair in enumerate(tiny_pairs(13))
]


def permute_head(classifier: Classifier, order: tuple[Label, ...]) -> None:
    """Put the rows of the last layer, which are in our order, into another one."""
    rows = [LABELS.index(label) for label in order]
    *_, weight, bias = classifier.model.parameters()
    with torch.no_grad():
        weight.copy_(weight[rows])
        bias.copy_(bias[rows])


@KINDS
def test_the_order_of_the_outputs_does_not_matter(kind: str) -> None:
    permuted = tiny_classifier(kind, order=PERMUTED)
    permute_head(permuted, PERMUTED)
    assert permuted.probabilities(PAIRS) == pytest.approx(
        shared(kind).probabilities(PAIRS), abs=1e-6
    )


def test_the_label_of_an_output_is_the_models_own() -> None:
    permuted = tiny_classifier(order=PERMUTED)
    inputs = permuted.tokenizer(PAIRS[0].premise, PAIRS[0].hypothesis, return_tensors="pt")
    with torch.no_grad():
        raw = permuted.model(**inputs).logits[0].softmax(-1)
    by_label = dict(zip(LABELS, permuted.predict(PAIRS[:1])[0].probabilities, strict=True))
    assert [by_label[label] for label in PERMUTED] == pytest.approx(raw.tolist(), abs=1e-6)


@KINDS
def test_a_pair_is_classified_alike_alone_and_in_a_batch(kind: str) -> None:
    batched = shared(kind).probabilities(PAIRS)
    alone = [shared(kind).probabilities([pair])[0] for pair in PAIRS]
    assert batched == pytest.approx(np.stack(alone), abs=1e-5)


def test_results_keep_the_order_of_the_pairs() -> None:
    forwards = shared().probabilities(PAIRS)
    backwards = shared().probabilities(PAIRS[::-1])
    assert forwards == pytest.approx(backwards[::-1], abs=1e-5)
    assert len({round(float(row[0]), 6) for row in forwards}) > 5  # they can be told apart


@KINDS
def test_probabilities_sum_to_one(kind: str) -> None:
    assert shared(kind).probabilities(PAIRS).sum(axis=1) == pytest.approx(1, abs=1e-9)


def test_no_pairs_have_no_predictions() -> None:
    assert shared().predict([]) == []


def test_a_prediction_is_the_label_of_the_largest_probability() -> None:
    (prediction,) = as_predictions(np.log([[0.2, 0.3, 0.5]]), LABELS)
    assert (prediction.label, prediction.confidence) == ("contradiction", pytest.approx(0.5))


def test_of_equal_probabilities_the_earlier_label_wins() -> None:
    assert as_predictions(np.log([[0.2, 0.4, 0.4]]), LABELS)[0].label == "neutral"


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9])
def test_batches_by_length_hold_every_row_once(count: int) -> None:
    lengths = [(5 * n) % 7 for n in range(count)]
    batches = list(by_length(lengths, 4))
    assert sorted(row for batch in batches for row in batch) == list(range(count))
    assert all(len(batch) <= 4 for batch in batches)


def test_batches_hold_rows_of_similar_length() -> None:
    assert list(by_length([1, 9, 2, 8], 2)) == [[1, 3], [2, 0]]


@pytest.mark.parametrize(("kind", "special"), [("bert", 3), ("roberta", 4), ("distilbert", 3)])
def test_a_pair_is_too_long_when_its_end_is_cut(kind: str, special: int) -> None:
    max_words = 128 - special  # each "a" is a sub-word
    classifier = shared(kind)
    fits, over = (Pair("a", " a" * n) for n in (max_words - 1, max_words))
    assert not classifier.too_long(fits)
    assert classifier.too_long(over)
    assert len(classifier.tokenizer(fits.premise, fits.hypothesis)["input_ids"]) == 128


def test_a_text_of_few_characters_can_have_too_many_sub_words() -> None:
    classifier = shared("roberta")
    pair = Pair("a man", "😀" * 40)  # four bytes, so four sub-words each
    assert len(classifier.tokenizer(pair.premise, pair.hypothesis)["input_ids"]) > 128
    assert classifier.too_long(pair)


@KINDS
def test_a_long_pair_is_cut_to_what_the_model_reads(kind: str) -> None:
    long = Pair("the man walks " * 300, "a man walks")
    encoded = shared(kind).encode([long, PAIRS[0]])
    assert encoded["input_ids"].shape == (2, 128)
    assert sum(shared(kind).predict([long])[0].probabilities) == pytest.approx(1)


def test_the_longer_side_is_cut_first() -> None:
    encoded = shared().encode([Pair("the man walks " * 300, "a man walks")])
    assert encoded.sequence_ids(0).count(1) == 3


@KINDS
def test_the_vocabulary_has_no_special_tokens(kind: str) -> None:
    classifier = shared(kind)
    assert not set(classifier.vocabulary) & set(classifier.tokenizer.all_special_ids)
    assert len(classifier.vocabulary) == len(classifier.tokenizer) - 5


@KINDS
def test_sub_words_become_text_and_sub_words_again(kind: str) -> None:
    classifier = shared(kind)
    ids = classifier.sub_words("the baker isn't happy!")
    assert classifier.decode(ids) == "the baker isn't happy!"
    assert classifier.sub_words(classifier.decode(ids)) == ids


def test_auto_precision_is_bf16_only_where_it_is_fast() -> None:
    assert resolve("auto") == ("bf16" if fast_bf16() else "fp32")
    assert (resolve("fp32"), resolve("bf16")) == ("fp32", "bf16")


@KINDS
def test_bf16_is_near_fp32(kind: str) -> None:
    exact = shared(kind).probabilities(PAIRS)
    assert shared(kind).probabilities(PAIRS, "bf16") == pytest.approx(exact, abs=0.05)


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_threads_tokenise_beside_each_other(frequent_switches: None) -> None:
    classifier = tiny_classifier()
    short, long = Pair("A man walks.", "He is old."), Pair("The café " * 60, "He is old.")

    def many_times(task: Callable[[], object]) -> set[object]:
        return {task() for _ in range(500)}

    tasks: list[Callable[[], object]] = [
        lambda: classifier.too_long(long),
        lambda: len(classifier.sub_words(long.premise)),
        lambda: classifier.encode([short, long])["input_ids"].shape[1],
        lambda: classifier.encode([short, long])["input_ids"].shape[1],
    ]
    with ThreadPoolExecutor(len(tasks)) as threads:
        answers = list(threads.map(many_times, tasks))
    length = classifier.max_tokens
    assert answers == [{True}, {len(classifier.sub_words(long.premise))}, {length}, {length}]


def test_answers_that_are_no_numbers_are_refused_in_a_sentence() -> None:
    broken = tiny_classifier()
    *_, bias = broken.model.parameters()
    with torch.no_grad():
        bias.fill_(float("nan"))
    for answer in (broken.predict, broken.probabilities):
        with pytest.raises(ModelError, match=r"no numbers \(NaN\)"):
            answer(PAIRS)
