"""`python -m finetune train`, `reader`, `words`, `word-reader` and `vectors`: train new models."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from safetensors.torch import save_file

from finetune.training.checkpoints import CHECKPOINT, newest_checkpoint
from finetune.training.encoder import Progress, TrainingOptions, start_reader, train
from finetune.training.frozen_layers import encode, score
from finetune.training.loop import Epoch
from finetune.training.recipes import WORD_MODELS, WORD_READERS, Preset, WordModel
from finetune.training.word_models import (
    embed_words,
    reduce_by_pca,
    untrained,
    vocabulary,
    with_special,
)
from finetune.training.word_models import train as train_words
from finetune.trials.base import MAX_EPOCHS, MAX_SEED, rate_problems, refuse
from probe.cli.file_options import labelled_and_told, settled, takes_file
from probe.cli.options import PrecisionName, choice, warn
from probe.cli.output import make_folder
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.questions import answered, question_rows
from probe.data.reading import left_out, stream_examples
from probe.data.rows import NO_COLUMN, read_rows
from probe.data.source import read_table
from probe.errors import ModelError, TrainingError
from probe.models.checkpoint import ENCODER, check_folder, start_from_encoder
from probe.models.classifier import resolve
from probe.models.library import AnyModel, full_name, load_any, locate, notes_of
from probe.models.word_models.word_tokenizer import SPECIAL
from probe.tasks.nli import NLI
from probe.tasks.reading import READING, Question
from probe.tasks.task import IN_COMMON, Task, in_common_classes, task_named

MIN_TOKENS = 8
"""Fewest tokens of a cut pair: the special ones of any tokenizer, and some of each text."""
DEV_TOKENS = 512
"""Where the pairs of a word model's dev sets are cut."""


def _checked_rate(rate: float | None) -> float | None:
    refuse(rate_problems([] if rate is None else [rate], "the"))
    return rate


def _checked_minutes(minutes: float) -> float:
    refuse({"--minutes must be above 0": not minutes > 0})  # NaN is not above it either
    return minutes


def _set_threads(threads: int) -> int:
    torch.set_num_threads(threads)
    return threads


PairFiles = Annotated[list[Path], typer.Option("--train", help="Labelled, of any form.")]
QuestionFiles = Annotated[list[Path], typer.Option("--train", help="SQuAD's JSON, or a table.")]
Out = Annotated[Path, typer.Option(help="Folder for checkpoints and the finished model.")]
Dev = Annotated[list[Path], typer.Option(help="Sets to measure on.")]
Rate = Annotated[float, typer.Option(callback=_checked_rate)]
Epochs = Annotated[int, typer.Option(min=1, max=MAX_EPOCHS)]
Batch = Annotated[int, typer.Option(min=1)]
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED)]
Threads = Annotated[int, typer.Option(min=1, help="Torch threads.", callback=_set_threads)]
Frozen = Annotated[
    bool, typer.Option(help="Keep the encoder's word embeddings, which models can share.")
]
Vectors = Annotated[str, typer.Option(help="Name of the vectors in assets/vectors.")]
Correction = Annotated[int, typer.Option(min=0, help="Rank of what is learnt on top of them.")]
PRESETS = "Instead of the preset's."
PresetRate = Annotated[float | None, typer.Option(callback=_checked_rate, help=PRESETS)]
PresetBatch = Annotated[int | None, typer.Option(min=1, help=PRESETS)]
PresetEpochs = Annotated[int | None, typer.Option(min=1, max=MAX_EPOCHS, help=PRESETS)]
Fall = Annotated[bool, typer.Option(help="Let the rate fall to zero, step by step.")]
Minutes = Annotated[
    float, typer.Option(callback=_checked_minutes, help="No epoch ends later than this.")
]


def dev_sets(
    files: Sequence[Path],
    read: Callable[[Path], Iterable[Any]],
    task: Task,
    size: int | None = None,
) -> dict[str, Sequence[Any]]:  # Any: the task's own dataclass
    """Return the first `size` examples of dev sets by their names, all where it is None.

    Gold labels are in the classes that all of a set have, which its name says where some merge
    others. Raises TrainingError for a set without any.
    """
    sets: dict[str, Sequence[Any]] = {}
    for file in files:
        name, examples = file.name.split(".")[0], list(islice(read(file), size))
        if not examples:
            raise TrainingError(f"the dev set {name} holds no example that can be measured on")
        merged = task.merges(each.gold for each in examples)
        (read_alike,) = in_common_classes(task, examples)
        sets[f"{name} {IN_COMMON}" if merged else name] = read_alike
    return sets


