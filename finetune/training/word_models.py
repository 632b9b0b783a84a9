"""Train Decomposable Attention, ESIM and character-aware ESIM from word vectors.

`python -m finetune words --model esim --train FILE --out FOLDER`. When to stop, which epoch to
keep and when to halve the rate follow pairs held out of the training file, by premise; dev sets
are only ever measured.
"""

import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import torch
import typer
from transformers import (
    AutoModelForSequenceClassification,
    PreTrainedModel,
)

from finetune.training.data import read_jsonl
from finetune.training.encoded import Encoded, encode, score
from finetune.training.loop import epoch_batches, loss, save_model
from finetune.training.presets import FAMILIES, Preset
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.models.word_models.word_tokenizer import SPECIAL, word_tokenizer
from probe.models.word_models.word_vectors import FOLDER, shared_table
from probe.tasks.nli import LABELS, NLI, Pair

TABLES = {"decomposable": "words.table", "esim": "embeddings.words.table"}
"""Where a model keeps the vectors that it trains itself."""
HELD_OUT = 28
"""One premise in so many is held out: 4,953 pairs of the 142,858."""


@dataclass(frozen=True)
class Epoch:
    """How the training gets on: mean loss, accuracy on the held-out pairs, the rate it used."""

    epoch: int
    loss: float
    held_out: float
    lr: float
    pairs_per_second: float


@dataclass
class _Best:
    held_out: float
    waited: int
    weights: dict[str, torch.Tensor]


