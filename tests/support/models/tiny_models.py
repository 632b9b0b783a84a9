"""The BERT family in memory: random weights, real WordPiece, byte-level BPE and Unigram."""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    AlbertForSequenceClassification,
    AlbertTokenizerFast,
    BartForSequenceClassification,
    BertForSequenceClassification,
    BertTokenizerFast,
    CamembertForSequenceClassification,
    DebertaForSequenceClassification,
    DebertaTokenizerFast,
    DebertaV2ForSequenceClassification,
    DebertaV2TokenizerFast,
    DistilBertForSequenceClassification,
    ElectraForSequenceClassification,
    MPNetForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    RobertaForSequenceClassification,
    RobertaTokenizerFast,
    XLMRobertaForSequenceClassification,
    XLNetForSequenceClassification,
    XLNetTokenizerFast,
)

from probe.models.architectures import architecture
from probe.models.checkpoint import give_segment_ids, restore_post_processor
from probe.models.classifier import Classifier
from probe.tasks.nli import LABELS
from probe.tasks.task import TASKS, Label
from tests.support.models.tiny_bert import LETTERS, MARKS, SPECIAL, SUFFIXES, TEXT

POSITIONS = 128
INITIALISER_RANGE = 0.2  # ten times the usual, with which all probabilities would be near 1/3
SHAPE = {
    **{"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2},
    **{"intermediate_size": 64, "max_position_embeddings": POSITIONS},
    "initializer_range": INITIALISER_RANGE,
}


def word_piece(cased: bool = False) -> PreTrainedTokenizerBase:
    """Return a tokenizer of whole words, letters and a few endings; SpanBERT's keeps the case."""
    alphabet = LETTERS + LETTERS[:26].upper() if cased else LETTERS
    letters = [*alphabet, *(f"##{letter}" for letter in alphabet)]
    words = list(dict.fromkeys([*SPECIAL, *MARKS, *letters, *SUFFIXES, *TEXT.split()]))
    vocabulary = {word: id_ for id_, word in enumerate(words)}
    return BertTokenizerFast(vocab=vocabulary, do_lower_case=not cased, model_max_length=POSITIONS)


def byte_pairs(
    make: Callable[..., PreTrainedTokenizerBase] = RobertaTokenizerFast,
    special: Sequence[str] = ("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
) -> PreTrainedTokenizerBase:
    """Return a byte-level tokenizer whose merges come from the words of `tiny_bert`."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator([TEXT], trainer)
    merges = [tuple(pair) for pair in _merges(trained)]
    return make(vocab=trained.get_vocab(), merges=merges, model_max_length=POSITIONS)


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


def _merges(trained: Tokenizer) -> list[list[str]]:
    merges: list[list[str]] = json.loads(trained.to_str())["model"]["merges"]
    return merges


Build = Callable[[int, dict[int, str]], PreTrainedModel]


def network(kind: type[PreTrainedModel], **sizes: object) -> Build:
    """Return what builds a network of a vocabulary and outputs; `sizes` beside those of BERT."""

    def build(size: int, names: dict[int, str]) -> PreTrainedModel:
        config: Any = kind.config_class
        usual = {each.name: SHAPE[each.name] for each in fields(config) if each.name in SHAPE}
        return kind(config(vocab_size=size, id2label=names, **(usual | sizes)))

    return build


def _deberta_tokenizer() -> PreTrainedTokenizerBase:
    """Return a tokenizer that joins two texts as DeBERTa was trained."""
    tokenizer = byte_pairs(DebertaTokenizerFast, DEBERTA)
    restore_post_processor(tokenizer, Path("no-such-folder"))
    return tokenizer


ALBERT = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
XLNET = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]
DEBERTA = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
BERT = network(BertForSequenceClassification)
OF_ROBERTA = {"max_position_embeddings": POSITIONS + 2, "pad_token_id": 1}  # numbered from 2
OF_XLNET = {"d_model": 32, "n_layer": 2, "n_head": 2, "d_inner": 64}
NARROW = {"embedding_size": 16}  # ELECTRA and ALBERT widen the vectors behind the embeddings
RELATIVE = {"relative_attention": True, "type_vocab_size": 0}
AS_V3 = {"position_buckets": 16, "norm_rel_ebd": "layer_norm", "share_att_key": True}
HALVES = {
    f"{half}_{name}": value
    for half in ("encoder", "decoder")
    for name, value in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 64))
}
MODELS: dict[str, tuple[Callable[[], PreTrainedTokenizerBase], Build]] = {
    "bert": (word_piece, BERT),
    "roberta": (byte_pairs, network(RobertaForSequenceClassification, **OF_ROBERTA)),
    "distilbert": (
        word_piece,
        network(DistilBertForSequenceClassification, dim=32, n_layers=2, n_heads=2, hidden_dim=64),
    ),
}
FAMILY = MODELS | {
    "spanbert": (partial(word_piece, cased=True), BERT),
    "electra": (word_piece, network(ElectraForSequenceClassification, **NARROW)),
    "albert": (
        partial(unigram, AlbertTokenizerFast, ALBERT),
        network(AlbertForSequenceClassification, **NARROW, bos_token_id=2, eos_token_id=3),
    ),
    "xlnet": (
        partial(unigram, XLNetTokenizerFast, XLNET),
        network(
            XLNetForSequenceClassification,
            d_model=32,
            n_layer=2,
            n_head=2,
            d_inner=64,
            pad_token_id=5,
        ),
    ),
    "bart": (
        byte_pairs,
        network(BartForSequenceClassification, **HALVES, d_model=32, init_std=INITIALISER_RANGE),
    ),
    "deberta": (
        _deberta_tokenizer,
        network(DebertaForSequenceClassification, **RELATIVE, pos_att_type=["c2p", "p2c"]),
    ),
    "deberta-v2": (
        partial(unigram, DebertaV2TokenizerFast, DEBERTA),
        network(
            DebertaV2ForSequenceClassification,
            **RELATIVE,
            **AS_V3,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
        ),
    ),
}
"""Every architecture; most tests look at the first three only, `test_architectures` at all."""
RELATIVES = {
    "camembert": (byte_pairs, network(CamembertForSequenceClassification, **OF_ROBERTA)),
    "xlm-roberta": (byte_pairs, network(XLMRobertaForSequenceClassification, **OF_ROBERTA)),
    "mpnet": (byte_pairs, network(MPNetForSequenceClassification, **OF_ROBERTA)),
}
"""Built as RoBERTa is; fast mode cuts each by its own layout."""


def tiny_classifier(
    kind: str = "bert", seed: int = 0, order: tuple[Label, ...] = LABELS
) -> Classifier:
    """Return a classifier with random weights, the same for the same seed."""
    tokenizer_of, build = (FAMILY | RELATIVES)[kind]
    tokenizer = tokenizer_of()
    if kind == "distilbert":
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    if architecture(kind).segment_ids:
        give_segment_ids(tokenizer)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = build(len(tokenizer), dict(enumerate(order)))
    task = next(task for task in TASKS.values() if sorted(task.labels) == sorted(order))
    return Classifier(f"tiny-{kind}", model.eval(), tokenizer, task, order, torch.device("cpu"))


@cache
def shared(kind: str = "bert") -> Classifier:
    """Return one such classifier for the tests that only look at it."""
    return tiny_classifier(kind)
