"""`python -m finetune train`, `reader`, `words`, `word-reader` and `vectors`: train new models."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, get_args

import torch
import typer
from safetensors.torch import save_file

from finetune.cli.trials import Given, takes_options
from finetune.training.checkpoints import CHECKPOINT, newest_checkpoint
from finetune.training.data import read_change
from finetune.training.dynamics import RANDOM, Dynamics, subset_of
from finetune.training.encoder import Progress, TrainingOptions, start_reader, train
from finetune.training.frozen_layers import encode, score
from finetune.training.loop import Epoch
from finetune.training.losses import read_loss
from finetune.training.recipes import (
    PLAIN,
    WORD_MODELS,
    WORD_READERS,
    Preset,
    WordModel,
    weak_problem,
)
from finetune.training.starter import ANSWERS, write_answers
from finetune.training.word_models import (
    embed_words,
    held_out,
    reduce_by_pca,
    untrained,
    vocabulary,
    with_special,
)
from finetune.training.word_models import train as train_words
from finetune.trials.base import MAX_EPOCHS, MAX_SEED, rate_problems, refuse
from probe.analysis.cartography import (
    REGIONS,
    SHARE,
    DataMap,
    dynamics_files,
    joined,
    read_dynamics,
)
from probe.cli.file_options import labelled_and_told, settled, takes_file
from probe.cli.options import PrecisionName, choice, warn
from probe.cli.output import make_folder
from probe.data.file_options import FileOptions
from probe.data.questions import answered, question_rows
from probe.data.reading import left_out, reading_with_gold, stream_examples
from probe.data.rows import NO_COLUMN, read_rows
from probe.data.source import read_table
from probe.errors import FileError, ModelError, TrainingError
from probe.models.asked import Asked
from probe.models.checkpoint import ENCODER, check_folder, start_from_encoder
from probe.models.classifier import resolve
from probe.models.library import Trainee, asked_in_words, full_name, load_any, locate, notes_of
from probe.models.word_models.word_tokenizer import SPECIAL
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
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


def _row(kind: Any, default: Any = ..., help: str | None = None, **facts: Any) -> Any:
    return kind, default, typer.Option(help=help, **facts)


_precision, _precision_option = get_args(PrecisionName)
_device = choice("device", ("cpu", "cuda"), "Where it is trained.")
FROZEN = "Keep the encoder's word embeddings, which models can share."
WEIGHT = "Weight of the teachers' mean against a label."
KEPT = "Folder of the teachers' answers, for several trainings; else in --out."
TAUGHT = "teacher teacher_weight unlabelled answers"
CHANGED = "Change every text that is learnt by NAME or NAME:OPTION=VALUE,…; labels are kept."
LOSS = (
    "plain, smoothing or focal, the number behind a colon: smoothing:0.1, focal:2; with --weak "
    "poe, reweight or, of a --teacher alone, regularise."
)
AGAINST = "Short cut to learn against, by cross-validation: hypothesis, overlap or bag."
STARTER = (
    "Leave what the starter of the courses on data set artefacts does: a model at each "
    "checkpoint-STEP, and of the one --dev set eval_predictions.jsonl and eval_metrics.json."
)
LATEST = "No epoch ends later than this."
KEEP = (
    "Folder for each row's logits in each epoch, which probe map draws (Swayamdipta et al. 2020)."
)
SUBSET = (
    "Learn these rows of --map alone; random ones are the control. Of few ambiguous ones alone "
    "nothing may be learnt."
)
MAP = "Folder that a training's --dynamics wrote, or a table as probe map takes it."
CHOOSES = "dynamics subset map share"
OPTIONS: Mapping[str, tuple[Any, Any, Any]] = {  # Any: type, default (... for none), typer's own
    "model": _row(str),
    "train": _row(list[Path], help="Labelled, of any form."),
    "out": _row(Path, help="Folder for checkpoints and the finished model."),
    "dev": _row(list[Path], [], "Sets to measure on."),
    "dev_size": _row(int, min=1),
    "task": _row(str, NLI.name, "What the model is to answer."),
    "epochs": _row(int, min=1, max=MAX_EPOCHS),
    "lr": _row(float, callback=_checked_rate),
    "batch": _row(int, min=1),
    "every": _row(int, 200, "Steps between two checkpoints.", min=1),
    "max_tokens": _row(int, 96, "Where pairs are cut.", min=MIN_TOKENS),
    "seed": _row(int, 0, min=0, max=MAX_SEED),
    "threads": _row(int, 1, "Torch threads.", min=1),
    "precision": (_precision, "auto", _precision_option),
    "freeze_word_embeddings": _row(bool, False, FROZEN),
    "teacher": _row(list[str], [], "Model whose probabilities count beside the labels."),
    "teacher_weight": _row(float, TrainingOptions.teacher_weight, WEIGHT, min=0, max=1),
    "unlabelled": _row(list[Path], [], "Texts that are learnt from the teachers alone."),
    "answers": _row(Path, None, KEPT),
    "transform": _row(str, "", CHANGED),
    "loss": _row(str, PLAIN, LOSS),
    "starter": _row(bool, False, STARTER),
    "dynamics": _row(Path, None, KEEP),
    "subset": (str, None, choice("subset", (*REGIONS, RANDOM), SUBSET)),
    "map": _row(Path, None, MAP),
    "share": _row(float, SHARE, "The share of the map's rows that --subset is.", min=0.001, max=1),
    "weak": _row(str, "", AGAINST),
    "preset": _row(str, "allennlp"),
    "vectors": _row(str, "words", "Name of the vectors in assets/vectors."),
    "correction": _row(int, 0, "Rank of what is learnt on top of them.", min=0),
    "own": _row(bool, False, "Copy the vectors and train them whole."),
    "more": _row(Path, None),
    "fall": _row(bool, False, "Let the rate fall to zero, step by step."),
    "minutes": _row(float, 600.0, LATEST, callback=_checked_minutes),
    "device": (str, "cpu", _device),
}
"""The options of all four commands that train, those of `TAUGHT` where there can be teachers."""
PRESETS = dict.fromkeys(("lr", "batch", "epochs"), "Instead of the preset's.")


def command(names: str, help: Mapping[str, str], **defaults: Any) -> Callable[[Any], Any]:
    """Make a command of a function of values by name; help and defaults may be a command's own."""

    def parameter(name: str) -> inspect.Parameter:
        kind, usual, option = OPTIONS[name]
        default, own = defaults.get(name, usual), copy(option)
        own.help = help.get(name, option.help)
        kind = Annotated[kind | None if default is None else kind, own]
        default = inspect.Parameter.empty if default is ... else default
        keyword = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(name, keyword, annotation=kind, default=default)

    return takes_options(map(parameter, names.split()))


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


