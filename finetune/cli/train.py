"""`python -m finetune train` and `reader`: fine-tune an encoder."""

from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.cli.options import (
    MaxTokens,
    Seed,
    TorchThreads,
    TrainingBatch,
    TrainingEpochs,
    TrainingRate,
    dev_sets,
    examples_of,
    make_model_folder,
    unless_finished,
)
from finetune.training.encoder import TrainingOptions, train
from finetune.training.reader import start_from_encoder as start_reader
from finetune.training.reader import train as train_reader
from finetune.trials.base import refuse
from probe.cli.file_options import takes_file
from probe.cli.options import PrecisionName, warn
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.questions import answered, question_rows
from probe.models.checkpoint import start_from_encoder
from probe.models.classifier import resolve
from probe.models.library import full_name, locate, notes_of
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.tasks.task import task_named


@takes_file(texts=False)
def train_command(
    model: Annotated[str, typer.Option(help="Encoder or model: folder, bundled name or hub id.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="Labelled, of any form.")],
    out: Annotated[Path, typer.Option(help="Folder for checkpoints and the finished model.")],
    dev: Annotated[list[Path], typer.Option(help="Sets to measure on.")] = [],  # noqa: B006
    dev_size: Annotated[
        int, typer.Option(min=1, help="Pairs of each dev set, from its start.")
    ] = 2000,
    task: Annotated[str, typer.Option(help="What the model is to answer.")] = NLI.name,
    epochs: TrainingEpochs = 1,
    lr: TrainingRate = 1.5e-4,
    batch: TrainingBatch = 32,
    max_tokens: MaxTokens = 96,
    seed: Seed = 0,
    threads: TorchThreads = 1,
    precision: PrecisionName = "auto",
    freeze_word_embeddings: Annotated[
        bool, typer.Option(help="Keep the encoder's word embeddings, which models can share.")
    ] = False,
    teacher: Annotated[
        list[str], typer.Option(help="Model whose probabilities count beside the labels.")
    ] = [],  # noqa: B006
    teacher_weight: Annotated[
        float, typer.Option(min=0, max=1, help="Weight of the teachers' mean against a label.")
    ] = TrainingOptions.teacher_weight,
    unlabelled: Annotated[
        list[Path], typer.Option(help="Texts that are learnt from the teachers alone.")
    ] = [],  # noqa: B006
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Fine-tune an encoder into a model of a task, by default NLI; run again to resume.

    With teachers it is distilled: it learns from the mean of their probabilities too.
    """
    refuse({"--unlabelled needs a --teacher, whose answers are learnt": unlabelled and not teacher})
    answered = task_named(task)
    torch.set_num_threads(threads)
    make_model_folder(out, resumes=True)
    encoder = start_from_encoder(str(locate(model)[0]), answered)
    warn(notes_of(encoder))
    for name in teacher:
        locate(name)  # before files are read
    options = TrainingOptions(
        lr=lr,
        epochs=epochs,
        batch=batch,
        max_tokens=max_tokens,
        seed=seed,
        precision=resolve(precision),
        freeze_word_embeddings=freeze_word_embeddings,
        teachers=tuple(map(full_name, teacher)),
        teacher_weight=teacher_weight,
    )
    read = partial(examples_of, task=answered, reading=reading)
    pairs = [pair for file in train_file for pair in read(file)]
    pairs += [pair for file in unlabelled for pair in read(file, needs_gold=False)]
    sets = dev_sets(dev, read, answered, dev_size)
    typer.echo(f"{len(pairs)} pairs, {options}")
    if teacher:
        typer.echo("first the teachers answer all of them")
    rows_left = train(encoder, pairs, options, out, sets)
    for row in unless_finished(rows_left, out):
        scores = "  ".join(f"{name} {value:.4f}" for name, value in row.accuracy.items())
        typer.echo(
            f"step {row.step}/{row.steps}  loss {row.loss:.4f}  "
            f"{row.pairs_per_second:.1f} pairs/s  {scores}"
        )


def reader_command(
    model: Annotated[str, typer.Option(help="Encoder or reader: folder, bundled name or hub id.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="SQuAD's JSON, or a table.")],
    out: Annotated[Path, typer.Option(help="Folder for checkpoints and the finished model.")],
    dev: Annotated[list[Path], typer.Option(help="Sets to measure on.")] = [],  # noqa: B006
    dev_size: Annotated[
        int, typer.Option(min=1, help="Questions of each dev set, from its start.")
    ] = 500,
    epochs: TrainingEpochs = 2,
    lr: TrainingRate = 6e-5,
    batch: TrainingBatch = 24,
    every: Annotated[int, typer.Option(min=1, help="Steps between two checkpoints.")] = 200,
    seed: Seed = 0,
    threads: TorchThreads = 1,
    precision: PrecisionName = "auto",
    freeze_word_embeddings: Annotated[
        bool, typer.Option(help="Keep the encoder's word embeddings, which models can share.")
    ] = False,
) -> None:
    """Fine-tune an encoder to answer questions with spans of a passage; run again to resume."""
    torch.set_num_threads(threads)
    make_model_folder(out, resumes=True)
    encoder = start_reader(str(locate(model)[0]))
    warn(notes_of(encoder))
    options = TrainingOptions(
        lr=lr,
        epochs=epochs,
        batch=batch,
        seed=seed,
        precision=resolve(precision),
        freeze_word_embeddings=freeze_word_embeddings,
    )
    rows = [row for file in train_file for row in question_rows(file)]
    questions = answered(rows)
    sets = dev_sets(dev, lambda file: answered(question_rows(file)), READING, dev_size)
    typer.echo(f"{len(questions)} questions, {len(rows) - len(questions)} left out, {options}")
    rows_left = train_reader(encoder, questions, options, out, sets, every)
    for row in unless_finished(rows_left, out):
        scores = "  ".join(f"{name} F1 {100 * value:.1f}" for name, value in row.accuracy.items())
        typer.echo(
            f"step {row.step}/{row.steps}  loss {row.loss:.4f}  "
            f"{row.pairs_per_second:.1f} windows/s  {scores}"
        )
