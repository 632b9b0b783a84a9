"""Word models small enough for a test: random weights, a real tokenizer, sides of texts."""

from copy import deepcopy
from typing import Any

import torch
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
)

from probe.models.classifier import Classifier
from probe.models.reader import Reader
from probe.models.word_models.bidaf import BidafConfig
from probe.models.word_models.decomposable import DecomposableConfig
from probe.models.word_models.esim import EsimConfig
from probe.models.word_models.layers import Side
from probe.models.word_models.qanet import QanetConfig
from probe.models.word_models.word_tokenizer import SPECIAL, word_tokenizer
from probe.tasks.nli import LABELS, NLI
from probe.tasks.reading import Span
from tests.support.files.questions import asked

TEXT = "the a man woman dog is was n't not do 's john sleeping here there . ,"
READER_TEXT = "the a man woman dog baker teacher sat in park shop school who where what stood ? . ,"
WORDS, READER_WORDS = ((*SPECIAL, *text.split()) for text in (TEXT, READER_TEXT))
SIZES = {"vocab_size": len(WORDS), "word_size": 8, "hidden_size": 6, "num_labels": 3}
CONFIGS: dict[str, PreTrainedConfig] = {
    "da": DecomposableConfig(**SIZES),
    "esim": EsimConfig(**SIZES),
    "esim_char": EsimConfig(**SIZES, characters=True, character_size=4, character_hidden=3),
}
READER_SIZES = {
    **{"vocab_size": len(READER_WORDS), "word_size": 8, "hidden_size": 8},
    **{"character_size": 4, "filters": 5},
}
READERS: dict[str, PreTrainedConfig] = {
    "bidaf": BidafConfig(**READER_SIZES),
    "qanet": QanetConfig(**READER_SIZES, blocks=2, heads=2),
}
QUESTIONS = [
    asked(f"The {one} sat in the {place}.", "Who sat?", (Span(one, 4),), f"{one}-{place}")
    for one in ("man", "woman", "dog", "baker")
    for place in ("park", "shop", "school")
]


def network(auto: Any, config: PreTrainedConfig, seed: int, trained: bool) -> PreTrainedModel:
    """Return a network with initial weights, or random ones, as if `trained`."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model: PreTrainedModel = auto.from_config(deepcopy(config))
        if trained:  # far from zero, so that answers differ
            for weight in model.parameters():
                torch.nn.init.normal_(weight, std=0.3)
    return model.eval()


def word_classifier(kind: str, seed: int = 0) -> Classifier:
    """Return a classifier with random weights, the same for the same seed."""
    model = network(AutoModelForSequenceClassification, CONFIGS[kind], seed, trained=True)
    tokenizer = word_tokenizer(WORDS, characters=kind == "esim_char")
    return Classifier(f"tiny-{kind}", model, tokenizer, NLI, LABELS)


def word_reader(kind: str, seed: int = 0, trained: bool = False) -> Reader:
    """Return a reader with initial weights, or random ones, as if `trained`."""
    model = network(AutoModelForQuestionAnswering, READERS[kind], seed, trained)
    tokenizer = word_tokenizer(READER_WORDS, characters=True)
    return Reader(f"tiny-{kind}", model, tokenizer)


def random(*shape: int) -> torch.Tensor:
    """Return normal numbers, always the same."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def side(vectors: torch.Tensor, *lengths: int) -> Side:
    """Return texts of so many words, padded behind.  # (texts, words, size)"""
    mask = torch.arange(vectors.shape[1]) < torch.tensor(lengths)[:, None]
    return Side(vectors, mask, mask)