def _chosen(
    given: Given, task: Task, spared: Callable[[Any], bool]
) -> Callable[[Path, Sequence[Any]], list[Any]]:  # Any: as above
    """Return what leaves of a file's examples the rows of the subset, and those that are spared.

    Raises FileError, FileQuestion where its rows are not those of the map.
    """
    name, place = given.get("subset"), given.get("map")
    refuse(
        {
            "--subset chooses rows of a map; name its folder with --map": name and not place,
            "--map needs a --subset of its rows": place and not name,
        }
    )
    if not (name and place):
        return lambda file, examples: list(examples)
    dynamics = read_dynamics(dynamics_files(place), task)
    drawn = DataMap(dynamics, given["share"])
    rows, taken = {*subset_of(drawn, name, given["seed"])}, dict[int, str]()
    if drawn.too_few:
        typer.echo(f"note: {drawn.too_few}", err=True)

    def chosen(file: Path, examples: Sequence[Any]) -> list[Any]:  # Any: as above
        options = replace(given["reading"], one_file=False)
        table = read_table(file, options=options)
        columns = reading_with_gold(table, file, task, options).columns
        read, met = joined(dynamics, table, columns, task)
        if both := [taken[at] for at in met if at in taken]:
            raise FileError(
                f"{both[0]} and {file.name} both have rows that are {len(both):,} of the map's, "
                "which is of one of them; train on that one alone"
            )
        taken.update(dict.fromkeys(met, file.name))
        learnt = {str(row.number) for at, row in met.items() if at in rows}
        mapped = {str(row.number) for row in met.values()}
        kept = [each for each in examples if each.id in learnt or spared(each)]
        count = sum(each.id in learnt and not spared(each) for each in kept)
        others = sum(each.id not in mapped and not spared(each) for each in examples)
        typer.echo(f"note: {read.notes[-1]}", err=True)
        typer.echo(
            f"{file.name}: {count:,} of {len(examples):,} rows are learnt, {name} ones of the map"
            + (f"; {len(kept) - count:,} are held out" if len(kept) > count else "")
            + (f"; {others:,} are not in the map, and are left out" if others else "")
        )
        return kept

    return chosen


