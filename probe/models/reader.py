"""A model of reading comprehension: a passage and a question in, the answer's span out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probe.errors import AttributionError
from probe.models.classifier import Precision, by_length
from probe.models.prediction import Prediction
from probe.models.text_model import Explainable, TextModel, TokenPlace, token_places
from probe.stopping import tell_answered
from probe.tasks.reading import READING
from probe.tasks.task import Label, Task

if TYPE_CHECKING:
    import torch
    from transformers import BatchEncoding

MAX_TOKENS, STRIDE = 384, 128
"""Sub-words of a window of a passage and its question, and how many two windows share."""
BATCH, SIDE_BY_SIDE_BATCH = 16, 8
"""Windows that are read at once: in one batch, in each of several side by side."""
CANDIDATES = 3
"""Answers that a prediction names, the best first."""
MAX_ANSWER_TOKENS = 30
"""The longest answer in sub-words."""
LOOKED_AT = 200
"""Spans among which the best ones that do not overlap are sought."""


@dataclass(frozen=True)
class SpanPrediction(Prediction):
    """The most probable answer, passage[start:end], and the next ones as its further labels.

    Probabilities are those of both ends together, over all spans of all windows; `windows` is how
    many the passage took.
    """

    start: int
    end: int
    windows: int


def span_place(prediction: Prediction) -> dict[str, int]:
    """Return where a span begins and ends in its passage; nothing for a label, or for own words."""
    if not isinstance(prediction, SpanPrediction) or stands_nowhere(prediction):
        return {}
    return {"start": prediction.start, "end": prediction.end}


def stands_nowhere(prediction: Prediction) -> bool:
    """Whether an answer is words that its passage does not have, as a language model may say."""
    return isinstance(prediction, SpanPrediction) and bool(prediction.label) and not prediction.end


@dataclass(frozen=True)
class Window:
    """A question with a part of its passage: the model's inputs, and where each token stands."""

    inputs: dict[str, Any]  # Any: numbers of each token, or lists of its characters'
    places: list[TokenPlace | None]

    @property
    def in_passage(self) -> list[TokenPlace | None]:
        """The places of tokens of the passage, None for all others."""
        return [place if place and place.text == 1 else None for place in self.places]


