"""Train BiDAF and QANet from word vectors.

Early stopping, the best epoch and the halving of the rate are decided by the F1 of questions held
out of the training file, by passage. Every epoch ends with a checkpoint to resume from.
"""

import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForQuestionAnswering

from finetune.training.checkpoints import (
    averages_and_scores,
    begun_with,
    kept_unless_diverged,
    load_checkpoint,
    save_checkpoint,
    save_weights,
)
from finetune.training.loop import Epoch, Trainer, epoch_batches, train_epoch, trainable
from finetune.training.optimisers import average_of, averaged, make_optimiser
from finetune.training.reader import Example, batch_of, examples_of, mean_f1
from finetune.training.recipes import WORD_READERS, ReaderPreset
from finetune.training.word_models import require_both
from finetune.training.word_vectors import words_of
from probe.models.checkpoint import loading
from probe.models.classifier import Precision
from probe.models.reader import Reader
from probe.models.word_models import bidaf, qanet  # noqa: F401  # registers them with the Auto classes
from probe.models.word_models.layers import shared_table
from probe.models.word_models.word_tokenizer import SPECIAL, word_tokenizer
from probe.tasks.reading import Question

PASSAGES_PER_HELD_OUT = 28
"""One passage in 28 is held out with its questions."""


def untrained(
    name: str, preset: str, vectors: str = "words", correction: int = 0, seed: int = 0
) -> Reader:
    """Return an untrained reader on the shared vectors; the same seed gives the same weights.

    `correction` is the rank of the trained correction added to the vectors. Raises KeyError for a
    name that is not in WORD_READERS, and TrainingError where there are no such vectors.
    """
    words = words_of(vectors)
    config = AutoConfig.for_model(
        name,
        **WORD_READERS[name][preset].settings,
        vocab_size=len(words),
        word_size=shared_table(vectors).shape[1],
        vectors=vectors,
        correction=correction,
    )
    with loading, torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForQuestionAnswering.from_config(config)
    lower = all(word == word.lower() for word in words[len(SPECIAL) :])
    tokenizer = word_tokenizer(words, lower, characters=True)
    return Reader(name, model.eval(), tokenizer, torch.device("cpu"))


def held_out(question: Question) -> bool:
    """Whether a question of the training file is held out to select epochs by."""
    return zlib.crc32(question.passage.encode()) % PASSAGES_PER_HELD_OUT == 0


def train(
    reader: Reader,
    preset: ReaderPreset,
    questions: Sequence[Question],
    out: Path,
    seed: int = 0,
    minutes: float = 600.0,
    precision: Precision = "fp32",
) -> Iterator[Epoch]:
    """Train in place and yield epochs; the best one so far lies in `out` as fp16 safetensors.

    The dev score of an Epoch is the F1 on held-out questions. A checkpoint in `out` of the same
    options is resumed. No epoch begins that would end after `minutes`. At the end the reader has
    the best epoch's weights. Raises TrainingError where the checkpoint was begun with something
    else, where there are no examples to train on or no questions held out, and Diverged.
    """
    start, dev = time.monotonic(), [question for question in questions if held_out(question)]
    deadline = start + 60 * minutes
    examples = [
        example
        for question in questions
        if not held_out(question)
        for example in examples_of(reader, question)
    ]
    require_both(examples, dev)
    options = _options(preset, seed, precision) | begun_with(reader, questions)
    optimiser = make_optimiser(preset.recipe, trainable(reader), preset.recipe.lr)
    load_checkpoint(reader, optimiser, options, out)
    averages, scores = averages_and_scores(out)
    average = average_of(preset.recipe, reader.model, averages)
    trainer = Trainer(reader, preset.recipe, optimiser, precision, average=average)
    with kept_unless_diverged(out):
        for epoch in range(len(scores) + 1, preset.epochs + 1):
            row = train_one(trainer, preset, examples, dev, scores, seed)
            with averaged(reader.model, average):
                if row.dev > max(scores, default=-1.0):
                    save_weights(reader.model, reader.tokenizer, out)
            scores.append(row.dev)
            kept = None if average is None else average.weights
            save_checkpoint(reader, optimiser, options, epoch, out, kept, scores)
            yield row
            end = time.monotonic()
            if _without_gain(scores) >= preset.patience or 2 * end - start > deadline:
                break
            start = end
    reader.model.load_state_dict(load_file(out / "model.safetensors"))


def train_one(
    trainer: Trainer[Reader],
    preset: ReaderPreset,
    examples: Sequence[Example],
    dev: Sequence[Question],
    scores: Sequence[float],
    seed: int,
) -> Epoch:
    """Train for the epoch behind those that have `scores`; return it with its own."""
    reader, epoch, start, total = trainer.classifier, len(scores) + 1, time.monotonic(), 0.0
    lengths = [len(window.sides) for window, _, _ in examples]
    batches = epoch_batches(lengths, preset.recipe.batch, seed, epoch)
    rates = [rate(preset, scores, step / len(batches)) for step in range(len(batches))]
    load = partial(batch_of, reader, examples)
    losses = train_epoch(trainer, batches, rates, load, (seed * 1_000 + epoch) * 1_000_003)
    first = (epoch - 1) * len(batches) + 1
    for step, (loss, rows) in enumerate(zip(losses, batches, strict=True), first):
        total += loss * len(rows)
        if trainer.average is not None:
            trainer.average.update(reader.model, step)
    speed = len(examples) / (time.monotonic() - start)
    with averaged(reader.model, trainer.average):
        f1 = mean_f1(reader, dev, trainer.precision)
    return Epoch(epoch, total / len(examples), f1, rates[0], speed)


def rate(preset: ReaderPreset, scores: Sequence[float], passed: float = 0.0) -> float:
    """Return the learning rate behind epochs of these scores and a part of the next one."""
    if preset.fall:
        return preset.recipe.lr * (1 - (len(scores) + passed) / preset.epochs)
    if preset.halve_patience is None:
        return preset.recipe.lr
    best, waited, halvings = -1.0, 0, 0
    for score in scores:
        best, waited = (score, 0) if score > best else (best, waited + 1)
        if waited > preset.halve_patience:
            halvings, waited = halvings + 1, 0
    return preset.recipe.lr * 0.5**halvings


def _without_gain(scores: Sequence[float]) -> int:
    """Return how many epochs have passed since the first one of the best score."""
    return len(scores) - 1 - list(scores).index(max(scores))


def _options(
    preset: ReaderPreset, seed: int, precision: Precision
) -> dict[str, Any]:  # Any: JSON values
    """Return what a checkpoint must have been made with beside model and data, as JSON has it."""
    recipe = asdict(preset.recipe)
    recipe["settings"] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in preset.recipe.settings.items()
    }
    return asdict(preset) | {"recipe": recipe, "seed": seed, "precision": precision}
