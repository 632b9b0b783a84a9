"""A batch of examples in the form in which the importance of its tokens can be taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class TokenPlace:
    """A token of an example: its text's number among the task's, and where it stands in it."""

    text: int
    token: str
    id: int
    start: int
    end: int


@dataclass(frozen=True)
class Explainable:
    """The inputs of some examples, the place of each token, and the function that is explained.

    `places` has None for tokens of no text; padding at the end may be missing. `log_probability`
    takes the model, or it as it computes without gradients, and inputs like these, or several
    copies of them stacked, and returns for each row the logarithm of the probability of its label.
    # (copies * batch,)
    """

    inputs: Mapping[str, torch.Tensor]  # (batch, tokens) each
    places: Sequence[Sequence[TokenPlace | None]]
    # Any: a model of the type that made this
    log_probability: Callable[[Any, Mapping[str, torch.Tensor]], torch.Tensor]
