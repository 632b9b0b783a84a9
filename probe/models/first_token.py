"""A last layer that computes its first token alone, which is all that a classifier's head reads."""

from copy import copy
from typing import Any

import torch
from torch import nn
from torch.nn.functional import dropout
from transformers import PreTrainedModel

from probe.models.architectures import EncoderLayers, architecture


class FirstTokenAttention(nn.Module):
    """BERT's attention with the first token's result alone, on the same weights.

    No token is projected to keys or values: q (K h) = (q K) h, so the query is multiplied by the
    key's weights once, and the value's weights by the weighted mean of the states. The key's bias
    adds the same to all scores, which softmax ignores.
    """

    def __init__(self, attention: nn.Module) -> None:
        """Share the parts of an attention, under the same names."""
        super().__init__()
        self.self = attention.get_submodule("self")
        self.output = attention.get_submodule("output")

    def forward(
        self,
        states: torch.Tensor,  # (batch, tokens, width)
        attention_mask: torch.Tensor | None = None,  # (batch, 1, tokens, tokens), boolean or added
        **_: Any,  # what transformers hands to every attention
    ) -> tuple[torch.Tensor, None]:
        """Return (batch, 1, width)."""
        inner: Any = self.self  # one of transformers' classes, read by its parts
        shape = (inner.num_attention_heads, inner.attention_head_size)
        first = states[:, :1]
        query = inner.query(first).view(-1, *shape) * shape[1] ** -0.5
        projected = torch.einsum("bhd,hdw->bhw", query, inner.key.weight.unflatten(0, shape))
        scores = projected @ states.transpose(1, 2)  # (batch, heads, tokens)
        if attention_mask is not None:
            row = attention_mask[:, 0, :1]
            boolean = row.dtype == torch.bool
            scores = scores.masked_fill(~row, -torch.inf) if boolean else scores + row
        weights = dropout(scores.softmax(-1), inner.dropout.p, self.training)
        value = inner.value.weight.unflatten(0, shape)
        context = torch.einsum("bhw,hdw->bhd", weights @ states, value)
        context = context + weights.sum(-1, keepdim=True) * inner.value.bias.view(shape)
        return self.output(context.flatten(1)[:, None], first), None


def first_token_only(attention: nn.Module) -> nn.Module:
    """Return an attention of any kind that returns its first token alone, on the same weights."""
    shortened = copy(attention)
    shortened._forward_hooks = shortened._forward_hooks.copy()
    shortened.register_forward_hook(lambda _, __, output: (output[0][:, :1], *output[1:]))
    return shortened


def replaced(module: nn.Module, path: str, part: nn.Module | None) -> nn.Module:
    """Return a module with another part at a dotted path; it shares all its weights."""
    name, _, rest = path.partition(".")
    changed = copy(module)
    changed._modules = dict(module._modules)
    changed._modules[name] = replaced(module.get_submodule(name), rest, part) if rest else part
    return changed


def first_token_layer(layer: nn.Module, kind: str) -> nn.Module:
    """Return an encoder's layer that returns its first token alone, on the same weights.

    The kind is that of `probe.models.architectures.EncoderLayers.first_token`.
    """
    whole = layer.get_submodule("attention")
    attention = FirstTokenAttention(whole) if kind == "bert" else first_token_only(whole)
    attention.training = layer.training  # of this module alone: its parts are the layer's own
    return replaced(layer, "attention", attention)


def first_token_model(model: PreTrainedModel) -> PreTrainedModel:
    """Return a classifier whose last layer computes no more than the head reads.

    It shares all weights and says the same. An architecture whose head reads more, or of which
    that is not known, is returned as it is.
    """
    parts = architecture(model.config.model_type).frozen
    if not isinstance(parts, EncoderLayers) or not parts.first_token:
        return model
    layers = list(model.base_model.get_submodule(parts.layers).children())
    layers[-1] = first_token_layer(layers[-1], parts.first_token)
    path = f"{model.base_model_prefix}.{parts.layers}"
    shortened = replaced(model, path, nn.ModuleList(layers))
    assert isinstance(shortened, PreTrainedModel)  # a copy of one
    return shortened
