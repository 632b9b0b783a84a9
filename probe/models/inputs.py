"""Examples as tokens without padding, and batches of such as are about equally long."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from probe.errors import ModelError

if TYPE_CHECKING:
    import torch
    from transformers import BatchEncoding, PreTrainedModel


BATCH_TOKENS: Mapping[str, int] = {"cpu": 2048, "cuda": 16_384}
"""Of a scored batch, padding included: on a core more is not quicker, and a run is stopped between
two batches."""
SIDE_BY_SIDE_TOKENS = 1024
"""Of a batch that is scored beside others: as quick, and they take as much memory as one alone."""
BATCH_ROWS = 256
"""Of the shortest examples."""
FULL_TOKENS, SHORTER = 384, 0.8
"""A batch of so many tokens ends before an example that is shorter than this share of its longest:
few examples differ much in length, and padding them costs more than another batch."""


@dataclass(frozen=True)
class TokenRows:
    """The tokens of examples on one device, and the length of each example in tokens.

    Every input holds the tokens of all examples, one example after the other; `padding` is its
    value behind an example that is shorter than its batch, or before it with `left`.
    """

    inputs: Mapping[str, torch.Tensor]  # (all tokens, ...)
    padding: Mapping[str, int]
    left: bool
    lengths: Sequence[int]

    @property
    def device(self) -> torch.device:
        """Where the tokens lie."""
        return next(iter(self.inputs.values())).device

    @cached_property
    def starts(self) -> torch.Tensor:
        """Return where each example begins.  # (examples,)"""
        import torch

        lengths = torch.tensor(self.lengths, device=self.device)
        return lengths.cumsum(0) - lengths

    @property
    def size(self) -> int:
        """The bytes of the inputs."""
        return sum(value.nbytes for value in self.inputs.values())

    @property
    def digest(self) -> str:
        """A hash of the inputs: equal where all inputs are."""
        digest = hashlib.sha256(repr(list(self.lengths)).encode())
        for name, value in self.inputs.items():
            digest.update(name.encode())
            digest.update(value.contiguous().cpu().numpy().tobytes())
        return digest.hexdigest()

    def padded(self, rows: Sequence[int]) -> BatchEncoding:
        """Return the inputs of some examples, padded to their longest."""
        import torch
        from transformers import BatchEncoding

        row_numbers = torch.tensor(rows, device=self.device)
        lengths = torch.tensor([self.lengths[row] for row in rows], device=self.device)
        longest = max(self.lengths[row] for row in rows)
        before = (longest - lengths)[:, None] if self.left else 0  # an example's first token
        positions = torch.arange(longest, device=self.device) - before
        is_token = (positions >= 0) & (positions < lengths[:, None])  # (rows, longest)
        index = torch.where(is_token, self.starts[row_numbers, None] + positions, 0)
        return BatchEncoding(
            {
                name: _fill(value[index], ~is_token, self.padding.get(name, 0))
                for name, value in self.inputs.items()
            }
        )


def joined(
    rows: Sequence[Sequence[int] | Sequence[bytes]], dtype: torch.dtype
) -> torch.Tensor:  # (all tokens, ...)
    """Put the values of all tokens, a number or some bytes each, one row after the other.

    transformers (5.23), asked for tensors, walks through all numbers in Python to count them.
    """
    import torch

    values: list[Any] = list(chain.from_iterable(rows))
    if values and isinstance(values[0], bytes):
        each = torch.frombuffer(bytearray(b"".join(values)), dtype=torch.uint8)
        return each.view(len(values), -1).to(dtype)
    return torch.tensor(values, dtype=dtype)


def _fill(
    values: torch.Tensor,  # (rows, longest, ...)
    gaps: torch.Tensor,  # (rows, longest)
    padding: int,
) -> torch.Tensor:
    values = values if values.is_floating_point() else values.long()
    return values.masked_fill_(gaps.view(*gaps.shape, *[1] * (values.ndim - 2)), padding)