class ScoredSpan(NamedTuple):
    """A span in characters of the passage, and the sum of its two logits."""

    start: int
    end: int
    score: float

    def is_beside(self, others: Iterable[ScoredSpan]) -> bool:
        """Whether it overlaps with none of the others."""
        return all(self.end <= other.start or other.end <= self.start for other in others)


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
    start: torch.Tensor, end: torch.Tensor, places: Sequence[TokenPlace | None], count: int
) -> tuple[list[ScoredSpan], float]:
    """Return the best spans of a window that do not overlap by its logits, of equal ones the first.

    None where the window holds nothing of the passage. Also returns the logarithm of the sum of the
    exponentials of all its spans' scores. `places` are `Window.in_passage`, without padding.
    # (tokens,)
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
        span = ScoredSpan(first.start, last.end, float(scores[at]))
        if span.is_beside(best):
            best.append(span)
    return best, float(torch.logsumexp(scores, 0))


def tokens_of(places: Sequence[TokenPlace | None], start: int, end: int) -> tuple[int, int] | None:
    """Return the first and the last token of the characters, None where they are not all there."""
    inside = {at: it for at, it in enumerate(places) if it and it.start < end and it.end > start}
    whole = inside and min(it.start for it in inside.values()) <= start
    if not whole or max(it.end for it in inside.values()) < end:
        return None
    return min(inside), max(inside)


@dataclass(frozen=True)
class Reader(TextModel):
    """An extractive reader with its tokenizer."""

    task: Task = field(default=READING, init=False)
    order: tuple[Label, ...] = field(default=(), init=False)
    """The labels of its outputs: none, for the answer is a span."""

    @property
    def max_tokens(self) -> int:
        """The longest window in sub-words, special tokens included."""
        return min(MAX_TOKENS, super().max_tokens)

    @property
    def max_question(self) -> int:
        """The longest question in sub-words: it leaves half of a window to its passage."""
        return self.max_tokens // 2 - int(self.tokenizer.num_special_tokens_to_add(pair=True))

    def too_long(self, example: Any) -> bool:  # Any: a Question
        """Whether the question's end is cut; a long passage is read in several windows."""
        return bool(self._beginning(example.question) != example.question)

    def predict(
        self,
        examples: Sequence[Any],  # Any: a Question
        precision: Precision = "fp32",
    ) -> list[Prediction]:
        """Answer questions with a `SpanPrediction` each. Raises Stopped between batches.

        A passage that is longer than a window is read in several that overlap by `STRIDE`, or half
        of what the question leaves.
        """
        spans: list[list[tuple[list[ScoredSpan], float]]] = [[] for _ in examples]
        windows = [
            (at, window) for at, each in enumerate(examples) for window in self.windows(each)
        ]
        size = BATCH if self.batches_at_once == 1 else SIDE_BY_SIDE_BATCH
        batches = by_length([len(window.places) for _, window in windows], size if self.pads else 1)

        def logits(model: Reader, rows: Sequence[int]) -> torch.Tensor:
            return model.logits(self.collate([windows[row][1] for row in rows]))

        for rows, values in self.each(precision, batches, logits):
            tell_answered(len(rows))
            for row, start, end in zip(rows, *values.chunk(2), strict=True):
                at, window = windows[row]
                spans[at].append(best_spans(start, end, window.in_passage, CANDIDATES))
        return [_answer(each.passage, of) for each, of in zip(examples, spans, strict=True)]

    def logits(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return the logits of each token to be the first, then those to be the last, float32.

        # (2 * batch, tokens)
        """
        import torch

        output = self.model(**{name: value.to(self.device) for name, value in inputs.items()})
        return torch.cat([output.start_logits, output.end_logits]).float()

    def collate(self, windows: Sequence[Window]) -> BatchEncoding:
        """Return the inputs of some windows, padded to the longest."""
        with self.tokenizer_lock:
            return self.tokenizer.pad([window.inputs for window in windows], return_tensors="pt")

    def windows(self, question: Any) -> list[Window]:  # Any: a Question
        """Return the windows of a question, one where its passage is short."""
        asked = self._beginning(question.question)
        room = self.max_tokens - len(self.sub_words(asked))
        room -= int(self.tokenizer.num_special_tokens_to_add(pair=True))
        encoded = self.tokenise(
            asked,
            question.passage,
            truncation="only_second",
            max_length=self.max_tokens,
            stride=min(STRIDE, room // 2),
            return_overflowing_tokens=True,
        )
        rows: Any = encoded.encodings  # None, which is refused, of one that knows no places
        names = [name for name in self.tokenizer.model_input_names if name in encoded]
        return [
            Window({name: encoded[name][at] for name in names}, token_places(row))
            for at, row in enumerate(rows)
        ]

    def _beginning(self, question: str) -> str:
        """Return as much of a question as is read."""
        if question.isascii() and len(question) <= self.max_question:
            return question  # a sub-word covers at least one ASCII character
        encoded = self.tokenise(question, add_special_tokens=False, return_offsets_mapping=True)
        offsets = encoded["offset_mapping"]
        short = len(offsets) <= self.max_question
        return question if short else question[: offsets[self.max_question - 1][1]]

    def explainable(
        self, examples: Sequence[Any], labels: Sequence[Label], against: Sequence[Label] = ()
    ) -> Explainable:
        """Prepare questions to explain an answer of each: all spans of the passage that read so.

        Of a passage of several windows the first with the answer is explained. An answer that is
        nowhere rests on nothing: all scores are 0. Raises AttributionError where an answer is to be
        set against another one, which may stand in another window.
        """
        import torch

        if against:
            raise AttributionError("what sets one answer apart from another is asked of labels")

        chosen = [
            self._window_with(each, label) for each, label in zip(examples, labels, strict=True)
        ]
        inputs = self.collate([window for window, _ in chosen])
        length = inputs["input_ids"].shape[1]
        inside = torch.zeros(len(chosen), length, dtype=torch.bool)
        wanted = torch.zeros(len(chosen), length, length, dtype=torch.bool)
        for row, (window, spans) in enumerate(chosen):
            inside[row, : len(window.places)] = torch.tensor(list(map(bool, window.in_passage)))
            wanted[row] = not spans
            for first, last in spans:
                wanted[row, first, last] = True
        inside, wanted = inside.to(self.device), wanted.to(self.device)

        def log_probability(model: Reader, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
            starts, ends = model.logits(tensors).chunk(2)
            copies = len(starts) // len(chosen)
            scores = span_scores(starts, ends, inside.repeat(copies, 1))
            right = scores.masked_fill(~wanted.repeat(copies, 1, 1), -math.inf)
            return right.flatten(1).logsumexp(1) - scores.flatten(1).logsumexp(1)

        places = [window.places for window, _ in chosen]
        return Explainable(dict(inputs), places, log_probability)

    def _window_with(self, question: Any, label: Label) -> tuple[Window, list[tuple[int, int]]]:
        """Return the first window with an answer, else the first, and the tokens of each place."""
        windows = self.windows(question)
        places = [match.span() for match in re.finditer(re.escape(label), question.passage)]
        for window in windows:
            spans = [found for place in places if (found := tokens_of(window.in_passage, *place))]
            if label and spans:
                return window, spans
        return windows[0], []


def _answer(passage: str, windows: Sequence[tuple[list[ScoredSpan], float]]) -> SpanPrediction:
    """Return the best of the windows' spans and their probabilities among all of them."""
    total = float(np.logaddexp.reduce([own for _, own in windows]))
    if total == -math.inf:
        return SpanPrediction("", (0.0,), ("",), 0, 0, len(windows))
    candidates = dict[str, ScoredSpan]()
    for span in sorted((span for best, _ in windows for span in best), key=lambda it: -it.score):
        if span.is_beside(candidates.values()):
            candidates.setdefault(passage[span.start : span.end], span)
    texts = tuple(candidates)[:CANDIDATES]
    shares = tuple(math.exp(candidates[text].score - total) for text in texts)
    best = candidates[texts[0]]
    return SpanPrediction(texts[0], shares, texts, best.start, best.end, len(windows))
