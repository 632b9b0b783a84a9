"""A language model that is asked a question about a passage: its own words are the answer.

It goes on with the prompt by the likeliest token each time, to the end of the line. Where its words
stand in the passage, they are a span of it; its confidence is the probability of the words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from probe.errors import AttributionError
from probe.models.classifier import Precision
from probe.models.prediction import Prediction
from probe.models.prompted import Prompted, log_probabilities, padded
from probe.models.prompts import NO_ANSWER_WORDS
from probe.models.reader import MAX_ANSWER_TOKENS, SpanPrediction
from probe.models.text_model import Explainable, by_tokens
from probe.stopping import tell_answered
from probe.tasks.reading import normalised
from probe.tasks.task import Label

if TYPE_CHECKING:
    import torch

BATCH_TOKENS = 1024
"""Of prompts that are answered at once."""


@dataclass(frozen=True)
class PromptedReader(Prompted):
    """A causal language model with the prompt by which it is asked about passages."""

    @property
    def told(self) -> str:
        """How it is asked, in a sentence with the prompt, and what its confidence is."""
        asked, _, prompt = super().told.partition(": ")
        return (
            f"{asked}, its likeliest words are the answer and their probability is its "
            f"confidence: {prompt}"
        )

    def said(self, shot: Any) -> str:  # Any: a Question
        """The words by which an example in context is answered: the first that are right."""
        return next(iter(shot.references), NO_ANSWER_WORDS)

    def predict(
        self,
        examples: Sequence[Any],  # Any: a Question
        precision: Precision = "fp32",
    ) -> list[Prediction]:
        """Answer questions with a `SpanPrediction` each. Raises Stopped between two batches.

        One whose words do not stand in the passage begins and ends nowhere, at 0.
        """
        if not examples:
            return []
        prompts = list[list[int]]()
        for (variant,) in self._variants(examples, cut=True):
            prompts.append([*variant.before, *variant.ids[0]])
        equal = not self.architecture.ignores_padding
        batches = list(by_tokens(list(map(len, prompts)), BATCH_TOKENS, equal=equal))
        found: dict[int, Prediction] = {}

        def answer(model: PromptedReader, rows: Sequence[int]) -> list[tuple[str, float]]:
            return list(model._gone_on([prompts[row] for row in rows]))

        for rows, answers in self.each(precision, batches, answer):
            tell_answered(len(rows))
            for row, (words, score) in zip(rows, answers, strict=True):
                found[row] = as_span(words, math.exp(score), examples[row].passage)
        return [found[row] for row in range(len(examples))]

    def _gone_on(self, prompts: Sequence[Sequence[int]]) -> Iterator[tuple[str, float]]:
        """Yield the likeliest first line behind each prompt, and its log-probability."""
        import torch
        from transformers import GenerationConfig

        ids, mask = padded(prompts, left=True)
        ends = {self.tokenizer.eos_token_id, *_listed(self.model.generation_config.eos_token_id)}
        stops = sorted(end for end in ends if end is not None)
        config = GenerationConfig(
            max_new_tokens=MAX_ANSWER_TOKENS, do_sample=False, num_beams=1, repetition_penalty=1.0,
            pad_token_id=(stops or [0])[0], eos_token_id=stops or None,
            output_logits=True, return_dict_in_generate=True,
        )  # fmt: skip
        out = self.model.generate(  # type: ignore[operator]  # transformers leaves it untyped
            input_ids=ids.to(self.device),
            attention_mask=mask.to(self.device),
            generation_config=config,
        )
        new = out.sequences[:, ids.shape[1] :]
        logits = torch.stack(out.logits, dim=1)  # (rows, tokens, vocabulary)
        scores = log_probabilities(logits, new[..., None])[..., 0]
        for tokens, each in zip(new.tolist(), scores.double().cpu(), strict=True):
            yield self._first_line(tokens, each, stops)

    def _first_line(
        self, tokens: list[int], scores: torch.Tensor, stops: Sequence[int]
    ) -> tuple[str, float]:
        """Return the first line of an answer with words, and the log-probability of it."""
        line = ""
        for n, token in enumerate(tokens, 1):
            with self.tokenizer_lock:
                text = str(self.tokenizer.decode(tokens[:n], skip_special_tokens=True))
            line, broken, _ = text.lstrip().partition("\n")
            if broken or token in stops:
                break
        return line.strip(), float(scores[:n].sum())

    def explainable(
        self, examples: Sequence[Any], labels: Sequence[Label], against: Sequence[Label] = ()
    ) -> Explainable:
        """Refuse: what an answer in a model's own words rests on is not taken apart."""
        raise AttributionError(
            "a language model that answers in its own words has no importance here; ask it for "
            "labels, or a reader for spans"
        )


def _listed(value: Any) -> Sequence[Any]:  # Any: a number of a config, several, or none
    return value if isinstance(value, list) else [value]


def as_span(words: str, share: float, passage: str) -> SpanPrediction:
    """Return words as the span of a passage where they stand there, as the passage spells it.

    Words that say that there is no answer are an empty one.
    """
    bare = words.strip(" \"'“”.,;:")
    if normalised(words) in ("", NO_ANSWER_WORDS):
        return SpanPrediction("", (share,), ("",), 0, 0, 1)
    for text in filter(None, (words, bare)):
        if place := re.search(re.escape(text), passage, re.IGNORECASE):
            start, end = place.span()
            return SpanPrediction(
                passage[start:end], (share,), (passage[start:end],), start, end, 1
            )
    return SpanPrediction(words, (share,), (words,), 0, 0, 1)