def by_tokens(
    lengths: Sequence[int], tokens: int, most_rows: int = BATCH_ROWS, equal: bool = False
) -> Iterator[list[int]]:
    """Group row numbers, the longest first, into batches of so many tokens, padding included.

    A row that is longer is a batch of its own; with `equal` no row of a batch is padded.
    """
    order = sorted(range(len(lengths)), key=lambda row: lengths[row], reverse=True)
    batch: list[int] = []
    for row in order:
        longest = max(1, lengths[batch[0]]) if batch else 1
        full = len(batch) == most_rows or (len(batch) + 1) * longest > tokens
        shorter = len(batch) * longest >= FULL_TOKENS and lengths[row] < SHORTER * longest
        shorter |= equal and bool(batch) and lengths[row] != lengths[batch[0]]
        if batch and (full or shorter):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def embedding_rows(model: PreTrainedModel) -> int | None:
    """Return how many tokens a network has vectors for, None where it keeps no table of them."""
    try:
        return getattr(model.get_input_embeddings(), "num_embeddings", None)
    except NotImplementedError:  # CANINE hashes characters
        return None


TEMPLATE = "text_template"
"""The entry of the config."""
FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Framed:
    """A text made by a template, and where in it each field's text stands."""

    text: str
    places: Sequence[tuple[int, int]]  # of the task's fields, in their order

    def place(self, start: int, end: int) -> tuple[int, int, int] | None:
        """Return the number of the text that holds these characters, and where they stand in it.

        None for characters of the frame.
        """
        for number, (first, last) in enumerate(self.places):
            if start < last and end > first:
                return number, max(start, first) - first, min(end, last) - first
        return None


def is_decoder(model: Any) -> bool:  # Any: a network, and torch is not imported here
    """Whether a classifier's head, a linear layer, reads the last token."""
    return hasattr(getattr(model, "score", None), "out_features")


def read_template(config: Any, fields: Sequence[str]) -> str:  # Any: transformers' configs
    """Return a config's template, "" where it has none. Raises ModelError for one of other texts.

    It names each field of the task once.
    """
    template = getattr(config, TEMPLATE, "")
    named = FIELD.findall(template) if isinstance(template, str) else []
    if template and sorted(named) != sorted(fields):
        wanted = " and ".join(f"{{{field}}}" for field in fields)
        raise ModelError(
            f"the template of a model's texts ({TEMPLATE} in its config.json) names {wanted}, each "
            f"once, and is {template!r}"
        )
    return str(template)


def framed_sentence(frame: str) -> str:
    """Say how a decoder reads its texts as one, which its files do not."""
    return (
        f"its texts are read as {frame!r}; if it was trained on another form, give that as its "
        "template where it is opened, or write it into its folder with python -m probe models "
        "export MODEL FOLDER --template"
    )


def framed(template: str, texts: Mapping[str, str]) -> Framed:
    """Put the texts of an example, by field in their order, into a template."""
    parts, places, length = [], {}, 0
    for number, part in enumerate(FIELD.split(template)):
        text = texts[part] if number % 2 else part  # every second part is a field's name
        if number % 2:
            places[part] = length, length + len(text)
        parts.append(text)
        length += len(text)
    return Framed("".join(parts), [places[field] for field in texts])


@dataclass(frozen=True)
class TokenPlace:
    """A token of an example: its text's number among the task's, and where it stands in it."""

    text: int
    token: str
    id: int
    start: int
    end: int


def token_places(
    sides: Sequence[int | None],
    tokens: Sequence[str],
    ids: Sequence[int],
    offsets: Sequence[tuple[int, int]],
) -> list[TokenPlace | None]:
    """Return the place of each token, None where it is of no side."""
    return [
        TokenPlace(side, token, id_, *offset) if side is not None else None
        for side, token, id_, offset in zip(sides, tokens, ids, offsets, strict=True)
    ]


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