def start(
    model: str,
    preset: str,
    vectors: str = "words",
    correction: int = 0,
    own: bool = False,
    seed: int = 0,
) -> Classifier:
    """Return an untrained model on the shared vectors; the same seed gives the same weights.

    `correction` is the rank of what it learns on top of them; with `own` it copies the vectors and
    trains all of them. Raises KeyError for a name that is not in FAMILIES.
    """
    family = FAMILIES[model]
    words = (FOLDER / f"{vectors}.txt").read_text(encoding="utf-8").split("\n")[:-1]
    config = family.presets[preset].architecture(
        **family.presets[preset].settings,
        **family.shared,
        vocab_size=len(words),
        word_size=shared_table(vectors).shape[1],
        vectors="" if own else vectors,
        correction=correction,
        id2label=dict(enumerate(LABELS)),
        label2id={label: index for index, label in enumerate(LABELS)},
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made: PreTrainedModel = AutoModelForSequenceClassification.from_config(config)
    if own:
        made.get_parameter(TABLES[config.model_type]).data.copy_(shared_table(vectors))
    lower = all(word == word.lower() for word in words[len(SPECIAL) :])
    tokenizer = word_tokenizer(words, lower, bool(family.shared))
    return Classifier(model, made.eval(), tokenizer, NLI, LABELS, torch.device("cpu"))


def held_out(pair: Pair) -> bool:
    """Whether a pair of the training file is kept to judge epochs by."""
    return zlib.crc32(pair.premise.encode()) % HELD_OUT == 0


def train(
    classifier: Classifier,
    preset: Preset,
    pairs: Sequence[Pair],
    out: Path,
    seed: int = 0,
    minutes: float = 600.0,
) -> Iterator[Epoch]:
    """Train in place and yield epochs; the best one so far lies in `out` as fp16 safetensors.

    No epoch begins that would end after `minutes`. At the end the classifier holds the best
    epoch's weights. A model that was trained before goes on counting its epochs (`epochs_done` in
    its config): with the numbers of old epochs it would meet their batches and dropout masks again,
    and learn them by heart.
    """
    began = time.monotonic()
    optimiser, device = _optimiser(classifier, preset), classifier.device
    kept = [pair for pair in pairs if held_out(pair)]
    learnt = [pair for pair in pairs if not held_out(pair)]
    evaluation = encode(classifier, kept, preset.max_tokens, device)
    data = encode(classifier, learnt, preset.max_tokens, device)
    best, first = _Best(-1.0, 0, {}), getattr(classifier.model.config, "epochs_done", 0) + 1
    for epoch in range(first, first + preset.epochs):
        started = time.monotonic()
        lr = preset.rate(epoch - first) if preset.fall else optimiser.param_groups[0]["lr"]
        loss = _epoch(classifier, preset, optimiser, data, seed, epoch, epoch - first)
        classifier.model.config.epochs_done = epoch
        speed = len(learnt) / (time.monotonic() - started)
        row = Epoch(epoch, loss, score(classifier, evaluation), lr, speed)
        if row.held_out > best.held_out:
            best = _Best(row.held_out, 0, _weights(classifier))
            save_model(classifier, out)
        else:
            best.waited += 1
            optimiser.param_groups[0]["lr"] = lr / 2 if preset.halve else lr
        yield row
        if best.waited >= preset.patience or _late(began, started, minutes):
            break
    classifier.model.load_state_dict(best.weights)


def _late(began: float, started: float, minutes: float) -> bool:
    """Whether another epoch, as long as the last, would end too late."""
    now = time.monotonic()
    return now + (now - started) > began + 60 * minutes


def _optimiser(classifier: Classifier, preset: Preset) -> torch.optim.Optimizer:
    weights = [weight for weight in classifier.model.parameters() if weight.requires_grad]
    return preset.optimiser(weights, lr=preset.lr)


def _epoch(
    classifier: Classifier,
    preset: Preset,
    optimiser: torch.optim.Optimizer,
    data: Encoded,
    seed: int,
    epoch: int,
    gone: int,
) -> float:
    """Go once over the pairs and return the mean loss of a pair; chance is the epoch's own.

    `gone` is how many epochs this training has behind it.
    """
    model, total = classifier.model, torch.zeros((), device=classifier.device)
    model.train()
    with torch.random.fork_rng():
        torch.manual_seed(seed * 1_000_003 + epoch)
        batches = epoch_batches(data.lengths, preset.batch, seed, epoch)
        for number, rows in enumerate(batches):
            if preset.fall:
                optimiser.param_groups[0]["lr"] = preset.rate(gone + number / len(batches))
            inputs, allowed = data.batch(rows)
            value = loss(model(**inputs).logits, allowed)
            value.backward()
            preset.clip(model.parameters())
            optimiser.step()
            optimiser.zero_grad()
            total += value.detach() * len(rows)
    model.eval()
    return float(total) / len(data.lengths)


def _weights(classifier: Classifier) -> dict[str, torch.Tensor]:
    state = classifier.model.state_dict()
    return {name: value.detach().clone() for name, value in state.items()}


def words_command(
    model: Annotated[str, typer.Option(help="da, esim or esim_char.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="JSON lines, maybe gzipped.")],
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    preset: Annotated[str, typer.Option(help="allennlp (Liu et al. 2019) or paper.")] = "allennlp",
    vectors: Annotated[str, typer.Option(help="Name of the vectors in assets/vectors.")] = "words",
    correction: Annotated[int, typer.Option(help="Rank of what is learnt on top of them.")] = 0,
    own: Annotated[bool, typer.Option(help="Copy the vectors and train them whole.")] = False,
    dev: Annotated[list[Path], typer.Option(help="Sets to measure on at the end.")] = [],  # noqa: B006
    more: Annotated[Path | None, typer.Option(help="Go on from this trained model.")] = None,
    lr: Annotated[float | None, typer.Option(help="Instead of the preset's.")] = None,
    batch: Annotated[int | None, typer.Option(help="Instead of the preset's.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Instead of the preset's.")] = None,
    fall: Annotated[bool, typer.Option(help="Let the rate fall to zero, step by step.")] = False,
    seed: int = 0,
    minutes: Annotated[float, typer.Option(help="No epoch ends later than this.")] = 600.0,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option(help="Torch threads.")] = 1,
) -> None:
    """Train one of the papers' word-level models from word vectors."""
    torch.set_num_threads(threads)
    if model not in FAMILIES or preset not in FAMILIES[model].presets:
        known = ", ".join(f"{name} ({', '.join(f.presets)})" for name, f in FAMILIES.items())
        raise typer.BadParameter(f"there is no {model!r} with {preset!r}; there are: {known}")
    base = FAMILIES[model].presets[preset]
    chosen = replace(
        base,
        lr=lr or base.lr,
        batch=batch or base.batch,
        epochs=epochs or base.epochs,
        halve=base.halve and not fall,
        fall=fall,
    )
    made = load(str(more)) if more else start(model, preset, vectors, correction, own, seed)
    place = torch.device(device)
    made.model.to(place)  # type: ignore[arg-type]  # transformers wraps it without its types
    classifier = replace(made, device=place)
    pairs = [pair for file in train_file for pair in read_jsonl(file)]
    parameters = sum(w.numel() for w in made.model.parameters())
    typer.echo(
        f"{len(pairs)} pairs, {parameters} trained weights, batches of {chosen.batch}, "
        f"lr {chosen.lr:g}, at most {chosen.epochs} epochs"
    )
    for row in train(classifier, chosen, pairs, out, seed, minutes):
        typer.echo(
            f"epoch {row.epoch}  loss {row.loss:.4f}  held out {row.held_out:.4f}  "
            f"lr {row.lr:g}  {row.pairs_per_second:.0f} pairs/s"
        )
    for file in dev:
        accuracy = score(classifier, encode(classifier, list(read_jsonl(file)), 512, place))
        typer.echo(f"{file.name.split('.')[0]} {accuracy:.4f}")
