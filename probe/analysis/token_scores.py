"""The scores of a batch's tokens for F = log p(label), through Captum where gradients are taken.

A token is left out by its vector, where words enter the model: its id stays, so that the model
numbers positions, and finds the token that it reads, as before.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from captum.attr import IntegratedGradients, LayerGradientXActivation

from probe.analysis.importance import METHODS, BaselineToken, Method
from probe.errors import AttributionError
from probe.models.embedding_hook import (
    Changeable,
    EmbeddingHook,
    Tensors,
    embedding_hook,
    whole_embedding_hook,
)
from probe.models.text_model import BATCH_TOKENS, Explainable, TextModel
from probe.stopping import check_stop

COPIED_TOKENS: Mapping[str, int] = {"cpu": 1024, "cuda": BATCH_TOKENS["cuda"]}
"""Of a batch of copies, each with another token left out, or of steps on a path."""
MOST_SECONDS, AGREEMENT = 5.0, 0.05
"""Of integrated gradients: the time that each example may take, however many are explained at once;
and how near to the change of F the sum is, until which steps are doubled."""
LEAST_GAP = 1e-3
"""The difference of F that is none: two texts of equal F have a sum without a scale."""
VANISHING = 1e-3
"""The share of what a gradient's products come to one by one that their sum is at least, unless
they cancel: of a vector that is normalised next they do, and what is left is rounding. For vectors
without such a norm it is about the square root of their size below 1."""


@dataclass(frozen=True)
class TokenScores:
    """Scores for F, and what is known of how far they can be trusted, of each example.

    `gap` is their sum less the change of F from the baseline, and `change` that change, both of
    integrated gradients alone; `vanish` says that a gradient times the vector is nothing but
    rounding. `where` says in words where they were taken. `rest` is the share of all scores, by
    their size, that tokens of no text have, where a prompt stands around the texts.
    """

    scores: torch.Tensor  # (batch, places)
    gap: torch.Tensor | None = None  # (batch,)
    change: torch.Tensor | None = None  # (batch,)
    steps: int = 0
    vanish: torch.Tensor | None = None  # (batch,) boolean
    where: str = ""
    rest: torch.Tensor | None = None  # (batch,)

    def misses(self, row: int) -> bool:
        """Whether the sum of integrated gradients is off by more than `AGREEMENT`."""
        assert self.gap is not None and self.change is not None
        return bool(_off(self.gap, self.change)[row])


def _off(gap: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
    return gap.abs() > (AGREEMENT * change.abs()).clamp(min=LEAST_GAP)


def token_scores(
    model: TextModel,
    batch: Explainable,
    method: Method,
    baseline: BaselineToken,
    steps: int,
    most_steps: int,
) -> TokenScores:
    """Return scores for F.

    Raises what `probe.analysis.importance.attribute` raises.
    """
    asked = METHODS[method]
    words = embedding_hook(model.model)
    place = words if asked.place == "words" else whole_embedding_hook(model.model, words)
    tensors = {name: value.to(model.model.device) for name, value in batch.inputs.items()}
    if not asked.replaces:
        return gradients(model, batch, tensors, place, asked.kind == "saliency")
    token = getattr(model.tokenizer, f"{baseline}_token_id")
    if token is None:
        raise AttributionError(f"this model has no {baseline} token; choose another baseline")
    if not (batch.numbers >= 0).any():
        return TokenScores(batch.summed(torch.zeros(tensors["input_ids"].shape)))
    left_out = LeftOut(words, vector_of(model, batch, tensors, words, token))
    if asked.kind == "occlusion":
        scores = left_out_scores(model, batch, tensors, left_out, columns_of(batch))
        return TokenScores(scores, where=words.where)
    return _integrated(model, batch, tensors, left_out, place, steps, most_steps)


def gradients(
    model: TextModel, batch: Explainable, tensors: Tensors, place: EmbeddingHook, saliency: bool
) -> TokenScores:
    """Return gradient × vector where the vectors are taken, or the gradient's length."""
    names, scoring = list(tensors), model.at("fp32")

    def f(*values: torch.Tensor) -> torch.Tensor:
        check_stop()
        inputs = place.feed(dict(zip(names, values, strict=True)))
        return batch.log_probability(scoring, inputs)

    layered = LayerGradientXActivation(f, place.layers, multiply_by_inputs=not saliency)
    with model.lock:
        values = [each.detach() for each in layered.attribute(tuple(tensors.values()))]
    joined = place.join(values)  # (batch, tokens, size)
    scores = joined.norm(dim=-1) if saliency else joined.sum(-1)
    words = (batch.numbers >= 0).to(scores)
    own, each = scores.abs()[:, : words.shape[1]], len(batch.places)
    inside, whole = ((v.view(each, -1).sum(1)) for v in (own * words, own))
    rest = (1 - inside / whole).nan_to_num() if batch.units is not None else None
    if saliency:
        return TokenScores(batch.summed(scores), where=place.where, rest=rest)
    products = joined.abs().sum(-1)[:, : words.shape[1]]
    largest, expected = ((v * words).view(each, -1).amax(1) for v in (own, products))
    vanish = largest < VANISHING * expected
    return TokenScores(batch.summed(scores), vanish=vanish, where=place.where, rest=rest)


