"""`python -m finetune train`: fine-tune an encoder."""

from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.training.data import read_jsonl
from finetune.training.encoder import TrainingOptions, train
from probe.cli.options import PrecisionName
from probe.cli.output import make_folder
from probe.models.classifier import resolve
from probe.models.library import find, start_from_encoder


def train_command(
    model: Annotated[str, typer.Option(help="Encoder or model: folder, bundled name or hub id.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="JSON lines, maybe gzipped.")],
    out: Annotated[Path, typer.Option(help="Folder for checkpoints and the finished model.")],
    dev: Annotated[list[Path], typer.Option(help="Sets to measure on.")] = [],  # noqa: B006
    dev_size: Annotated[int, typer.Option(help="Pairs of each dev set, from its start.")] = 2000,
    epochs: int = 1,
    lr: float = 1.5e-4,
    batch: int = 32,
    max_tokens: int = 96,
    seed: int = 0,
    threads: Annotated[int, typer.Option(help="Torch threads.")] = 1,
    precision: PrecisionName = "auto",
) -> None:
    """Fine-tune an encoder into a three-way NLI model; run again to resume."""
    torch.set_num_threads(threads)
    make_folder(out)
    options = TrainingOptions(
        lr=lr,
        epochs=epochs,
        batch=batch,
        max_tokens=max_tokens,
        seed=seed,
        precision=resolve(precision),
    )
    pairs = [pair for file in train_file for pair in read_jsonl(file)]
    sets = {file.name.split(".")[0]: list(read_jsonl(file))[:dev_size] for file in dev}
    typer.echo(f"{len(pairs)} pairs, {options}")
    for row in train(start_from_encoder(find(model)), pairs, options, out, sets):
        scores = "  ".join(f"{name} {value:.4f}" for name, value in row.accuracy.items())
        typer.echo(
            f"step {row.step}/{row.steps}  loss {row.loss:.4f}  "
            f"{row.pairs_per_second:.1f} pairs/s  {scores}"
        )
