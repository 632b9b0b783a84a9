"""Whole words as tokens, the input of Decomposable Attention and ESIM.

Text is split close to the Penn Treebank's way (do n't, John 's, U.S.), hyphens apart as spaCy
does, which Liu et al. 2019 used. A word outside the vocabulary is [UNK], however it is spelt, which
the spelling test shows. Character-aware models also read the bytes of every word.
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
MAX_WORD_BYTES = 24  # that a character-aware model reads
CHARACTER_IDS = "character_ids"
TOKEN_PATTERN = "(?i)" + "|".join(
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
    """Return the normalizer and the splitter into words; `lower` removes the case."""
    steps = [
        normalizers.NFC(),
        *(normalizers.Replace(quote, plain) for quote, plain in QUOTES.items()),
    ]
    return (
        normalizers.Sequence([*steps, normalizers.Lowercase()] if lower else steps),
        pre_tokenizers.Split(Regex(TOKEN_PATTERN), behavior="removed", invert=True),
    )


def word_level(words: Iterable[str], lower: bool = True) -> Tokenizer:
    """Return a tokenizer whose ids are the positions in `words`, which begin with SPECIAL."""
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
    names = [
        "input_ids",
        "token_type_ids",
        "attention_mask",
        *([CHARACTER_IDS] if characters else []),
    ]
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
        if CHARACTER_IDS not in self.model_input_names:
            return encoded
        single = isinstance(text, str)
        firsts = [text] if single else text
        seconds = [text_pair] if single else text_pair or [None] * len(firsts)
        byte_rows = [
            byte_ids(encoding, (first, second or ""))
            for encoding, first, second in zip(
                encoded.encodings or [], firsts, seconds, strict=True
            )
        ]
        if options.get("return_tensors") == "pt":
            encoded[CHARACTER_IDS] = torch.stack(byte_rows)  # (batch, tokens, MAX_WORD_BYTES)
        else:
            rows = [row.tolist() for row in byte_rows]
            encoded[CHARACTER_IDS] = rows[0] if single else rows
        return encoded

    def _decode(
        self,
        token_ids: int | list[int],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **options: Any,
    ) -> str:
        """Turn ids into text; an unknown word stays [UNK], so that it is encoded as [UNK] again."""
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        if skip_special_tokens:
            ids = [id_ for id_ in ids if id_ not in (self.pad_token_id, self.sep_token_id)]
        return str(super()._decode(ids, False, clean_up_tokenization_spaces, **options))


def byte_ids(encoding: Encoding, sides: Sequence[str]) -> torch.Tensor:
    """Return the bytes of each token as written, case kept.  # (tokens, MAX_WORD_BYTES)

    A byte counts from 1 (UTF-8 has none above 244); 0 is padding, and all of a special token.
    """
    offsets = zip(encoding.sequence_ids, encoding.offsets, strict=True)
    words = ["" if side is None else sides[side][start:end] for side, (start, end) in offsets]
    if not words:
        return torch.zeros(0, MAX_WORD_BYTES, dtype=torch.long)
    joined = bytearray(b"".join(map(_bytes, words)))
    return torch.frombuffer(joined, dtype=torch.uint8).view(-1, MAX_WORD_BYTES).long()


@lru_cache(maxsize=100_000)
def _bytes(word: str) -> bytes:
    return bytes(byte + 1 for byte in word.encode()[:MAX_WORD_BYTES]).ljust(MAX_WORD_BYTES, b"\0")