def examples_of(
    file: Path, task: Task, reading: FileOptions, needs_gold: bool = True
) -> Sequence[Any]:  # Any: the task's own dataclass
    """Return the examples of a file of any form, and say how it is read.

    Raises FileQuestion with the options that answer it, FileError.
    """
    reading = replace(reading, one_file=False)  # there are files to measure on too
    if needs_gold:
        return labelled_and_told(file, task, reading).examples
    unlabelled = replace(reading, gold=NO_COLUMN, values={})
    table = read_table(file, options=unlabelled)
    rows = list(read_rows(table, settled(table, file, task, unlabelled), task))
    if words := left_out(rows, needs_gold=False):
        typer.echo(f"note: {file.name}: {words}", err=True)
    return [row.example for row in rows if row.example]


def _questions(files: Sequence[Path]) -> tuple[Sequence[Question], str]:
    """Return the questions that can be learnt, and how many there are in words."""
    rows = [row for file in files for row in question_rows(file)]
    questions = answered(rows)
    return questions, f"{len(questions)} questions, {len(rows) - len(questions)} left out"


def _make_model_folder(out: Path, resumes: bool = True) -> None:
    """Make the folder of a new model; with `resumes` a checkpoint in it is gone on from.

    Raises FileError, and TrainingError where another model lies there.
    """
    if resumes and newest_checkpoint(out):
        return
    if any((out / name).exists() for name in ("config.json", CHECKPOINT)):
        raise TrainingError(f"{out} holds a model already; name another folder with --out")
    make_folder(out)


def _follow(rows: Iterable[Progress | Epoch], out: Path, task: Task) -> None:
    """Carry out a training, and print a line of each of its rows; say where there is none left."""

    def written(value: float) -> str:
        return f"F1 {100 * value:.1f}" if task.has_spans else f"{value:.4f}"

    row = None
    for row in rows:
        speed = f"{row.pairs_per_second:.1f} {'windows' if task.has_spans else 'pairs'}/s"
        if isinstance(row, Progress):
            scores = [f"{name} {written(value)}" for name, value in row.accuracy.items()]
            said = [f"step {row.step}/{row.steps}", f"loss {row.loss:.4f}", speed, *scores]
        else:
            dev = f"held out {written(row.dev)}"
            said = [f"epoch {row.epoch}", f"loss {row.loss:.4f}", dev, f"lr {row.lr:g}", speed]
        typer.echo("  ".join(said))
    if row is None:
        typer.echo(
            f"{out} was trained to its end before, with the same data and options: nothing is left "
            "to train; name another folder with --out to train anew"
        )


