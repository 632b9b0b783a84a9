"""`python -m finetune word-reader`: train one of the papers' word-level readers."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.cli.options import (
    Correction,
    Fall,
    Minutes,
    PresetBatch,
    PresetEpochs,
    PresetRate,
    Seed,
    TorchThreads,
    Vectors,
    make_model_folder,
    unless_finished,
)
from finetune.training.recipes import WORD_READERS, Preset
from finetune.training.word_models import train_reader, untrained_reader
from probe.cli.options import PrecisionName
from probe.data.questions import answered, question_rows
from probe.errors import ModelError, TrainingError
from probe.models.classifier import resolve
from probe.models.library import load_reader
from probe.models.reader import Reader


def word_reader_command(
    model: Annotated[str, typer.Option(help="bidaf or qanet.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="SQuAD's JSON, or a table.")],
    out: Annotated[Path, typer.Option(help="Folder for checkpoints and the model.")],
    preset: Annotated[str, typer.Option(help="allennlp (Liu et al. 2019) or small.")] = "allennlp",
    vectors: Vectors = "words",
    correction: Correction = 0,
    more: Annotated[Path | None, typer.Option(help="Go on from this trained reader.")] = None,
    lr: PresetRate = None,
    batch: PresetBatch = None,
    epochs: PresetEpochs = None,
    fall: Fall = False,
    seed: Seed = 0,
    minutes: Minutes = 600.0,
    precision: PrecisionName = "auto",
    threads: TorchThreads = 1,
) -> None:
    """Train BiDAF or QANet from word vectors; run again to resume."""
    torch.set_num_threads(threads)
    settings = _changed(_preset(model, preset), lr, batch, epochs, fall)
    make_model_folder(out, resumes=True)
    reader = (
        _trained(more, model)
        if more
        else untrained_reader(model, preset, vectors, correction, seed)
    )
    rows = [row for file in train_file for row in question_rows(file)]
    questions = answered(rows)
    parameters = sum(weight.numel() for weight in reader.model.parameters())
    typer.echo(
        f"{len(questions)} questions, {len(rows) - len(questions)} left out, {parameters} trained "
        f"weights, batches of {settings.recipe.batch}, lr {settings.recipe.lr:g}, at most "
        f"{settings.epochs} epochs"
    )
    rows_left = train_reader(reader, settings, questions, out, seed, minutes, resolve(precision))
    for row in unless_finished(rows_left, out):
        typer.echo(
            f"epoch {row.epoch}  loss {row.loss:.4f}  held out F1 {100 * row.dev:.1f}  "
            f"lr {row.lr:g}  {row.pairs_per_second:.1f} windows/s"
        )


def _preset(model: str, preset: str) -> Preset:
    if preset not in WORD_READERS.get(model, {}):
        known = ", ".join(f"{name} ({', '.join(it)})" for name, it in WORD_READERS.items())
        raise TrainingError(f"there is no {model!r} with {preset!r}; there are: {known}")
    return WORD_READERS[model][preset]


def _trained(folder: Path, model: str) -> Reader:
    """Return a trained reader to go on from. Raises ModelError, also where it is another kind."""
    reader = load_reader(str(folder))
    if reader.model.config.model_type != model:
        raise ModelError(f"{folder} is no {model}, so its training cannot go on as one's")
    return reader


def _changed(
    preset: Preset, lr: float | None, batch: int | None, epochs: int | None, fall: bool
) -> Preset:
    """Return a preset with what the person sets otherwise."""
    recipe = replace(preset.recipe, lr=lr or preset.recipe.lr, batch=batch or preset.recipe.batch)
    return replace(preset, recipe=recipe, epochs=epochs or preset.epochs, fall=preset.fall or fall)
