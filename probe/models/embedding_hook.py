"""Where the vectors of tokens enter a model, so that importance can be taken there.

Most architectures look every token up once, in their word embeddings. Three differ: BART and T5
read the same tokens twice, XLNet turns its input to (tokens, batch) before it looks them up, and
some (DeBERTa, ModernBERT, Bloom, Funnel) normalise the bare word vectors. A normalised vector keeps
only its direction, so a gradient times such a vector is zero whatever the token means; there the
normalised vectors are taken.

Behind the words come positions and segments. Their sum, normalised, is the output of the whole
embedding layer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import local

import torch
from torch import nn
from transformers import PreTrainedModel

from probe.errors import AttributionError
from probe.models.architectures import Embedding, architecture

Tensors = dict[str, torch.Tensor]
Change = Callable[[int, torch.Tensor], torch.Tensor]
"""From the number of a layer and what it puts out to what is taken in its place."""


@dataclass(frozen=True)
class EmbeddingHook:
    """`layers` put out token vectors, batch first, when the model is called with `feed(inputs)`.

    `join` makes one result for each token of `input_ids` from those of the layers, `spread` the
    value of each layer's tokens from one of each token.  # (batch, tokens) -> (batch, tokens) each
    `where` says in words where the vectors are taken.
    """

    layers: list[nn.Module]
    feed: Callable[[Tensors], Tensors]
    join: Callable[[Sequence[torch.Tensor]], torch.Tensor]
    spread: Callable[[torch.Tensor], Sequence[torch.Tensor]]
    where: str = "at the word vectors"


class Changeable:
    """Lets what the layers of a hook put out be changed, in the passes of one thread alone.

    Other threads may run the same network meanwhile: their vectors stay as they are.
    """

    def __init__(self, hook: EmbeddingHook) -> None:
        """Hook nothing yet."""
        self._layers, self._own = hook.layers, local()

    def __enter__(self) -> "Changeable":
        self._hooks = ExitStack()
        for number, layer in enumerate(self._layers):
            handle = layer.register_forward_hook(partial(self._put_out, number))
            self._hooks.callback(handle.remove)
        return self

    def __exit__(self, *_: object) -> None:
        self._hooks.close()

    def _put_out(
        self, number: int, _: nn.Module, __: object, vectors: torch.Tensor
    ) -> torch.Tensor | None:
        change: Change | None = getattr(self._own, "change", None)
        return change(number, vectors) if change else None

    @contextmanager
    def by(self, change: Change) -> Iterator[None]:
        """Change what this thread's passes read until the block ends."""
        self._own.change = change
        try:
            yield
        finally:
            del self._own.change


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
        [model.get_input_embeddings()],
        lambda inputs: inputs,
        lambda results: results[0],
        lambda values: [values],
    )


def _normalised(model: PreTrainedModel) -> EmbeddingHook:
    config = model.config
    added = getattr(config, "position_biased_input", False) or getattr(config, "type_vocab_size", 0)
    if model.config.model_type in ADDING and added:  # something is added before the norm
        return _lookup(model)
    norm = model.base_model.get_submodule(architecture(config.model_type).norm)
    return replace(_lookup(model), layers=[norm], where="behind the norm of the word vectors")


ADDING = ("deberta", "deberta-v2")
"""Of the architectures with a norm behind the words, those whose configs may add positions."""


def _external(model: PreTrainedModel) -> EmbeddingHook:
    lookup = ExternalEmbedding(model.get_input_embeddings())

    def feed(inputs: Tensors) -> Tensors:
        others = {name: value for name, value in inputs.items() if name != "input_ids"}
        return others | {"inputs_embeds": lookup(inputs["input_ids"])}

    return replace(_lookup(model), layers=[lookup], feed=feed)


def _encoder_decoder(model: PreTrainedModel) -> EmbeddingHook:
    parts = [model.get_encoder(), model.get_decoder()]
    return replace(
        _lookup(model), layers=[part.embed_tokens for part in parts], join=_joined, spread=_spread
    )


def _joined(results: Sequence[torch.Tensor]) -> torch.Tensor:
    """Add the decoder's result: it reads each token one place later than the encoder."""
    encoder, decoder = results  # (batch, tokens, size) each
    total = encoder.clone()
    total[:, :-1] += decoder[:, 1:]
    return total


def _spread(values: torch.Tensor) -> Sequence[torch.Tensor]:
    """Give the decoder the value of each token one place later."""
    later = torch.zeros_like(values)
    later[:, 1:] = values[:, :-1]
    return [values, later]


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
    kind = architecture(model.config.model_type).embedding
    if kind == "lookup" and model.config.is_encoder_decoder:
        kind = "encoder_decoder"
    return EMBEDDING_HOOKS[kind](model)


def whole_embedding_hook(model: PreTrainedModel, words: EmbeddingHook) -> EmbeddingHook:
    """Return where a model's whole embedding layer puts vectors out.

    That is where its words enter if nothing is added to them, or it is not known where.
    """
    path = architecture(model.config.model_type).embedding_layer
    parts = [model.get_encoder(), model.get_decoder()] if len(words.layers) > 1 else []
    found = [_module(part, path) for part in (parts or [model.base_model])]
    layers = [layer for layer in found if layer and layer is not model.get_input_embeddings()]
    if len(layers) != len(words.layers):
        return words
    return replace(words, layers=layers, where="at the output of the whole embedding layer")


def _module(part: nn.Module, path: str) -> nn.Module | None:
    """Return a module of a part by its path, None where it has none there."""
    return dict(part.named_modules()).get(path)