@takes_file(texts=False)
def train_command(
    model: Annotated[str, typer.Option(help="Encoder or model: folder, bundled name or hub id.")],
    train_file: PairFiles,
    out: Out,
    dev: Dev = [],  # noqa: B006
    dev_size: Annotated[
        int, typer.Option(min=1, help="Pairs of each dev set, from its start.")
    ] = 2000,
    task: Annotated[str, typer.Option(help="What the model is to answer.")] = NLI.name,
    epochs: Epochs = 1,
    lr: Rate = 1.5e-4,
    batch: Batch = 32,
    max_tokens: Annotated[int, typer.Option(min=MIN_TOKENS, help="Where pairs are cut.")] = 96,
    seed: Seed = 0,
    threads: Threads = 1,
    precision: PrecisionName = "auto",
    freeze_word_embeddings: Frozen = False,
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
    asked = task_named(task)
    _make_model_folder(out)
    encoder = start_from_encoder(str(locate(model)[0]), asked)
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
    read = partial(examples_of, task=asked, reading=reading)
    pairs = [pair for file in train_file for pair in read(file)]
    pairs += [pair for file in unlabelled for pair in read(file, needs_gold=False)]
    sets = dev_sets(dev, read, asked, dev_size)
    typer.echo(f"{len(pairs)} pairs, {options}")
    if teacher:
        typer.echo("first the teachers answer all of them")
    _follow(train(encoder, pairs, options, out, sets), out, asked)


def reader_command(
    model: Annotated[str, typer.Option(help="Encoder or reader: folder, bundled name or hub id.")],
    train_file: QuestionFiles,
    out: Out,
    dev: Dev = [],  # noqa: B006
    dev_size: Annotated[
        int, typer.Option(min=1, help="Questions of each dev set, from its start.")
    ] = 500,
    epochs: Epochs = 2,
    lr: Rate = 6e-5,
    batch: Batch = 24,
    every: Annotated[int, typer.Option(min=1, help="Steps between two checkpoints.")] = 200,
    seed: Seed = 0,
    threads: Threads = 1,
    precision: PrecisionName = "auto",
    freeze_word_embeddings: Frozen = False,
) -> None:
    """Fine-tune an encoder to answer questions with spans of a passage; run again to resume."""
    _make_model_folder(out)
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
    questions, counted = _questions(train_file)
    sets = dev_sets(dev, lambda file: answered(question_rows(file)), READING, dev_size)
    typer.echo(f"{counted}, {options}")
    _follow(train(encoder, questions, options, out, sets, every), out, READING)


def _preset(
    kinds: Mapping[str, WordModel],
    model: str,
    preset: str,
    lr: float | None,
    batch: int | None,
    epochs: int | None,
    fall: bool,
) -> Preset:
    """Return a preset with what the person sets otherwise. Raises TrainingError for none."""
    if model not in kinds or preset not in kinds[model].presets:
        known = ", ".join(f"{name} ({', '.join(own.presets)})" for name, own in kinds.items())
        raise TrainingError(f"there is no {model!r} with {preset!r}; there are: {known}")
    begun = kinds[model].presets[preset]
    falls = begun.fall or fall
    return replace(
        begun,
        recipe=replace(begun.recipe, lr=lr or begun.recipe.lr, batch=batch or begun.recipe.batch),
        epochs=epochs or begun.epochs,
        halve_patience=None if falls else begun.halve_patience,
        fall=falls,
    )


def _trained(folder: Path, name: str, kind: WordModel, task: Task) -> AnyModel:
    """Return a trained model to go on from. Raises ModelError, also where it is another kind."""
    model = load_any(str(folder))
    config = model.model.config
    facts = (config.model_type, getattr(config, "characters", False), model.task)
    if facts != (kind.model_type, kind.settings.get("characters", False), task):
        raise ModelError(f"{folder} is no {name}, so its training cannot go on as one's")
    return model


def _facts(model: AnyModel, preset: Preset) -> str:
    parameters = sum(weight.numel() for weight in model.model.parameters())
    return (
        f"{parameters} trained weights, batches of {preset.recipe.batch}, "
        f"lr {preset.recipe.lr:g}, at most {preset.epochs} epochs"
    )


@takes_file(texts=False)
def words_command(
    model: Annotated[str, typer.Option(help="da, esim or esim_char.")],
    train_file: PairFiles,
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
    device: Annotated[str, choice("device", ("cpu", "cuda"), "Where it is trained.")] = "cpu",
    precision: PrecisionName = "fp32",
    threads: Threads = 1,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Train one of the papers' word-level models from word vectors."""
    settings = _preset(WORD_MODELS, model, preset, lr, batch, epochs, fall)
    if device == "cuda" and not torch.cuda.is_available():
        raise TrainingError("there is no GPU here that torch can use; take --device cpu")
    _make_model_folder(out, resumes=False)
    read = partial(examples_of, task=NLI, reading=reading)
    sets = dev_sets(dev, read, NLI)
    classifier: Any = (  # Any: no reader
        _trained(more, model, WORD_MODELS[model], NLI)
        if more
        else untrained(model, preset, vectors, correction, own, seed)
    )
    classifier.model.to(place := torch.device(device))
    pairs = [pair for file in train_file for pair in read(file)]
    typer.echo(f"{len(pairs)} pairs, {_facts(classifier, settings)}")
    rows = train_words(classifier, settings, pairs, out, seed, minutes, resolve(precision))
    _follow(rows, out, NLI)
    for name, examples in sets.items():
        data = encode(classifier, examples, DEV_TOKENS, place)
        typer.echo(f"{name} {score(classifier, data):.4f}")


def word_reader_command(
    model: Annotated[str, typer.Option(help="bidaf or qanet.")],
    train_file: QuestionFiles,
    out: Out,
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
    threads: Threads = 1,
) -> None:
    """Train BiDAF or QANet from word vectors; run again to resume."""
    settings = _preset(WORD_READERS, model, preset, lr, batch, epochs, fall)
    _make_model_folder(out)
    reader = (
        _trained(more, model, WORD_READERS[model], READING)
        if more
        else untrained(model, preset, vectors, correction, seed=seed)
    )
    questions, counted = _questions(train_file)
    typer.echo(f"{counted}, {_facts(reader, settings)}")
    rows = train_words(reader, settings, questions, out, seed, minutes, resolve(precision))
    _follow(rows, out, READING)


def vectors_command(
    encoder: Annotated[str, typer.Option(help="Folder of a sentence encoder, or hub id.")],
    train_file: PairFiles,
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
    reduced, explained = reduce_by_pca(embed_words(known[len(SPECIAL) :], str(folder)), size)
    Path(f"{out}.txt").write_text("\n".join(known) + "\n", encoding="utf-8")
    weights = Path(f"{out}.safetensors")
    save_file({"vectors": with_special(reduced).half()}, weights)
    weights.chmod(0o644)  # safetensors writes for its owner alone
    typer.echo(f"{len(known)} words, {size} components, {explained:.4f} of the variance")
