"""Train an encoder into a reader: each end of the right span is chosen among a window's tokens."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean

import torch
from transformers import BatchEncoding

from finetune.training.checkpoints import begun_with, save_weights
from finetune.training.encoder import Progress, TrainingOptions, train_steps
from finetune.training.frozen_layers import TENSOR_CACHE, weights_hash
from probe.errors import Stopped
from probe.models.checkpoint import READER, read_checkpoint, that_answers
from probe.models.classifier import Precision
from probe.models.hardware import device
from probe.models.reader import Reader, Window, tokens_of
from probe.stopping import Cancelled, Stop, never, stopping
from probe.tasks.reading import Question, best, token_f1

Example = tuple[Window, int, int]
"""A window, and the first and the last token of the right answer in it."""


def start_from_encoder(path: str) -> Reader:
    """Load an encoder, or a reader, to train; an encoder gets a head from a fixed seed."""
    read = read_checkpoint(
        path, Path(path), READER, to_train=True, num_labels=2, ignore_mismatched_sizes=True
    )
    name, notes = Path(path).name, read.notes
    return that_answers(Reader(name, read.model, read.tokenizer, device(), notes=notes))


def train(
    reader: Reader,
    questions: Sequence[Question],
    options: TrainingOptions,
    out: Path,
    dev: Mapping[str, Sequence[Question]] | None = None,
    every: int = 1000,
) -> Iterator[Progress]:
    """Train in place on each question's first answer, as `finetune.training.encoder.train` does.

    A window that does not hold the whole answer is left out. The scores are F1 on the dev sets.
    """
    begun = begun_with(reader, questions)
    examples = [example for question in questions for example in examples_of(reader, question)]

    def measure() -> dict[str, float]:
        return {
            name: mean_f1(reader, rows, options.precision) for name, rows in (dev or {}).items()
        }

    lengths = [len(window.sides) for window, _, _ in examples]
    load = partial(batch_of, reader, examples)
    yield from train_steps(reader, lengths, load, measure, options, begun, out, every)
    save_weights(reader.model, reader.tokenizer, out)


def batch_of(
    reader: Reader, examples: Sequence[Example], rows: Sequence[int]
) -> tuple[BatchEncoding, torch.Tensor]:
    """Return the inputs of some examples, and the tokens that are right as first and as last.

    # (2 * batch, tokens)
    """
    inputs = reader.collate([examples[row][0] for row in rows])
    places = [examples[row][end] for end in (1, 2) for row in rows]
    targets = torch.zeros(len(places), inputs["input_ids"].shape[1], dtype=torch.bool)
    targets[torch.arange(len(places)), torch.tensor(places)] = True
    return inputs, targets


def examples_of(reader: Reader, question: Question) -> Iterator[Example]:
    """Yield the windows of a question that hold its first answer, with the answer's tokens."""
    if not question.answers or reader.too_long(question):
        return
    text, start = question.answers[0].text, question.answers[0].start
    for window in reader.windows(question):
        if found := tokens_of(window.places, start, start + len(text)):
            yield window, *found


def mean_f1(reader: Reader, questions: Sequence[Question], precision: Precision) -> float:
    """Return the mean F1 of the answers to questions."""
    answers = reader.predict(questions, precision)
    return fmean(
        best(answer.label, question.references, token_f1)
        for question, answer in zip(questions, answers, strict=True)
    )


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
