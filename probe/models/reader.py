"""A model of reading comprehension: a passage and a question in, the answer's span out."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe.data.questions import Question
from probe.first_import import first_import
from probe.models.classifier import DEFAULT_MAX_TOKENS, Precision, autocast, by_length
from probe.models.library import locate
from probe.stopping import check_stop

if TYPE_CHECKING:
    import torch
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

MAX_TOKENS, STRIDE = 384, 128
"""Sub-words of a window of a passage and its question, and how many two windows share."""
MAX_ANSWER_TOKENS = 30
"""The longest answer in sub-words."""
BATCH = 16
"""Windows that are read at once."""


@dataclass(frozen=True)
class SpanPrediction:
    """The most probable answer: passage[start:end], and the joint probability of both ends.

    The probability is over all spans of all windows. `windows` is how many the passage took.
    """

    text: str
    start: int
    end: int
    confidence: float
    windows: int


Place = tuple[int, int] | None
"""The characters of the passage that a token stands for, None for one that is not of it."""


@dataclass(frozen=True)
class Window:
    """A question with a part of its passage: the model's inputs, and the place of each token."""

    inputs: dict[str, list[int]]
    places: list[Place]


@dataclass(frozen=True)
class BestSpan:
    """The best span of a window, in characters of the passage, by the sum of its two logits.

    `total` is the logarithm of the sum of the exponentials of all spans' scores.
    """

    start: int
    end: int
    score: float
    total: float


@dataclass(frozen=True)
class Reader:
    """An extractive reader with its tokenizer; `revision` is the commit of a hub's model."""

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    device: torch.device
    revision: str | None = None

    @property
    def max_tokens(self) -> int:
        """The longest window in sub-words, special tokens included."""
        positions = getattr(self.model.config, "max_position_embeddings", DEFAULT_MAX_TOKENS)
        return int(min(MAX_TOKENS, self.tokenizer.model_max_length, max(positions, 1)))

    def too_long(self, question: Question) -> bool:
        """Whether a question leaves less than half of a window to its passage."""
        return 2 * self._tokens(question.question) > self.max_tokens

    def _tokens(self, text: str) -> int:
        """Return the sub-words of a text, and the special tokens of a window."""
        special = self.tokenizer.num_special_tokens_to_add(pair=True)
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"]) + special

    def predict(
        self, questions: Sequence[Question], precision: Precision = "fp32"
    ) -> list[SpanPrediction]:
        """Answer questions, in their order. Raises Stopped between two batches.

        A passage that is longer than a window is read in several that overlap by `STRIDE`, or half
        of what the question leaves. No question may be `too_long`.
        """
        import torch

        spans: list[list[BestSpan]] = [[] for _ in questions]
        windows = [
            (at, window) for at, each in enumerate(questions) for window in self.windows(each)
        ]
        for rows in by_length([len(window.places) for _, window in windows], BATCH):
            check_stop()
            batch = [windows[row] for row in rows]
            inputs = self.collate([window for _, window in batch])
            with torch.inference_mode(), autocast(self.device, precision):
                starts, ends = self.logits(inputs).chunk(2)
            for (at, window), start, end in zip(batch, starts, ends, strict=True):
                spans[at].append(best_span(start, end, window.places))
        return [_answer(each, of) for each, of in zip(questions, spans, strict=True)]

    def logits(self, inputs: BatchEncoding) -> torch.Tensor:
        """Return the logits of each token to be the first, then those to be the last, float32.

        # (2 * batch, tokens)
        """
        import torch

        output = self.model(**inputs.to(self.device))
        return torch.cat([output.start_logits, output.end_logits]).float()

    def collate(self, windows: Sequence[Window]) -> BatchEncoding:
        """Return the inputs of some windows, padded to the longest."""
        return self.tokenizer.pad([window.inputs for window in windows], return_tensors="pt")

    def windows(self, question: Question) -> list[Window]:
        """Return the windows of a question, one where its passage is short."""
        room = self.max_tokens - self._tokens(question.question)
        encoded: BatchEncoding = self.tokenizer(
            question.question,
            question.passage,
            truncation="only_second",
            max_length=self.max_tokens,
            stride=min(STRIDE, room // 2),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        names = [name for name in self.tokenizer.model_input_names if name in encoded]
        return [
            Window(
                {name: encoded[name][at] for name in names},
                [
                    tuple(offset) if side == 1 else None
                    for side, offset in zip(
                        encoded.sequence_ids(at), encoded["offset_mapping"][at], strict=True
                    )
                ],
            )
            for at in range(len(encoded["input_ids"]))
        ]


def best_span(start: torch.Tensor, end: torch.Tensor, places: Sequence[Place]) -> BestSpan:
    """Return the best span of a window by its logits, of equal ones the first.

    `start` and `end` have a logit for each token, and `places` the characters of those tokens that
    are of the passage. # (tokens,)
    """
    import torch

    inside = torch.tensor([place is not None for place in places], device=start.device)
    inside = torch.nn.functional.pad(inside, (0, len(start) - len(inside)))
    length = len(start)
    steps = torch.arange(length, device=start.device)
    distance = steps[None, :] - steps[:, None]  # (tokens, tokens)
    allowed = (distance >= 0) & (distance < MAX_ANSWER_TOKENS)
    allowed &= inside[:, None] & inside[None, :]
    scores = (start[:, None] + end[None, :]).masked_fill(~allowed, -math.inf)
    at = int(scores.argmax())
    first, last = places[at // length], places[at % length]
    if first is None or last is None:
        return BestSpan(0, 0, -math.inf, -math.inf)
    total = float(torch.logsumexp(scores.flatten(), 0))
    return BestSpan(first[0], last[1], float(scores.flatten()[at]), total)


def _answer(question: Question, spans: Sequence[BestSpan]) -> SpanPrediction:
    """Return the best of the windows' spans and its probability among all of them."""
    chosen = max(spans, key=lambda span: span.score)
    highest = max(span.total for span in spans)
    if highest == -math.inf:
        return SpanPrediction("", 0, 0, 0.0, len(spans))
    total = highest + math.log(sum(math.exp(span.total - highest) for span in spans))
    text = question.passage[chosen.start : chosen.end]
    confidence = math.exp(chosen.score - total)
    return SpanPrediction(text, chosen.start, chosen.end, confidence, len(spans))


def answers_with_spans(name: str) -> bool:
    """Whether a model's config says that it answers questions with spans. Raises ModelError."""
    path = locate(name)[0] / "config.json"
    try:
        kinds = json.loads(path.read_text(encoding="utf-8")).get("architectures") or []
    except (OSError, ValueError, AttributeError):
        return False  # loading says what is wrong with it
    return any("QuestionAnswering" in str(kind) for kind in kinds)


def load_reader(name: str) -> Reader:
    """Load a folder, or a hub's model as owner/name[@revision]. Raises ModelError."""
    with first_import:
        from probe.models.checkpoint import read_reader
        from probe.models.device import device

    folder, revision = locate(name)
    model, tokenizer = read_reader(name, folder, device())
    return Reader(name, model, tokenizer, device(), revision)