def _examples(
    given: Given,
    task: Task,
    spared: Callable[[Any], bool] = lambda example: False,  # Any: as above
) -> tuple[Sequence[Any], str]:
    """Return the examples that are learnt, and how many there are in words.

    Of a subset those that are `spared` stay too.
    """
    if task.has_spans:
        rows = [row for file in given["train"] for row in question_rows(file)]
        questions = answered(rows)
        return questions, f"{len(questions)} questions, {len(rows) - len(questions)} left out"
    read = partial(examples_of, task=task, reading=given["reading"])
    chosen, pairs = _chosen(given, task, spared), list[Any]()
    for file in given["train"]:
        own = chosen(file, read(file))
        several = len(given["train"]) > 1  # a row is known by its file then
        pairs += [replace(each, id=f"{file.name}:{each.id}") for each in own] if several else own
    bare = given.get("unlabelled", ())
    pairs += [pair for file in bare for pair in read(file, needs_gold=False)]
    return pairs, f"{len(pairs)} pairs"


def _dev_sets(given: Given, task: Task) -> dict[str, Sequence[Any]]:
    def read(file: Path) -> Iterable[Any]:  # Any: as above
        if task.has_spans:
            return answered(question_rows(file))
        return examples_of(file, task, given["reading"])

    return dev_sets(given.get("dev", ()), read, task, given.get("dev_size"))


def _make_model_folder(out: Path) -> None:
    """Make the folder of a new model; a checkpoint in it is gone on from.

    Raises FileError, and TrainingError where another model lies there.
    """
    if newest_checkpoint(out):
        return
    if any((out / name).exists() for name in ("config.json", CHECKPOINT)):
        raise TrainingError(f"{out} holds a model already; name another folder with --out")
    make_folder(out)


def _teachers(given: Given, task: Task) -> tuple[str, ...]:
    """Return the names of teachers, which are there, and refuse what cannot be learnt of texts.

    Raises TrainingError, ModelError, TransformError.
    """
    names = given.get("teacher", ())
    bare = given.get("unlabelled") and not names
    changed, weak = given.get("transform"), given.get("weak", "")
    problem = weak_problem(weak, task) if weak else ""
    refuse(
        {
            "--unlabelled needs a --teacher, whose answers are learnt": bare,
            "--transform keeps the labels of what it changes: leave out --teacher": (
                changed and names
            ),
            "--weak tells the short cuts of whole texts: leave out --transform": changed and weak,
            problem: bool(problem),
        }
    )
    if changed:
        read_change(changed, task)
    read_loss(given.get("loss", PLAIN), taught=bool(names), weak=bool(weak))
    for name in names:
        locate(name)  # before files are read
    return tuple(map(full_name, names))


def _kept_dynamics(given: Given) -> Any:  # Any: what `train` takes, or None
    folder = given.get("dynamics")
    return partial(Dynamics.of, folder) if folder else None


