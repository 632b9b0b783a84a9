"""`python -m finetune words`, `word-reader` and `vectors`: the papers' word-level models."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer
from safetensors.torch import save_file

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
    dev_sets,
    examples_of,
    make_model_folder,
    unless_finished,
)
from finetune.training.encoded import encode, score
from finetune.training.recipes import WORD_MODELS, WORD_READERS, Preset
from finetune.training.word_models import (
    embed_words,
    reduce_by_pca,
    train,
    train_reader,
    untrained,
    untrained_reader,
    vocabulary,
    with_special,
)
from probe.cli.file_options import takes_file
from probe.cli.options import PrecisionName, choice
from probe.cli.output import make_folder
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.questions import answered, question_rows
from probe.data.reading import stream_examples
from probe.errors import ModelError, TrainingError
from probe.models.checkpoint import ENCODER, check_folder
from probe.models.classifier import Classifier, resolve
from probe.models.library import load, load_reader, locate
from probe.models.reader import Reader
from probe.models.word_models.word_tokenizer import SPECIAL
from probe.tasks.nli import NLI

DeviceName = Annotated[str, choice("device", ("cpu", "cuda"), "Where it is trained.")]
DEV_TOKENS = 512
"""Where the pairs of dev sets are cut."""


@takes_file(texts=False)
def words_command(
    model: Annotated[str, typer.Option(help="da, esim or esim_char.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="Labelled, of any form.")],
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    preset: Annotated[str, typer.Option(help="allennlp (Liu et al. 2019) or paper.")] = "allennlp",
    vectors: Vectors = "words",
    correction: Correction = 0,
    own: Annotated[bool, typer.Option(help="Copy the vectors and train them whole.")] = False,
    dev: Annotated[list[Path], typer.Option(help="Sets to measure on at the end.")] = [],  # noqa: B006
    more: Annotated[Path | None, typer.Option(help="Go on from this trained model.")] = None,
    lr: PresetRate = None,
    batch: PresetBatch = None,
    epochs: PresetEpochs = None,
    fall: Fall = False,
    seed: Seed = 0,
    minutes: Minutes = 600.0,
    device: DeviceName = "cpu",
    precision: PrecisionName = "fp32",
    threads: TorchThreads = 1,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Train one of the papers' word-level models from word vectors."""
    torch.set_num_threads(threads)
    presets = {name: each.presets for name, each in WORD_MODELS.items()}
    settings = _changed(_preset(presets, model, preset), lr, batch, epochs, fall)
    place = _place(device)
    make_model_folder(out, resumes=False)
    read = partial(examples_of, task=NLI, reading=reading)
    sets = dev_sets(dev, read, NLI)
    initial = (
        _trained(more, model) if more else untrained(model, preset, vectors, correction, own, seed)
    )
    initial.model.to(place)  # type: ignore[arg-type]  # transformers wraps it without its types
    classifier = replace(initial, device=place)
    pairs = [pair for file in train_file for pair in read(file)]
    parameters = sum(weight.numel() for weight in classifier.model.parameters())
    typer.echo(
        f"{len(pairs)} pairs, {parameters} trained weights, batches of {settings.recipe.batch}, "
        f"lr {settings.recipe.lr:g}, at most {settings.epochs} epochs"
    )
    for row in train(classifier, settings, pairs, out, seed, minutes, resolve(precision)):
        typer.echo(
            f"epoch {row.epoch}  loss {row.loss:.4f}  held out {row.dev:.4f}  "
            f"lr {row.lr:g}  {row.pairs_per_second:.0f} pairs/s"
        )
    for name, examples in sets.items():
        data = encode(classifier, examples, DEV_TOKENS, place)
        typer.echo(f"{name} {score(classifier, data):.4f}")


def _preset(presets: Mapping[str, Mapping[str, Preset]], model: str, preset: str) -> Preset:
    if preset not in presets.get(model, {}):
        known = ", ".join(f"{name} ({', '.join(own)})" for name, own in presets.items())
        raise TrainingError(f"there is no {model!r} with {preset!r}; there are: {known}")
    return presets[model][preset]


def _trained(folder: Path, model: str) -> Classifier:
    """Return a trained model to go on from. Raises ModelError, also where it is another kind."""
    classifier, kind = load(str(folder)), WORD_MODELS[model]
    config = classifier.model.config
    facts = (config.model_type, getattr(config, "characters", False), classifier.task)
    if facts != (kind.model_type, kind.settings.get("characters", False), NLI):
        raise ModelError(f"{folder} is no {model}, so its training cannot go on as one's")
    return classifier


def _place(device: str) -> torch.device:
    if device == "cuda" and not torch.cuda.is_available():
        raise TrainingError("there is no GPU here that torch can use; take --device cpu")
    return torch.device(device)


def _changed(
    preset: Preset, lr: float | None, batch: int | None, epochs: int | None, fall: bool
) -> Preset:
    """Return a preset with what the person sets otherwise."""
    recipe = replace(preset.recipe, lr=lr or preset.recipe.lr, batch=batch or preset.recipe.batch)
    falls = preset.fall or fall
    return replace(
        preset,
        recipe=recipe,
        epochs=epochs or preset.epochs,
        halve_patience=None if falls else preset.halve_patience,
        fall=falls,
    )


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
    settings = _changed(_preset(WORD_READERS, model, preset), lr, batch, epochs, fall)
    make_model_folder(out, resumes=True)
    reader = (
        _trained_reader(more, model)
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


def _trained_reader(folder: Path, model: str) -> Reader:
    """Return a trained reader to go on from. Raises ModelError, also where it is another kind."""
    reader = load_reader(str(folder))
    if reader.model.config.model_type != model:
        raise ModelError(f"{folder} is no {model}, so its training cannot go on as one's")
    return reader


def vectors_command(
    encoder: Annotated[str, typer.Option(help="Folder of a sentence encoder, or hub id.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="Labelled, of any form.")],
    out: Annotated[Path, typer.Option(help="Writes OUT.txt and OUT.safetensors.")],
    words: Annotated[
        int, typer.Option(min=len(SPECIAL) + 1, help="How many, special ones included.")
    ] = 25_000,
    size: Annotated[int, typer.Option(min=1, help="Components of a vector.")] = 300,
    cased: Annotated[bool, typer.Option(help="Keep capital letters apart.")] = False,
) -> None:
    """Count the words of training files and distil a vector for each from an encoder."""
    folder = locate(encoder)[0]
    check_folder(encoder, folder, ENCODER)
    make_folder(out.parent)
    pairs = (pair for file in train_file for pair in stream_examples(file, NLI))
    texts = (text for pair in pairs for text in (pair.premise, pair.hypothesis))
    known = vocabulary(texts, words, not cased)
    reduced = reduce_by_pca(embed_words(known[len(SPECIAL) :], str(folder)), size)
    Path(f"{out}.txt").write_text("\n".join(known) + "\n", encoding="utf-8")
    weights = Path(f"{out}.safetensors")
    save_file({"vectors": with_special(reduced.vectors).half()}, weights)
    weights.chmod(0o644)  # safetensors writes for its owner alone
    typer.echo(f"{len(known)} words, {size} components, {reduced.explained:.4f} of the variance")
