"""Word-level readers small enough for a test: random weights, a real tokenizer."""

from copy import deepcopy

import torch
from transformers import AutoModelForQuestionAnswering, PreTrainedConfig

from probe.models.reader import Reader
from probe.models.word_models.bidaf import BidafConfig
from probe.models.word_models.qanet import QanetConfig
from probe.models.word_models.word_tokenizer import SPECIAL, word_tokenizer
from probe.tasks.reading import Span
from tests.support.files.questions import asked

TEXT = "the a man woman dog baker teacher sat in park shop school who where what stood ? . ,"
WORDS = (*SPECIAL, *TEXT.split())
SIZES = {
    "vocab_size": len(WORDS),
    "word_size": 8,
    "hidden_size": 8,
    "character_size": 4,
    "filters": 5,
}
CONFIGS: dict[str, PreTrainedConfig] = {
    "bidaf": BidafConfig(**SIZES),
    "qanet": QanetConfig(**SIZES, blocks=2, heads=2),
}
PEOPLE, PLACES = ("man", "woman", "dog", "baker"), ("park", "shop", "school")
QUESTIONS = [
    asked(f"The {one} sat in the {place}.", "Who sat?", (Span(one, 4),), f"{one}-{place}")
    for one in PEOPLE
    for place in PLACES
]


def word_reader(kind: str, seed: int = 0, trained: bool = False) -> Reader:
    """Return a reader with initial weights, or random ones, as if `trained`."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForQuestionAnswering.from_config(deepcopy(CONFIGS[kind]))
        if trained:  # far from zero, so that answers differ
            for weight in model.parameters():
                torch.nn.init.normal_(weight, std=0.3)
    tokenizer = word_tokenizer(WORDS, characters=True)
    return Reader(f"tiny-{kind}", model.eval(), tokenizer, torch.device("cpu"))
