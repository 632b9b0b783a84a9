"""Word-level models small enough for a test: random weights, a real tokenizer."""

from copy import deepcopy

import torch
from transformers import AutoModelForSequenceClassification, PreTrainedConfig

from probe.models.classifier import Classifier
from probe.models.word_models.decomposable import DecomposableConfig
from probe.models.word_models.esim import EsimConfig
from probe.models.word_models.word_tokenizer import SPECIAL, word_tokenizer
from probe.tasks.nli import LABELS, NLI

TEXT = "the a man woman dog is was n't not do 's john sleeping here there . ,"
WORDS = (*SPECIAL, *TEXT.split())
SIZES = {"vocab_size": len(WORDS), "word_size": 8, "hidden_size": 6, "num_labels": 3}
CONFIGS: dict[str, PreTrainedConfig] = {
    "da": DecomposableConfig(**SIZES),
    "esim": EsimConfig(**SIZES),
    "esim_char": EsimConfig(**SIZES, characters=True, character_size=4, character_hidden=3),
}


def word_classifier(kind: str, seed: int = 0) -> Classifier:
    """Return a classifier with random weights, the same for the same seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForSequenceClassification.from_config(deepcopy(CONFIGS[kind]))
        for weight in model.parameters():  # far from zero, so that answers differ
            torch.nn.init.normal_(weight, std=0.3)
    tokenizer = word_tokenizer(WORDS, characters=kind == "esim_char")
    return Classifier(f"tiny-{kind}", model.eval(), tokenizer, NLI, LABELS, torch.device("cpu"))
