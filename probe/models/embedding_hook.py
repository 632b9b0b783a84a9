"""Where the vectors of tokens enter a model, so that importance can be taken there.

Most architectures look every token up once, in their word embeddings. Three differ: BART and T5
read the same tokens twice, XLNet turns its input to (tokens, batch) before it looks them up, and
some (DeBERTa, ModernBERT, Bloom, Funnel) normalise the bare word vectors. A normalised vector keeps
only its direction, so a gradient times such a vector is zero whatever the token means; there the
normalised vectors are taken.

Behind the words come positions and segments. Their sum, normalised, is the output of the whole
embedding layer.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import local

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle
from transformers import PreTrainedModel

from probe.errors import AttributionError
from probe.models.architectures import architecture

Tensors = dict[str, torch.Tensor]
Change = Callable[[int, torch.Tensor], torch.Tensor]
"""From the number of a layer and what it puts out to what is taken in its place."""


@dataclass(frozen=True)
class EmbeddingHook:
    """`layers` put out token vectors, batch first, when the model is called with `feed(inputs)`.

    They are one, or an encoder's and a decoder's. `where` says in words where vectors are taken.
    """

    layers: list[nn.Module]
    feed: Callable[[Tensors], Tensors] = dict
    where: str = "at the word vectors"

    def join(self, results: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return one result for each token of `input_ids`, those of both layers added.

        The decoder reads each token one place later than the encoder.  # (batch, tokens, ...) each
        """
        total, *decoders = results
        for decoder in decoders:
            total = total.clone()
            total[:, :-1] += decoder[:, 1:]
        return total

    def spread(self, values: torch.Tensor) -> list[torch.Tensor]:
        """Return what each layer's tokens have of a value of each token.  # (batch, tokens)"""
        later = torch.zeros_like(values)
        later[:, 1:] = values[:, :-1]
        return [values, later][: len(self.layers)]


class Changeable:
    """Lets what the layers of a hook put out be changed, in the passes of one thread alone.

    Other threads may run the same network meanwhile: their vectors stay as they are.
    """

    def __init__(self, hook: EmbeddingHook) -> None:
        """Hook nothing yet."""
        self._layers, self._own, self._hooks = hook.layers, local(), list[RemovableHandle]()

    def __enter__(self) -> "Changeable":
        def put_out(number: int, _: nn.Module, __: object, vectors: torch.Tensor) -> object:
            change: Change | None = getattr(self._own, "change", None)
            return change(number, vectors) if change else None

        for number, layer in enumerate(self._layers):
            self._hooks.append(layer.register_forward_hook(partial(put_out, number)))
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._hooks:
            handle.remove()

    @contextmanager
    def by(self, change: Change) -> Iterator[None]:
        """Change what this thread's passes read until the block ends."""
        self._own.change = change
        try:
            yield
        finally:
            del self._own.change


ADDING = ("deberta", "deberta-v2")
"""Of the architectures with a norm behind the words, those whose configs may add positions."""


def embedding_hook(model: PreTrainedModel) -> EmbeddingHook:
    """Return where this model's token vectors enter. Raises AttributionError where none do."""
    config, facts = model.config, architecture(model.config.model_type)
    lookup = model.get_input_embeddings()
    if facts.embedding == "quantised":
        raise AttributionError(
            f"the word vectors of a {config.model_type} model are whole numbers without gradient"
        )
    if facts.embedding == "external":
        outside = nn.Sequential(lookup)  # of its own: outside the model

        def feed(inputs: Tensors) -> Tensors:
            others = {name: value for name, value in inputs.items() if name != "input_ids"}
            return others | {"inputs_embeds": outside(inputs["input_ids"])}

        return EmbeddingHook([outside], feed)
    added = getattr(config, "position_biased_input", False) or getattr(config, "type_vocab_size", 0)
    # where something is added to the words, the norm is behind that
    if facts.embedding == "normalised" and not (config.model_type in ADDING and added):
        norm = model.base_model.get_submodule(facts.norm)
        return EmbeddingHook([norm], where="behind the norm of the word vectors")
    if facts.embedding == "encoder_decoder" or config.is_encoder_decoder:
        return EmbeddingHook([model.get_encoder().embed_tokens, model.get_decoder().embed_tokens])
    return EmbeddingHook([lookup])


def whole_embedding_hook(model: PreTrainedModel, words: EmbeddingHook) -> EmbeddingHook:
    """Return where a model's whole embedding layer puts vectors out.

    That is where its words enter if nothing is added to them, or it is not known where.
    """
    path = architecture(model.config.model_type).embedding_layer
    both = len(words.layers) > 1
    parts = [model.get_encoder(), model.get_decoder()] if both else [model.base_model]
    found = [dict(part.named_modules()).get(path) for part in parts]
    layers = [layer for layer in found if layer and layer is not model.get_input_embeddings()]
    if len(layers) != len(words.layers):
        return words
    return replace(words, layers=layers, where="at the output of the whole embedding layer")
