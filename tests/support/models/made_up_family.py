"""A model family that the project has never heard of: its class, its config, its tokenizer."""

from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertTokenizerFast,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from probe.tasks.nli import LABELS
from tests.support.models.tiny_models import word_piece


class MadeUpConfig(PreTrainedConfig):
    """Sizes of the model."""

    model_type = "made-up"

    def __init__(self, vocab_size: int = 600, width: int = 16, blocks: int = 3, **options: Any):
        self.vocab_size, self.width, self.blocks = vocab_size, width, blocks
        self.max_position_embeddings = 128
        super().__init__(**options)


class Embeddings(nn.Module):
    """Looks tokens up unless their vectors are given, and tells the sides apart."""

    def __init__(self, config: MadeUpConfig) -> None:
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.width)
        self.sides = nn.Embedding(2, config.width)

    def forward(
        self,
        ids: torch.Tensor | None,
        inputs_embeds: torch.Tensor | None,
        sides: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return (batch, tokens, width)."""
        vectors = self.words(ids) if inputs_embeds is None else inputs_embeds
        total: torch.Tensor = vectors + self.sides(sides)
        return total


class Block(nn.Module):
    """Adds to each token a function of itself and of the mean of all tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix = nn.Linear(2 * width, width)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return (batch, tokens, width)."""
        weights = mask[..., None].to(states.dtype)
        mean = ((states * weights).sum(1) / weights.sum(1))[:, None].expand_as(states)
        total: torch.Tensor = states + self.mix(torch.cat([states, mean], -1)).tanh()
        return total


class Backbone(nn.Module):
    """Embeddings and a tower of blocks."""

    def __init__(self, config: MadeUpConfig) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        self.tower = nn.Module()
        self.tower.blocks = nn.ModuleList(Block(config.width) for _ in range(config.blocks))

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor]:
        """Return the states."""
        states = self.embeddings(input_ids, inputs_embeds, token_type_ids)
        for block in self.tower.get_submodule("blocks").children():
            states = block(states, attention_mask)
        return (states,)


class MadeUpForSequenceClassification(PreTrainedModel):
    """The classifier behind the Auto classes."""

    config_class = MadeUpConfig
    config: MadeUpConfig
    base_model_prefix = "backbone"

    def __init__(self, config: MadeUpConfig) -> None:
        super().__init__(config)
        self.backbone = Backbone(config)
        self.dropout = nn.Dropout(0.1)
        self.outputs = nn.Linear(config.width, int(config.num_labels or 3))
        self.post_init()  # type: ignore[no-untyped-call]

    def get_input_embeddings(self) -> nn.Module:
        """Return what looks words up."""
        return self.backbone.embeddings.words

    def forward(self, **inputs: Any) -> SequenceClassifierOutput:  # Any: tensors and flags
        """Classify by the first token."""
        names = ("input_ids", "attention_mask", "token_type_ids", "inputs_embeds")
        (states,) = self.backbone(**{name: inputs[name] for name in names if name in inputs})
        return SequenceClassifierOutput(logits=self.outputs(self.dropout(states[:, 0])))


def made_up_model(folder: Path) -> Path:
    """Register the family, write a model with random weights and return its folder."""
    AutoConfig.register(MadeUpConfig.model_type, MadeUpConfig, exist_ok=True)
    AutoModelForSequenceClassification.register(
        MadeUpConfig, MadeUpForSequenceClassification, exist_ok=True
    )
    AutoTokenizer.register(MadeUpConfig, fast_tokenizer_class=BertTokenizerFast, exist_ok=True)
    tokenizer = word_piece()
    labels = dict(enumerate(LABELS))
    config = MadeUpConfig(
        len(tokenizer), id2label=labels, label2id={label: id_ for id_, label in labels.items()}
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = MadeUpForSequenceClassification(config)
        for weight in model.parameters():  # far from zero, so that answers differ
            nn.init.normal_(weight, std=0.5)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
