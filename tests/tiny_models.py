"""BERT, RoBERTa and DistilBERT in memory: random weights, real WordPiece and byte-level BPE."""

import json
from collections.abc import Callable
from functools import cache

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertTokenizerFast,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    RobertaConfig,
    RobertaForSequenceClassification,
    RobertaTokenizerFast,
)

from probe.labels import LABELS, Label
from probe.models.classifier import Classifier
from tests.tiny import LETTERS, MARKS, SPECIAL, SUFFIXES, TEXT

POSITIONS = 128
SHAPE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
# weights ten times the usual: an untrained model of the usual ones says 1/3 to everything
SPREAD = 0.2


def word_piece() -> PreTrainedTokenizerBase:
    """Return a lower-casing tokenizer of whole words, letters and a few endings."""
    letters = [*LETTERS, *(f"##{letter}" for letter in LETTERS)]
    words = list(dict.fromkeys([*SPECIAL, *MARKS, *letters, *SUFFIXES, *TEXT.split()]))
    vocabulary = {word: id_ for id_, word in enumerate(words)}
    return BertTokenizerFast(vocab=vocabulary, model_max_length=POSITIONS)


def byte_pairs() -> PreTrainedTokenizerBase:
    """Return a byte-level tokenizer whose merges come from the words of `tests.tiny`."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator([TEXT], trainer)
    merges = [tuple(pair) for pair in _merges(trained)]
    return RobertaTokenizerFast(
        vocab=trained.get_vocab(), merges=merges, model_max_length=POSITIONS
    )


def _merges(trained: Tokenizer) -> list[list[str]]:
    found: list[list[str]] = json.loads(trained.to_str())["model"]["merges"]
    return found


def _bert(size: int, names: dict[int, str]) -> PreTrainedModel:
    return BertForSequenceClassification(
        BertConfig(
            vocab_size=size,
            intermediate_size=64,
            max_position_embeddings=POSITIONS,
            initializer_range=SPREAD,
            id2label=names,
            **SHAPE,
        )
    )


def _roberta(size: int, names: dict[int, str]) -> PreTrainedModel:
    return RobertaForSequenceClassification(
        RobertaConfig(
            vocab_size=size,
            intermediate_size=64,
            max_position_embeddings=POSITIONS + 2,  # numbered from padding_idx + 1 = 2
            initializer_range=SPREAD,
            pad_token_id=1,
            id2label=names,
            **SHAPE,
        )
    )


def _distilbert(size: int, names: dict[int, str]) -> PreTrainedModel:
    return DistilBertForSequenceClassification(
        DistilBertConfig(
            vocab_size=size,
            dim=32,
            n_layers=2,
            n_heads=2,
            hidden_dim=64,
            max_position_embeddings=POSITIONS,
            initializer_range=SPREAD,
            id2label=names,
        )
    )


Build = Callable[[int, dict[int, str]], PreTrainedModel]
MODELS: dict[str, tuple[Callable[[], PreTrainedTokenizerBase], Build]] = {
    "bert": (word_piece, _bert),
    "roberta": (byte_pairs, _roberta),
    "distilbert": (word_piece, _distilbert),
}


def tiny_classifier(
    kind: str = "bert", seed: int = 0, order: tuple[Label, ...] = LABELS
) -> Classifier:
    """Return a classifier with random weights, the same for the same seed."""
    tokenizer_of, build = MODELS[kind]
    tokenizer = tokenizer_of()
    if kind == "distilbert":
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = build(len(tokenizer), dict(enumerate(order)))
    return Classifier(f"tiny-{kind}", model.eval(), tokenizer, order, torch.device("cpu"))


@cache
def shared(kind: str = "bert") -> Classifier:
    """Return one such classifier for the tests that only look at it."""
    return tiny_classifier(kind)
