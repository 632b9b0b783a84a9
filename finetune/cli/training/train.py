"""`python -m finetune train`: fine-tune an encoder."""

from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.training.data import read_jsonl
from finetune.training.encoder import TrainingOptions, train
from probe.cli.options import PrecisionName
from probe.cli.output import make_folder
from probe.models.checkpoint import start_from_encoder
from probe.models.classifier import resolve
from probe.models.library import find
from probe.tasks.nli import NLI
from probe.tasks.task import task_named


def train_command(
    model: Annotated[str, typer.Option(help="Encoder or model: folder, bundled name or hub id.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="JSON lines, maybe gzipped.")],
    out: Annotated[Path, typer.Option(help="Folder for checkpoints and the finished model.")],
    dev: Annotated[list[Path], typer.Option(help="Sets to measure on.")] = [],  # noqa: B006
    dev_size: Annotated[int, typer.Option(help="Pairs of each dev set, from its start.")] = 2000,
    task: Annotated[str, typer.Option(help="What the model is to answer.")] = NLI.name,
    epochs: int = 1,
    lr: float = 1.5e-4,
    batch: int = 32,
    max_tokens: int = 96,
    seed: int = 0,
    threads: Annotated[int, typer.Option(help="Torch threads.")] = 1,
    precision: PrecisionName = "auto",
    freeze_word_embeddings: Annotated[
        bool, typer.Option(help="Keep the encoder's word embeddings, which models can share.")
    ] = False,
) -> None:
    """Fine-tune an encoder into a model of a task, by default NLI; run again to resume."""
    answered = task_named(task)
    torch.set_num_threads(threads)
    make_folder(out)
    options = TrainingOptions(
        lr=lr,
        epochs=epochs,
        batch=batch,
        max_tokens=max_tokens,
        seed=seed,
        precision=resolve(precision),
        freeze_word_embeddings=freeze_word_embeddings,
    )
    pairs = [pair for file in train_file for pair in read_jsonl(file, answered)]
    sets = {file.name.split(".")[0]: list(read_jsonl(file, answered))[:dev_size] for file in dev}
    typer.echo(f"{len(pairs)} pairs, {options}")
    for row in train(start_from_encoder(find(model), answered), pairs, options, out, sets):
        scores = "  ".join(f"{name} {value:.4f}" for name, value in row.accuracy.items())
        typer.echo(
            f"step {row.step}/{row.steps}  loss {row.loss:.4f}  "
            f"{row.pairs_per_second:.1f} pairs/s  {scores}"
        )
