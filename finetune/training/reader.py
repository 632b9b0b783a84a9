"""Train an encoder into a reader: each end of the right span is chosen among a window's tokens."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import torch
from transformers import BatchEncoding

from finetune.training.checkpoints import begun_with, save_weights
from finetune.training.encoder import Progress, TrainingOptions, train_steps
from probe.models.answers.spans import tokens_of
from probe.models.checkpoint import READER, that_answers, to_train
from probe.models.classifier import Precision
from probe.models.hardware.device import device
from probe.models.reader import Reader, Window
from probe.tasks.reading import Question
from probe.tasks.span_scores import best, f1

Example = tuple[Window, int, int]
"""A window, and the first and the last token of the right answer in it."""


def start_from_encoder(path: str) -> Reader:
    """Load an encoder, or a reader, to train; an encoder gets a head from a fixed seed."""
    read = to_train(path, READER, num_labels=2, ignore_mismatched_sizes=True)
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
        best(answer.label, question.references, f1)
        for question, answer in zip(questions, answers, strict=True)
    )
