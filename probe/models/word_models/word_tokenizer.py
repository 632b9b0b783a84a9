"""Whole words as tokens, the input of Decomposable Attention, ESIM, BiDAF and QANet.

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


def word_tokenizer(
    words: Iterable[str], lower: bool = True, characters: bool = False
) -> "WordTokenizer":
    """Return a tokenizer whose ids are the positions in `words`, which begin with SPECIAL.

    With `characters` it is one for a character-aware model.
    """
    names = ["input_ids", "token_type_ids", "attention_mask", *[CHARACTER_IDS][: int(characters)]]
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
    return WordTokenizer(  # type: ignore[no-untyped-call]  # transformers leaves it untyped
        tokenizer_object=tokenizer,
        pad_token=PAD,
        sep_token=NULL,
        unk_token=UNK,
        model_input_names=names,
        model_max_length=512,
    )


class WordTokenizer(PreTrainedTokenizerFast):
    """A tokenizer of words that adds `character_ids` where `model_input_names` asks for them.

    They are `bytes` for each token, or a tensor; padding stands at the end of a text.
    """

    def __call__(self, text: Any, text_pair: Any = None, **options: Any) -> BatchEncoding:
        """Encode texts, as every tokenizer does; texts may be one string or a list of them."""
        encoded: BatchEncoding = super().__call__(text, text_pair, **options)
        if CHARACTER_IDS not in self.model_input_names:
            return encoded
        firsts = [text] if isinstance(text, str) else text
        seconds = [text_pair] if isinstance(text, str) else text_pair or [None] * len(firsts)
        rows = encoded.get("overflow_to_sample_mapping", range(len(firsts)))
        byte_rows = [
            byte_rows_of(encoding, (firsts[row], seconds[row] or ""))
            for encoding, row in zip(encoded.encodings or [], rows, strict=True)
        ]
        flat = isinstance(text, str) and not options.get("return_overflowing_tokens")
        if options.get("return_tensors") == "pt":
            encoded[CHARACTER_IDS] = as_tensor(byte_rows, len(encoded["input_ids"][0]))
        else:
            encoded[CHARACTER_IDS] = byte_rows[0] if flat else byte_rows
        return encoded

    def pad(self, encoded_inputs: Any, *given: Any, **options: Any) -> BatchEncoding:
        """Pad a list of encoded texts, as every tokenizer does; their characters come as a tensor.

        # (batch, tokens, MAX_WORD_BYTES)
        """
        if CHARACTER_IDS not in self.model_input_names:
            padded: BatchEncoding = super().pad(encoded_inputs, *given, **options)
            return padded
        others = [
            {name: value for name, value in row.items() if name != CHARACTER_IDS}
            for row in encoded_inputs
        ]
        padded = super().pad(others, *given, **options)
        rows = [row[CHARACTER_IDS] for row in encoded_inputs]
        padded[CHARACTER_IDS] = as_tensor(rows, len(padded["input_ids"][0]))
        return padded

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


def byte_rows_of(encoding: Encoding, sides: Sequence[str]) -> list[bytes]:
    """Return the MAX_WORD_BYTES bytes of each token as written, case kept.

    A byte counts from 1 (UTF-8 has none above 244); 0 is padding, and all of a special token.
    """
    offsets = zip(encoding.sequence_ids, encoding.offsets, strict=True)
    return [
        _bytes("" if side is None else sides[side][start:end]) for side, (start, end) in offsets
    ]


def as_tensor(rows: Sequence[Sequence[bytes]], tokens: int) -> torch.Tensor:
    """Return the bytes of texts, each filled up to a number of tokens at its end.

    # (texts, tokens, MAX_WORD_BYTES)
    """
    if not rows or not tokens:
        return torch.zeros(len(rows), tokens, MAX_WORD_BYTES, dtype=torch.long)
    size = tokens * MAX_WORD_BYTES
    joined = bytearray(b"".join(b"".join(row).ljust(size, b"\0") for row in rows))
    return torch.frombuffer(joined, dtype=torch.uint8).view(-1, tokens, MAX_WORD_BYTES).long()


@lru_cache(maxsize=100_000)
def _bytes(word: str) -> bytes:
    return bytes(byte + 1 for byte in word.encode()[:MAX_WORD_BYTES]).ljust(MAX_WORD_BYTES, b"\0")
