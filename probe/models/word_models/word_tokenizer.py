"""Whole words as tokens: what Decomposable Attention and ESIM read.

Text is split close to the Penn Treebank's way (do n't, John 's, U.S.), hyphens apart as spaCy
does, which Liu et al. 2019 used. A word outside the vocabulary is [UNK], however it is spelt: that
is what the spelling test shows. Character-aware models also see the bytes of every word.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import torch
from tokenizers import Encoding, Regex, Tokenizer, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import BatchEncoding, PreTrainedTokenizerFast

PAD, UNK, NULL = SPECIAL = ("[PAD]", "[UNK]", "[NULL]")
"""The first three rows of every vocabulary; [NULL] ends both sides (Parikh et al. 2016)."""
WIDTH = 24
"""Bytes of a word that a character-aware model sees."""
CHARACTERS = "character_ids"
TOKENS = "(?i)" + "|".join(
    [
        r"(?:\p{L}\.){2,}",  # U.S.
        r"\p{L}+?(?=n't\b)",  # the do of don't
        r"n't\b",
        r"'(?:s|re|ve|ll|d|m)\b",
        r"\p{N}+(?:[.,:]\p{N}+)+",  # 1,000.50 and 10:30
        r"[\p{L}\p{M}\p{N}]+",
        r"\.{2,}",
        r"-{2,}",
        r"\S",
    ]
)
QUOTES = {"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "''": '"'}


def splitter(lower: bool) -> tuple[normalizers.Normalizer, pre_tokenizers.PreTokenizer]:
    """Return what turns text into words; `lower` takes away the case."""
    steps = [normalizers.NFC(), *(normalizers.Replace(a, b) for a, b in QUOTES.items())]
    return (
        normalizers.Sequence([*steps, normalizers.Lowercase()] if lower else steps),
        pre_tokenizers.Split(Regex(TOKENS), behavior="removed", invert=True),
    )


def word_level(words: Iterable[str], lower: bool = True) -> Tokenizer:
    """Return a tokenizer whose ids are the places of `words`, which begin with SPECIAL."""
    ids = {word: id_ for id_, word in enumerate(words)}
    if tuple(ids)[: len(SPECIAL)] != SPECIAL:
        raise ValueError(f"a vocabulary begins with {', '.join(SPECIAL)}")
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=UNK))
    tokenizer.normalizer, tokenizer.pre_tokenizer = splitter(lower)
    tokenizer.post_processor = TemplateProcessing(
        single=f"$A {NULL}",
        pair=f"$A {NULL} $B:1 {NULL}:1",
        special_tokens=[(NULL, ids[NULL])],
    )
    return tokenizer


def word_tokenizer(
    words: Iterable[str], lower: bool = True, characters: bool = False
) -> "WordTokenizer":
    """Return a tokenizer over `words`, with `characters` for a character-aware model."""
    names = ["input_ids", "token_type_ids", "attention_mask", *([CHARACTERS] if characters else [])]
    return WordTokenizer(  # type: ignore[no-untyped-call]  # transformers leaves it untyped
        tokenizer_object=word_level(words, lower),
        pad_token=PAD,
        sep_token=NULL,
        unk_token=UNK,
        model_input_names=names,
        model_max_length=512,
    )


class WordTokenizer(PreTrainedTokenizerFast):
    """A tokenizer of words that adds `character_ids` where `model_input_names` asks for them."""

    def __call__(self, text: Any, text_pair: Any = None, **options: Any) -> BatchEncoding:
        """Encode texts, as every tokenizer does; texts may be one string or a list of them."""
        encoded: BatchEncoding = super().__call__(text, text_pair, **options)
        if CHARACTERS not in self.model_input_names:
            return encoded
        one = isinstance(text, str)
        lefts = [text] if one else text
        rights = [text_pair] if one else text_pair or [None] * len(lefts)
        seen = [
            spelling(encoding, (left, right or ""))
            for encoding, left, right in zip(encoded.encodings or [], lefts, rights, strict=True)
        ]
        if options.get("return_tensors") == "pt":
            encoded[CHARACTERS] = torch.stack(seen)  # (batch, tokens, WIDTH)
        else:
            rows = [row.tolist() for row in seen]
            encoded[CHARACTERS] = rows[0] if one else rows
        return encoded

    def _decode(
        self,
        token_ids: int | list[int],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **options: Any,
    ) -> str:
        """Turn ids into text; an unknown word keeps its place, so that it is read as one again."""
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        if skip_special_tokens:
            ids = [id_ for id_ in ids if id_ not in (self.pad_token_id, self.sep_token_id)]
        return str(super()._decode(ids, False, clean_up_tokenization_spaces, **options))


def spelling(encoding: Encoding, sides: Sequence[str]) -> torch.Tensor:
    """Return the bytes of each token as they are written, case kept.  # (tokens, WIDTH)

    A byte counts from 1 (UTF-8 has none above 244); 0 fills up, and is all of a special token.
    """
    places = zip(encoding.sequence_ids, encoding.offsets, strict=True)
    words = ["" if side is None else sides[side][start:end] for side, (start, end) in places]
    if not words:
        return torch.zeros(0, WIDTH, dtype=torch.long)
    joined = bytearray(b"".join(map(_bytes, words)))
    return torch.frombuffer(joined, dtype=torch.uint8).view(-1, WIDTH).long()


@lru_cache(maxsize=100_000)
def _bytes(word: str) -> bytes:
    return bytes(byte + 1 for byte in word.encode()[:WIDTH]).ljust(WIDTH, b"\0")
