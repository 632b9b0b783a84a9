"""`python -m finetune words`: train one of the papers' word-level models."""

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
)
from finetune.training.encoded import encode, score
from finetune.training.recipes import WORD_MODELS, Preset
from finetune.training.word_models import (
    embed_words,
    reduce_by_pca,
    train,
    untrained,
    vocabulary,
    with_special,
)
from probe.cli.file_options import takes_file
from probe.cli.options import PrecisionName, choice
from probe.cli.output import make_folder
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.reading import stream_examples
from probe.errors import ModelError, TrainingError
from probe.models.checkpoint import ENCODER, check_folder
from probe.models.classifier import Classifier, resolve
from probe.models.library import load, locate
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
    settings = _changed(_preset(model, preset), lr, batch, epochs, fall)
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


def _preset(model: str, preset: str) -> Preset:
    if model not in WORD_MODELS or preset not in WORD_MODELS[model].presets:
        known = ", ".join(f"{name} ({', '.join(it.presets)})" for name, it in WORD_MODELS.items())
        raise TrainingError(f"there is no {model!r} with {preset!r}; there are: {known}")
    return WORD_MODELS[model].presets[preset]


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
    recipe = preset.recipe
    return replace(
        preset,
        recipe=replace(recipe, lr=lr or recipe.lr, batch=batch or recipe.batch),
        epochs=epochs or preset.epochs,
        halve_patience=None if fall else preset.halve_patience,
        fall=fall,
    )


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
