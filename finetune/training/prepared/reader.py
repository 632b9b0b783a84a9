"""A reader before training: questions to train on, window by window, and the F1 of its answers."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from transformers import BatchEncoding

from finetune.training.prepared.tensor_cache import TENSOR_CACHE, weights_hash
from finetune.training.reader import Example, batch_of, examples_of
from probe.errors import Stopped
from probe.models.classifier import Precision
from probe.models.reader import Reader
from probe.stopping import Cancelled, Stop, never, stopping
from probe.tasks.reading import Question


@dataclass(frozen=True)
class EncodedQuestions:
    """Questions as the windows of their passages that hold the first answer, to train on."""

    reader: Reader
    questions: tuple[Question, ...]

    @cached_property
    def examples(self) -> list[Example]:
        """The windows with the places of their answers."""
        return [each for asked in self.questions for each in examples_of(self.reader, asked)]

    @cached_property
    def lengths(self) -> list[int]:
        """Tokens of each window."""
        return [len(window.sides) for window, _, _ in self.examples]

    def first(self, rows: int) -> "EncodedQuestions":
        """Return the first questions alone."""
        return replace(self, questions=self.questions[:rows])

    def batch(self, rows: Sequence[int]) -> tuple[BatchEncoding, torch.Tensor]:
        """Return the inputs of some windows, and the right tokens.  # (2 * rows, tokens)"""
        return batch_of(self.reader, self.examples, rows)


@dataclass(frozen=True)
class PreparedReader:
    """A reader whose weights are all trained; see `Trainable` in `.trainable`."""

    whole: Reader
    precision: Precision

    @property
    def trained(self) -> Reader:
        """What is trained: all of it."""
        return self.whole

    def encoded(
        self, examples: tuple[Question, ...], max_tokens: int, stop: Stop = never
    ) -> EncodedQuestions:
        """Return questions to train on. A long passage is not cut but read in windows."""
        return EncodedQuestions(self.whole, examples)

    def learnt(self, data: EncodedQuestions, stop: Stop = never) -> tuple[float, ...]:
        """Return the F1 of the answer to each question as the reader is. Raises Cancelled."""
        return self._scores(data.questions, stop)

    def scorer(
        self, examples: tuple[Question, ...], stop: Stop = never
    ) -> Callable[[bool], tuple[float, ...]]:
        """Return what answers questions and gives the F1 of each answer. It raises Cancelled."""

        def scores(untrained: bool) -> tuple[float, ...]:
            if not untrained:
                return self._scores(examples, stop)
            asked = hashlib.sha256(repr(examples).encode()).hexdigest()
            values: torch.Tensor = TENSOR_CACHE.get(
                (weights_hash(self.whole), self.precision, asked),
                lambda: torch.tensor(self._scores(examples, stop), dtype=torch.float64),
            )
            return tuple(values.tolist())

        return scores

    def _scores(self, questions: Sequence[Question], stop: Stop) -> tuple[float, ...]:
        try:
            with stopping(lambda: "cancelled" if stop() else ""):
                answers = self.whole.predict(questions, self.precision)
        except Stopped as stopped:
            raise Cancelled("cancelled") from stopped
        task = self.whole.task
        return tuple(
            task.score(answer.label, question.gold or "")
            for question, answer in zip(questions, answers, strict=True)
        )
