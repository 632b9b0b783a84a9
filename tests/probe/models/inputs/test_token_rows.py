"""Examples without padding, put together into batches bounded by tokens."""

import pytest
import torch

from probe.models.inputs import by_tokens
from probe.tasks.nli import Pair
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import MODELS, shared
from tests.support.models.tiny_word_models import word_classifier

PAIRS = [
    Pair(pair.premise * (1 + n % 4), pair.hypothesis, pair.gold, pair.id)
    for n, pair in enumerate(tiny_pairs(9))
]


@pytest.mark.parametrize("tokens", [1, 10, 24, 1000])
def test_batches_hold_every_row_once(tokens: int) -> None:
    lengths = [(5 * n) % 7 + 1 for n in range(20)]
    batches = list(by_tokens(lengths, tokens))
    assert sorted(row for rows in batches for row in rows) == list(range(20))


def test_a_batch_has_so_many_tokens_at_most_with_its_padding() -> None:
    lengths = [3, 9, 4, 8, 2, 2]
    batches = list(by_tokens(lengths, 18))
    assert batches == [[1, 3], [2, 0, 4, 5]]


def test_a_row_longer_than_a_batch_is_a_batch() -> None:
    assert list(by_tokens([50, 2], 10)) == [[0], [1]]


def test_short_rows_make_no_endless_batch() -> None:
    assert [len(rows) for rows in by_tokens([0] * 5, 10, most_rows=2)] == [2, 2, 1]


@pytest.mark.parametrize("kind", MODELS)
def test_padded_rows_are_what_the_tokenizer_gives(kind: str) -> None:
    rows = [4, 0, 3]
    padded = shared(kind).token_rows(PAIRS).padded(rows)
    direct = shared(kind).encode([PAIRS[row] for row in rows])
    assert set(padded) == set(direct)
    assert all(torch.equal(padded[name], direct[name]) for name in direct)


@pytest.mark.parametrize("kind", MODELS)
def test_a_batch_without_padding_has_the_logits_of_a_padded_one(kind: str) -> None:
    classifier = shared(kind)
    tokens = classifier.token_rows(PAIRS)
    model = classifier.at("fp32")
    with torch.inference_mode():
        together = model.unscaled_logits(tokens.padded(range(len(PAIRS))))
        alone = [model.unscaled_logits(tokens.padded([row])) for row in range(len(PAIRS))]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["da", "esim", "esim_char"])
def test_a_word_model_says_the_same_without_padding(kind: str) -> None:
    classifier = word_classifier(kind)
    tokens = classifier.token_rows(PAIRS)
    model = classifier.at("fp32")
    with torch.inference_mode():
        together = model.unscaled_logits(tokens.padded(range(len(PAIRS))))
        alone = [model.unscaled_logits(tokens.padded([row])) for row in range(len(PAIRS))]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=0)


def test_a_batch_with_tokens_enough_ends_before_a_much_shorter_example() -> None:
    lengths = [100, 100, 100, 100, 81, 79, 20]
    assert list(by_tokens(lengths, 2048)) == [[0, 1, 2, 3, 4], [5, 6]]
    assert list(by_tokens(lengths[1:], 2048)) == [[0, 1, 2, 3], [4, 5]]
    assert list(by_tokens(lengths[2:], 2048)) == [[0, 1, 2, 3], [4]]
