"""Words as tokens: splitting, unknown words, bytes of characters."""

from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

import probe.models.word_models.esim  # registers the tokenizer
from probe.models.word_models.word_tokenizer import (
    MAX_WORD_BYTES,
    SPECIAL,
    WordTokenizer,
    splitter,
    word_tokenizer,
)
from tests.support.cases import each
from tests.support.models.tiny_word_models import WORDS


def split(text: str, lower: bool = True) -> list[str]:
    normalizer, words = splitter(lower)
    return [word for word, _ in words.pre_tokenize_str(normalizer.normalize_str(text))]


@each(
    "text, words",
    [
        ("The man isn't here.", "the man is n't here ."),
        ("I can't, won't; they'd", "i ca n't , wo n't ; they 'd"),
        ("John's dogs' bowl", "john 's dogs ' bowl"),
        ("John’s “dog”", 'john \'s " dog "'),
        ("1,000.50 at 10:30", "1,000.50 at 10:30"),
        ("the U.S. army", "the u.s. army"),
        ("well-known -- or... not", "well - known -- or ... not"),
        ("DON'T SHOUT", "do n't shout"),
        ("naïve cafe\u0301", "naïve café"),
        ("我是 😀\0", "我是 😀 \0"),
        (" \t\n ", ""),
    ],
)
def test_text_is_split_close_to_the_penn_treebanks_way(text: str, words: str) -> None:
    assert split(text) == words.split()
    assert split("The Man DIDN'T", lower=False) == ["The", "Man", "DID", "N'T"]


@each("unit", ["a", ".", "a.", " ", "'", "1,", "n't", "-", "é́", "😀", "a "])
def test_long_runs_come_to_an_end(unit: str) -> None:
    assert len(split(unit * 20_000)) <= 40_000


@pytest.fixture
def tokenizer() -> WordTokenizer:
    return word_tokenizer(WORDS, characters=True)


def test_sides_end_with_null_offsets_point_into_the_text_and_unknown_words_stay_unknown(
    tokenizer: WordTokenizer,
) -> None:
    encoded = tokenizer("The man.", "A dog")
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
    assert tokens == ["the", "man", ".", "[NULL]", "a", "dog", "[NULL]"]
    assert encoded["token_type_ids"] == [0, 0, 0, 0, 1, 1, 1]
    assert encoded.sequence_ids() == [0, 0, 0, None, 1, 1, None]
    text = "John’s dog ISN'T"
    encoded = tokenizer(text, add_special_tokens=False)
    pieces = [text[start:end] for start, end in encoded.encodings[0].offsets]
    assert pieces == ["John", "’s", "dog", "IS", "N'T"]
    ids = tokenizer("the zebra isn't here.", add_special_tokens=False)["input_ids"]
    text = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=True)
    assert text == "the [UNK] isn't here."
    assert tokenizer(text, add_special_tokens=False)["input_ids"] == ids
    first, second = (tokenizer(f"the {word}")["input_ids"] for word in ("zebra", "sleepign"))
    assert first == second and first[1] == SPECIAL.index("[UNK]")
    with pytest.raises(ValueError, match=r"begins with \[PAD\], \[UNK\], \[NULL\]"):
        word_tokenizer(["the", "dog"])


def test_characters_are_the_bytes_as_written_counted_from_one(tokenizer: WordTokenizer) -> None:
    rows = [list(row) for row in tokenizer("Zé", "a")["character_ids"]]
    z, e_one, e_two, a = 0x5A, 0xC3, 0xA9, 0x61
    assert rows[0] == [z + 1, e_one + 1, e_two + 1] + [0] * (MAX_WORD_BYTES - 3)
    assert rows[1] == [0] * MAX_WORD_BYTES  # [NULL]
    assert rows[2] == [a + 1] + [0] * (MAX_WORD_BYTES - 1)
    assert all(tokenizer("x" * 100, add_special_tokens=False)["character_ids"][0])
    assert tokenizer("", add_special_tokens=False)["character_ids"] == []
    assert "character_ids" not in word_tokenizer(WORDS)("the dog")


def test_the_parts_of_a_long_text_have_the_characters_of_their_own_words(
    tokenizer: WordTokenizer,
) -> None:
    options = {"truncation": "only_second", "max_length": 6, "stride": 1}
    windows = {"return_overflowing_tokens": True, "return_offsets_mapping": True}
    parts = tokenizer("who", "the man John Dog zebra", **options, **windows)
    first_bytes = [[row[0] for row in rows] for rows in parts["character_ids"]]
    w, t, m, j, d, z = (ord(letter) + 1 for letter in "wtmJDz")
    assert first_bytes == [[w, 0, t, m, j, 0], [w, 0, j, d, z, 0]]


def test_padding_afterwards_is_as_padding_at_once_and_a_saved_tokenizer_reads_the_same(
    tokenizer: WordTokenizer, tmp_path: Path
) -> None:
    firsts, seconds = ["the dog", "a zebra is here"], ["a", "the man"]
    at_once = tokenizer(firsts, seconds, padding=True, return_tensors="pt")
    apart = [dict(tokenizer(first, second)) for first, second in zip(firsts, seconds, strict=True)]
    afterwards = tokenizer.pad(apart, return_tensors="pt")
    assert set(afterwards) == set(at_once)
    assert all(torch.equal(afterwards[name], at_once[name]) for name in at_once)
    tokenizer.save_pretrained(tmp_path)
    probe.models.word_models.esim.EsimConfig().save_pretrained(tmp_path)
    loaded, text = AutoTokenizer.from_pretrained(tmp_path), "John's zebra, the dog"
    assert type(loaded) is WordTokenizer and dict(loaded(text)) == dict(tokenizer(text))