@dataclass(frozen=True)
class LeftOut:
    """Where words enter a model, and the vector that stands there for none, of each layer."""

    words: EmbeddingHook
    empty: Sequence[torch.Tensor]  # (size,) each

    @contextmanager
    def without(self, changeable: Changeable, tokens: torch.Tensor) -> Iterator[None]:
        """Leave tokens out of this thread's passes.  # (batch, tokens) boolean"""
        spread = self.words.spread(tokens)

        def change(number: int, vectors: torch.Tensor) -> torch.Tensor:
            gone = torch.zeros(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
            gone[:, : tokens.shape[1]] = spread[number]  # some models pad behind it
            return torch.where(gone[..., None], self.empty[number].to(vectors), vectors)

        with changeable.by(change):
            yield


def left_out_scores(
    model: TextModel,
    batch: Explainable,
    tensors: Tensors,
    left_out: LeftOut,
    columns: torch.Tensor,
) -> torch.Tensor:
    """Return F less F without the token of each column; 0 for other tokens.  # (batch, places)"""

    def run(network: TextModel, copies: Tensors, gone: torch.Tensor) -> torch.Tensor:
        with left_out.without(changeable, gone):
            return batch.log_probability(network, left_out.words.feed(copies))

    with Changeable(left_out.words) as changeable:
        values = copies_without(model, tensors, batch.numbers, whole_and(columns), run)
    there = batch.summed((batch.numbers >= 0).to(values))
    scores = torch.zeros_like(there)
    scores[:, columns] = (values[0] - values[1:]).T
    return scores.masked_fill(there == 0, 0)


WHOLE = -2
"""In the place of a column: no token is left out."""


def columns_of(batch: Explainable) -> torch.Tensor:
    """Return the numbers of the places that a batch's texts have.  # (columns,)"""
    numbers: torch.Tensor = batch.numbers.unique()
    return numbers[numbers >= 0]


def whole_and(columns: torch.Tensor) -> torch.Tensor:
    """Return columns behind the one of no token."""
    return torch.cat([columns.new_tensor([WHOLE]), columns])


Run = Callable[[Any, Tensors, torch.Tensor], torch.Tensor]
"""From a model, copies of its inputs and which of their words to do without  # (rows, tokens)
to F of each row.  # (rows,)  Any: a model of the type that is asked"""


def copies_without(
    model: TextModel, tensors: Tensors, numbers: torch.Tensor, columns: torch.Tensor, run: Run
) -> torch.Tensor:
    """Return F of each example once for each column; `numbers` are the batch's.  # (columns, batch)

    Several copies go through the model together, side by side where it allows that; between two
    groups of them others may use it.
    """
    rows, length = tensors["input_ids"].shape
    columns, numbers = columns.to(model.device), numbers.to(model.device)

    def f(network: TextModel, part: torch.Tensor) -> torch.Tensor:  # (copies, batch)
        copies = {
            name: value.repeat(len(part), *[1] * (value.ndim - 1))
            for name, value in tensors.items()
        }
        gone = numbers == part[:, None, None]
        return run(network, copies, gone.flatten(0, 1)).view(len(part), -1)

    # equally many in as many parts as run side by side
    most = max(1, COPIED_TOKENS[model.device.type] // (rows * length))
    parts = -(-len(columns) // (most * model.batches_at_once)) * model.batches_at_once
    size = max(1, -(-len(columns) // parts))
    return torch.cat([value for _, value in model.each("fp32", columns.split(size), f)])


def _integrated(
    model: TextModel,
    batch: Explainable,
    tensors: Tensors,
    left_out: LeftOut,
    place: EmbeddingHook,
    steps: int,
    most_steps: int,
) -> TokenScores:
    """Integrate from the text without its words, whose vectors alone are others, in more steps.

    The steps of a path are stacked: (steps * batch, ...).
    """
    names, words = list(tensors), (batch.numbers >= 0).to(tensors["input_ids"].device)
    count, began, scoring = len(place.layers), time.monotonic(), model.at("fp32")
    rows, length = tensors["input_ids"].shape
    most = max(1, COPIED_TOKENS[model.device.type] // (rows * length)) * rows

    def f(*values: torch.Tensor) -> torch.Tensor:
        check_stop()
        inputs = dict(zip(names, values[count:], strict=True))
        with model.lock, Changeable(place) as put, put.by(lambda number, _: values[number]):
            return batch.log_probability(scoring, place.feed(inputs))

    whole = vectors(model, batch, tensors, place)
    with model.lock, Changeable(left_out.words) as changeable, left_out.without(changeable, words):
        empty = vectors(model, batch, tensors, place)
    extra = tuple(tensors.values())
    with torch.no_grad():
        change = f(*whole, *extra) - f(*empty, *extra)
    scores, gap, open_rows = None, torch.zeros_like(change), torch.ones_like(change).bool()
    while True:
        value = IntegratedGradients(f).attribute(
            whole,
            baselines=empty,
            additional_forward_args=extra,
            n_steps=steps,
            internal_batch_size=most,
        )
        all_scores = place.join(value).detach().sum(-1)
        new, total = batch.summed(all_scores), all_scores.view(len(change), -1).sum(1)
        scores = new if scores is None else torch.where(open_rows[:, None], new, scores)
        gap = torch.where(open_rows, total - change, gap)
        open_rows = _off(gap, change)
        taken = (time.monotonic() - began) / len(change)
        late = 2 * taken > MOST_SECONDS  # the next steps take as long as all so far
        if not open_rows.any() or 2 * steps > most_steps or late:
            return TokenScores(scores, gap, change, steps, where=place.where)
        steps *= 2


class _Seen(Exception):
    """All layers have put their vectors out; what comes behind them is not needed."""


def vectors(
    model: TextModel, batch: Explainable, tensors: Tensors, place: EmbeddingHook
) -> tuple[torch.Tensor, ...]:
    """Return what each layer puts out.  # (batch, tokens, size) each"""
    seen: dict[int, torch.Tensor] = {}

    def look(number: int, found: torch.Tensor) -> torch.Tensor:
        seen[number] = found.detach()
        if len(seen) == len(place.layers):
            raise _Seen
        return found

    with torch.no_grad(), model.lock, Changeable(place) as changeable, changeable.by(look):
        try:
            batch.log_probability(model, place.feed(dict(tensors)))
        except _Seen:
            return tuple(seen[number] for number in sorted(seen))
    raise AttributionError("this model does not look its tokens up where its embeddings are")


def vector_of(
    model: TextModel, batch: Explainable, tensors: Tensors, words: EmbeddingHook, token: int
) -> Sequence[torch.Tensor]:
    """Return a token's vector where words enter, of each layer; it has no letters.  # (size,)"""
    mask, ids = batch.numbers >= 0, tensors["input_ids"]
    first = mask & (mask.flatten().cumsum(0) == 1).view_as(mask)
    replaced = {**tensors, "input_ids": torch.where(first.to(ids.device), token, ids)}
    if "character_ids" in tensors:
        replaced["character_ids"] = torch.zeros_like(tensors["character_ids"])
    found = vectors(model, batch, replaced, words)
    where = words.spread(first)
    return [
        each[:, : first.shape[1]][at.to(each.device)][0]
        for each, at in zip(found, where, strict=True)
    ]
