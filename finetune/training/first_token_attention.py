"""A last layer that computes its first token alone, where the head of a classifier looks."""

from copy import copy
from typing import Any

import torch
from torch import nn
from torch.nn.functional import dropout


class FirstTokenAttention(nn.Module):
    """BERT's attention with the first token's result alone; its weights are those of the whole.

    No token is projected: the query goes through the key's weights to the states instead of the
    states to the query, q (K h) = (q K) h, and the value's weights take the mean of the states
    instead of each. The key's bias adds the same to all scores, so that softmax does not see it.
    """

    def __init__(self, attention: nn.Module) -> None:
        """Take over the parts of an attention, named as there."""
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
        asked = torch.einsum("bhd,hdw->bhw", query, inner.key.weight.unflatten(0, shape))
        scores = asked @ states.transpose(1, 2)  # (batch, heads, tokens)
        if attention_mask is not None:
            row = attention_mask[:, 0, :1]
            boolean = row.dtype == torch.bool
            scores = scores.masked_fill(~row, -torch.inf) if boolean else scores + row
        shares = dropout(scores.softmax(-1), inner.dropout.p, self.training)
        value = inner.value.weight.unflatten(0, shape)
        read = torch.einsum("bhw,hdw->bhd", shares @ states, value)
        read = read + shares.sum(-1, keepdim=True) * inner.value.bias.view(shape)
        return self.output(read.flatten(1)[:, None], first), None


def first_token_only(attention: nn.Module) -> nn.Module:
    """Return an attention of any kind that gives back its first token alone."""
    made = copy(attention)
    made._forward_hooks = made._forward_hooks.copy()
    made.register_forward_hook(lambda _, __, output: (output[0][:, :1], *output[1:]))
    return made
