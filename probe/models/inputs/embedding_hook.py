"""Where the vectors of tokens enter a model, so that importance can be taken there.

Most architectures look every token up once, in their word embeddings. Three differ: BART reads the
same tokens twice, XLNet turns its input to (tokens, batch) before it looks them up, and DeBERTa v2
and v3 normalise the bare word vectors. A normalised vector keeps only its direction, so a gradient
times such a vector is zero whatever the token means; there the normalised vectors are taken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import nn
from transformers import PreTrainedModel

from probe.errors import AttributionError
from probe.models.architectures import Embedding, architecture

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class EmbeddingHook:
    """`layers` put out token vectors, batch first, when the model is called with `feed(inputs)`.

    `join` makes one result for each token of `input_ids` from those of the layers.
    """

    layers: list[nn.Module]
    feed: Callable[[Tensors], Tensors]
    join: Callable[[Sequence[torch.Tensor]], torch.Tensor]


class ExternalEmbedding(nn.Module):
    """Looks words up outside the model, which is then given their vectors."""

    def __init__(self, embeddings: nn.Module) -> None:
        super().__init__()
        self.embeddings = embeddings

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the vectors.  # (batch, tokens) -> (batch, tokens, size)"""
        vectors: torch.Tensor = self.embeddings(ids)
        return vectors


def _lookup(model: PreTrainedModel) -> EmbeddingHook:
    return EmbeddingHook(
        [model.get_input_embeddings()], lambda inputs: inputs, lambda results: results[0]
    )


def _normalised(model: PreTrainedModel) -> EmbeddingHook:
    config = model.config
    if config.position_biased_input or config.type_vocab_size:  # something is added before the norm
        return _lookup(model)
    norm = model.get_submodule(f"{model.base_model_prefix}.embeddings.LayerNorm")
    return replace(_lookup(model), layers=[norm])


def _external(model: PreTrainedModel) -> EmbeddingHook:
    lookup = ExternalEmbedding(model.get_input_embeddings())

    def feed(inputs: Tensors) -> Tensors:
        others = {name: value for name, value in inputs.items() if name != "input_ids"}
        return others | {"inputs_embeds": lookup(inputs["input_ids"])}

    return EmbeddingHook([lookup], feed, lambda results: results[0])


def _encoder_decoder(model: PreTrainedModel) -> EmbeddingHook:
    parts = [model.get_encoder(), model.get_decoder()]
    return EmbeddingHook([part.embed_tokens for part in parts], lambda inputs: inputs, _shifted)


def _shifted(results: Sequence[torch.Tensor]) -> torch.Tensor:
    """Add the decoder's result: it reads each token one place later than the encoder."""
    encoder, decoder = results  # (batch, tokens, size) each
    total = encoder.clone()
    total[:, :-1] += decoder[:, 1:]
    return total


def _quantised(model: PreTrainedModel) -> EmbeddingHook:
    kind = model.config.model_type
    raise AttributionError(f"the word vectors of a {kind} model are whole numbers without gradient")


EMBEDDING_HOOKS: Mapping[Embedding, Callable[[PreTrainedModel], EmbeddingHook]] = {
    "lookup": _lookup,
    "external": _external,
    "encoder_decoder": _encoder_decoder,
    "normalised": _normalised,
    "quantised": _quantised,
}


def embedding_hook(model: PreTrainedModel) -> EmbeddingHook:
    """Return where this model's token vectors enter."""
    return EMBEDDING_HOOKS[architecture(model.config.model_type).embedding](model)