def _follow(rows: Iterable[Progress | Epoch], given: Given, task: Task) -> None:
    """Carry out a training, and print a line of each of its rows; say where there is none left."""
    if given.get("teacher"):
        typer.echo("first the teachers answer those that they have not yet")

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
            f"{given['out']} was trained to its end before, with the same data and options: "
            "nothing is left to train; name another folder with --out to train anew"
        )


def _tune(given: Given, task: Task, start: Callable[[str], Trainee]) -> None:
    """Train what an encoder starts as."""
    out, starter = given["out"], given["starter"]
    refuse({"--starter answers one set; name it with --dev": starter and len(given["dev"]) != 1})
    _make_model_folder(out)
    model = start(str(locate(given["model"])[0]))
    warn(notes_of(model))
    own = {"precision": resolve(given["precision"]), "teachers": _teachers(given, task)}
    known = {each.name: given[each.name] for each in fields(TrainingOptions) if each.name in given}
    options = TrainingOptions(**{**known, **own})
    examples, counted = _examples(given, task)
    sets = _dev_sets(given, task)
    typer.echo(f"{counted}, {options}")
    kept = given["every"], given.get("answers"), typer.echo, starter, _kept_dynamics(given)
    rows = train(model, examples, options, out, sets, *kept)
    _follow(rows, given, task)
    if starter:
        (whole,) = _dev_sets({**given, "dev_size": None}, task).values()
        measured = write_answers(model, whole, options.precision, out)
        told = ", ".join(f"{name} {value:.4f}" for name, value in measured.items())
        typer.echo(f"{out / ANSWERS} has its answers to all {len(whole):,} of the set: {told}")


@takes_file(texts=False)
@command(
    "model train out dev dev_size task epochs lr batch every max_tokens seed threads precision "
    f"freeze_word_embeddings transform loss weak starter {TAUGHT} {CHOOSES}",
    {
        "model": "Encoder or model: folder, bundled name or hub id.",
        "dev_size": "Pairs of each dev set, from its start.",
    },
    **{"dev_size": 2000, "epochs": 1, "lr": 1.5e-4, "batch": 32, "every": 1000},
)
def train_command(given: Given) -> None:
    """Fine-tune an encoder into a model of a task, by default NLI; run again to resume.

    With teachers it is distilled: it learns from the mean of their probabilities too. With a
    transform it sees changed texts only; of what that leaves as it is nothing is learnt.
    """
    task = task_named(given["task"])
    _tune(given, task, lambda path: start_from_encoder(path, task))


@command(
    "model train out dev dev_size epochs lr batch every seed threads precision "
    "freeze_word_embeddings starter",
    {
        "model": "Encoder or reader: folder, bundled name or hub id.",
        "train": "SQuAD's JSON, or a table.",
        "dev_size": "Questions of each dev set, from its start.",
    },
    **{"dev_size": 500, "epochs": 2, "lr": 6e-5, "batch": 24},
)
def reader_command(given: Given) -> None:
    """Fine-tune an encoder to answer questions with spans of a passage; run again to resume."""
    _tune(given, READING, start_reader)


def _preset(kinds: Mapping[str, WordModel], given: Given, task: Task) -> Preset:
    """Return a preset with what the person sets otherwise. Raises TrainingError for none."""
    model, preset = given["model"], given["preset"]
    if model not in kinds or preset not in kinds[model].presets:
        known = ", ".join(f"{name} ({', '.join(own.presets)})" for name, own in kinds.items())
        raise TrainingError(f"there is no {model!r} with {preset!r}; there are: {known}")
    begun = kinds[model].presets[preset]
    fall = begun.fall or given["fall"]
    changes = {name: given[name] for name in ("lr", "batch") if given[name]}
    return replace(
        begun,
        recipe=replace(begun.recipe, **changes),
        epochs=given["epochs"] or begun.epochs,
        halve_patience=None if fall else begun.halve_patience,
        fall=fall,
        teachers=_teachers(given, task),
        **{
            name: given[name]
            for name in ("teacher_weight", "transform", "loss", "weak")
            if name in given
        },
    )


