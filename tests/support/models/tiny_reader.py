"""A reader small enough for a test: a tiny BERT with a span head of random weights."""

from pathlib import Path

import torch
from transformers import BertConfig, BertForQuestionAnswering

from tests.support.models.tiny_bert import tiny_bert


def tiny_reader(folder: Path) -> Path:
    """Write a reader, always the same; return its folder."""
    config = BertConfig.from_pretrained(tiny_bert(folder), num_labels=2)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = BertForQuestionAnswering(config)
    model.save_pretrained(folder)
    return folder
