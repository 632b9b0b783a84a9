"""The spans of a window of a passage: their scores, and the best of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

MAX_ANSWER_TOKENS = 30
"""The longest answer in sub-words."""
LOOKED_AT = 200
"""Spans among which the best ones that do not overlap are sought."""
Place = tuple[int, int] | None
"""The characters of the passage that a token stands for, None for one that is not of it."""


@dataclass(frozen=True)
class ScoredSpan:
    """A span in characters of the passage, and the sum of its two logits."""

    start: int
    end: int
    score: float


@dataclass(frozen=True)
class WindowSpans:
    """The best spans of a window, the best first; none where it holds nothing of the passage.

    `total` is the logarithm of the sum of the exponentials of all its spans' scores.
    """

    best: tuple[ScoredSpan, ...]
    total: float


def span_scores(start: torch.Tensor, end: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """Return the score of each span from a first to a last token, -inf for what is none.

    `start` and `end` are the logits, `inside` says which tokens are of the passage.
    # (rows, tokens) each -> (rows, first, last)
    """
    import torch

    steps = torch.arange(start.shape[1], device=start.device)
    distance = steps[None, :] - steps[:, None]
    allowed = (distance >= 0) & (distance < MAX_ANSWER_TOKENS)
    allowed = allowed[None] & inside[:, :, None] & inside[:, None, :]
    return (start[:, :, None] + end[:, None, :]).masked_fill(~allowed, -math.inf)


def best_spans(
    start: torch.Tensor, end: torch.Tensor, places: Sequence[Place], count: int
) -> WindowSpans:
    """Return the best spans of a window that do not overlap by its logits, of equal ones the first.

    `places` are those of the tokens, without padding.  # (tokens,)
    """
    import torch

    places = [*places, *[None] * (len(start) - len(places))]
    inside = torch.tensor([place is not None for place in places], device=start.device)
    scores = span_scores(start[None], end[None], inside[None]).flatten()
    best = list[ScoredSpan]()
    for at in torch.sort(scores, descending=True, stable=True).indices[:LOOKED_AT].tolist():
        first, last = places[at // len(places)], places[at % len(places)]
        if len(best) == count or not first or not last:
            break  # what follows is no span either
        if all(last[1] <= other.start or other.end <= first[0] for other in best):
            best.append(ScoredSpan(first[0], last[1], float(scores[at])))
    return WindowSpans(tuple(best), float(torch.logsumexp(scores, 0)))


def tokens_of(places: Sequence[Place], start: int, end: int) -> tuple[int, int] | None:
    """Return the first and the last token of the characters, None where they are not all there."""
    inside = [at for at, each in enumerate(places) if each and each[0] < end and each[1] > start]
    if not inside:
        return None
    first, last = places[inside[0]], places[inside[-1]]
    whole = first and last and first[0] <= start and last[1] >= end
    return (inside[0], inside[-1]) if whole else None
