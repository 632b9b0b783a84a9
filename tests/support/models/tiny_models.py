"""The BERT family in memory: random weights, real WordPiece, byte-level BPE and Unigram."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AlbertTokenizerFast,
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    BertTokenizerFast,
    DebertaTokenizerFast,
    DebertaV2TokenizerFast,
    PreTrainedTokenizerBase,
    RobertaTokenizerFast,
    XLNetTokenizerFast,
)

from benchmarks.architectures import ALBERT, DEBERTA, KINDS, ROBERTA, SIZES, XLNET, merged_pairs
from probe.models.architectures import architecture
from probe.models.checkpoint import give_segment_ids, restore_post_processor
from probe.models.classifier import Classifier
from probe.models.prompted import Prompted
from probe.models.prompts import prompts
from probe.tasks.nli import LABELS, NLI
from probe.tasks.task import TASKS, Label
from tests.support.models.tiny_bert import LETTERS, MARKS, SPECIAL, SUFFIXES, TEXT

POSITIONS = 128


def word_piece(cased: bool = False) -> PreTrainedTokenizerBase:
    """Return a tokenizer of whole words, letters and a few endings; SpanBERT's keeps the case."""
    alphabet = LETTERS + LETTERS[:26].upper() if cased else LETTERS
    letters = [*alphabet, *(f"##{letter}" for letter in alphabet)]
    words = list(dict.fromkeys([*SPECIAL, *MARKS, *letters, *SUFFIXES, *TEXT.split()]))
    vocabulary = {word: id_ for id_, word in enumerate(words)}
    return BertTokenizerFast(vocab=vocabulary, do_lower_case=not cased, model_max_length=POSITIONS)


def byte_pairs(
    make: Callable[..., PreTrainedTokenizerBase] = RobertaTokenizerFast,
    special: Sequence[str] = ROBERTA,
) -> PreTrainedTokenizerBase:
    """Return a byte-level tokenizer whose merges come from the words of `tiny_bert`."""
    return make(**merged_pairs([TEXT], 600, special), model_max_length=POSITIONS)


def unigram(
    make: Callable[..., PreTrainedTokenizerBase], special: Sequence[str]
) -> PreTrainedTokenizerBase:
    """Return a Unigram tokenizer like SentencePiece's: words begin with the mark for a blank."""
    letters = [*LETTERS, *LETTERS[:26].upper(), *MARKS]
    words = [(f"▁{word}", -2.0 - len(word) / 10) for word in dict.fromkeys(TEXT.split())]
    spelt = [(letter, -10.0) for letter in ("▁", *letters)]
    scored = [*((token, 0.0) for token in special), *words, *spelt]
    unknown = {} if make is AlbertTokenizerFast else {"unk_id": list(special).index(UNK[make])}
    return make(vocab=scored, model_max_length=POSITIONS, **unknown)


UNK = {XLNetTokenizerFast: "<unk>", DebertaV2TokenizerFast: "[UNK]"}


def _deberta_tokenizer() -> PreTrainedTokenizerBase:
    """Return a tokenizer that joins two texts as DeBERTa was trained."""
    tokenizer = byte_pairs(DebertaTokenizerFast, DEBERTA)
    restore_post_processor(tokenizer, Path("no-such-folder"))
    return tokenizer


SHAPE = {
    **{"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2},
    **{"intermediate_size": 64, "max_position_embeddings": POSITIONS, "initializer_range": 0.2},
}
OF_ROBERTA = {"num_attention_heads": 2, "pad_token_id": 1}  # positions are numbered from 2
AS_V3 = {"position_buckets": 16, "norm_rel_ebd": "layer_norm", "share_att_key": True}
NARROW = {"embedding_size": 16}  # ELECTRA and ALBERT widen the vectors behind the embeddings
MODELS: dict[str, tuple[Callable[[], PreTrainedTokenizerBase], dict[str, object]]] = {
    "bert": (word_piece, SHAPE),
    "roberta": (byte_pairs, OF_ROBERTA),
    "distilbert": (word_piece, {"n_heads": 2, "max_position_embeddings": POSITIONS}),
}
FAMILY = MODELS | {
    "spanbert": (partial(word_piece, cased=True), SHAPE),
    "electra": (word_piece, SHAPE | NARROW),
    "albert": (partial(unigram, AlbertTokenizerFast, ALBERT), SHAPE | NARROW),
    "xlnet": (partial(unigram, XLNetTokenizerFast, XLNET), {"pad_token_id": 5}),
    "bart": (byte_pairs, {"max_position_embeddings": POSITIONS}),
    "deberta": (_deberta_tokenizer, SHAPE | dict(KINDS["deberta"].config)),
    "deberta-v2": (
        partial(unigram, DebertaV2TokenizerFast, DEBERTA),
        SHAPE | dict(KINDS["deberta-v2"].config) | AS_V3,
    ),
}
"""Every architecture; most tests look at the first three only, `test_architectures` at all."""
RELATIVES = dict.fromkeys(("camembert", "xlm-roberta", "mpnet"), (byte_pairs, OF_ROBERTA))
"""Built as RoBERTa is; fast mode cuts each by its own layout."""


def tiny_classifier(
    kind: str = "bert", seed: int = 0, order: tuple[Label, ...] = LABELS
) -> Classifier:
    """Return a classifier with random weights, the same for the same seed."""
    tokenizer_of, sizes = (FAMILY | RELATIVES)[kind]
    tokenizer, model_type = tokenizer_of(), "bert" if kind == "spanbert" else kind
    if kind == "distilbert":
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    if architecture(kind).segment_ids:
        give_segment_ids(tokenizer)
    known = AutoConfig.for_model(model_type).to_dict()
    usual = {name: size for name, size in SIZES.items() if name in known}
    named: dict[str, Any] = {"vocab_size": len(tokenizer), "id2label": dict(enumerate(order))}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForSequenceClassification.from_config(
            AutoConfig.for_model(model_type, **usual | named | sizes)
        )
    task = next(task for task in TASKS.values() if sorted(task.labels) == sorted(order))
    return Classifier(f"tiny-{kind}", model.eval(), tokenizer, task, order)


@cache
def shared(kind: str = "bert") -> Classifier:
    """Return one such classifier for the tests that only look at it."""
    return tiny_classifier(kind)


CHAT = (
    "{% for m in messages %}<s>{{ m.role }}: {{ m.content | trim }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


@cache
def tiny_prompted(kind: str = "llama", chat: bool = False) -> Prompted:
    """Return a language model with random weights, asked about inference by “choose”."""
    tokenizer = byte_pairs()
    tokenizer.chat_template = CHAT if chat else None
    tokenizer.model_max_length = 600
    known = AutoConfig.for_model(kind).to_dict()
    sizes = {name: size for name, size in SIZES.items() if name in known}
    sizes |= {"max_position_embeddings": 600} if kind == "llama" else {"n_positions": 600}
    sizes |= {"vocab_size": len(tokenizer), "initializer_range": 0.3}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **sizes)).eval()
    return Prompted(f"tiny-{kind}", model, tokenizer, NLI, prompts(NLI)["choose"])