def _trained(folder: Path, name: str, kind: WordModel, task: Task) -> Trainee:
    """Return a trained model to go on from. Raises ModelError, also where it is another kind."""
    model = load_any(str(folder))
    if isinstance(model, Asked):
        raise asked_in_words(str(folder))
    config = model.model.config
    facts = (config.model_type, getattr(config, "characters", False), model.task)
    if facts != (
        kind.model_type,
        kind.settings.get("characters", False),
        task,
    ):
        raise ModelError(f"{folder} is no {name}, so its training cannot go on as one's")
    return model


def _train_words(given: Given, kinds: Mapping[str, WordModel], task: Task) -> None:
    """Train a word model or a reader."""
    name, out, device = given["model"], given["out"], given.get("device", "cpu")
    preset = _preset(kinds, given, task)
    if device == "cuda" and not torch.cuda.is_available():
        raise TrainingError("there is no GPU here that torch can use; take --device cpu")
    _make_model_folder(out)
    sets = _dev_sets(given, task)
    names = ("preset", "vectors", "correction", "own", "seed")
    model: Any = (  # Any: a classifier or a reader
        _trained(given["more"], name, kinds[name], task)
        if given["more"]
        else untrained(name, **{each: given[each] for each in names if each in given})
    )
    model.model.to(place := torch.device(device))
    examples, counted = _examples(given, task, lambda pair: held_out(pair.premise))
    parameters = sum(weight.numel() for weight in model.model.parameters())
    typer.echo(
        f"{counted}, {parameters} trained weights, batches of {preset.recipe.batch}, "
        f"lr {preset.recipe.lr:g}, at most {preset.epochs} epochs"
    )
    exact = resolve(given["precision"])
    how = given["seed"], given["minutes"], exact, given["every"], given.get("answers")
    rows = train_words(model, preset, examples, out, *how, typer.echo, _kept_dynamics(given))
    _follow(rows, given, task)
    for name, measured in sets.items():
        typer.echo(f"{name} {score(model, encode(model, measured, DEV_TOKENS, place)):.4f}")


@takes_file(texts=False)
@command(
    "model train out preset vectors correction own dev more lr batch epochs fall every seed "
    f"minutes device precision threads transform loss weak {TAUGHT} {CHOOSES}",
    {
        **PRESETS,
        "model": "da, esim or esim_char.",
        "preset": "allennlp (Liu et al. 2019) or paper.",
        "dev": "Sets to measure on at the end.",
        "more": "Go on from this trained model.",
    },
    **{**dict.fromkeys(PRESETS), "precision": "fp32"},
)
def words_command(given: Given) -> None:
    """Train one of the papers' word-level models from word vectors; run again to resume.

    Teachers and transforms are as in `train`; the epoch is chosen on changed texts too.
    """
    _train_words(given, WORD_MODELS, NLI)


@command(
    "model train out preset vectors correction more lr batch epochs fall every seed minutes "
    "precision threads",
    {
        **PRESETS,
        "model": "bidaf or qanet.",
        "train": "SQuAD's JSON, or a table.",
        "preset": "allennlp (Liu et al. 2019), small or, of qanet, medium.",
        "more": "Go on from this trained reader.",
    },
    **dict.fromkeys(PRESETS),
)
def word_reader_command(given: Given) -> None:
    """Train BiDAF or QANet from word vectors; run again to resume."""
    _train_words(given, WORD_READERS, READING)


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
    reduced, explained = reduce_by_pca(embed_words(known[len(SPECIAL) :], str(folder)), size)
    Path(f"{out}.txt").write_text("\n".join(known) + "\n", encoding="utf-8")
    weights = Path(f"{out}.safetensors")
    save_file({"vectors": with_special(reduced).half()}, weights)
    weights.chmod(0o644)  # safetensors writes for its owner alone
    typer.echo(f"{len(known)} words, {size} components, {explained:.4f} of the variance")
