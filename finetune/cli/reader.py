"""`python -m finetune reader`: fine-tune an encoder into a reader."""

from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.cli.options import (
    Seed,
    TorchThreads,
    TrainingBatch,
    TrainingEpochs,
    TrainingRate,
    dev_sets,
    make_model_folder,
    unless_finished,
)
from finetune.training.encoder import TrainingOptions
from finetune.training.reader import start_from_encoder, train
from probe.cli.options import PrecisionName, warn
from probe.data.questions import answered, question_rows
from probe.models.classifier import resolve
from probe.models.library import locate, notes_of
from probe.tasks.reading import READING


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
    encoder = start_from_encoder(str(locate(model)[0]))
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
    rows_left = train(encoder, questions, options, out, sets, every)
    for row in unless_finished(rows_left, out):
        scores = "  ".join(f"{name} F1 {100 * value:.1f}" for name, value in row.accuracy.items())
        typer.echo(
            f"step {row.step}/{row.steps}  loss {row.loss:.4f}  "
            f"{row.pairs_per_second:.1f} windows/s  {scores}"
        )
