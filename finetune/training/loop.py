"""The training loop: a step, an epoch of steps, epochs until the dev set stops improving.

Encoder training, the word models' training and inoculation cells all go through `train_epoch`.
"""

import hashlib
import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import torch
from torch.autograd.graph import increment_version
from torch.nn import Parameter
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim import Adagrad, Adam, AdamW, Optimizer
from transformers import BatchEncoding, PreTrainedModel

from finetune.training.losses import Loss, cross_entropy
from probe.errors import TrainingError
from probe.models.architectures import Recipe
from probe.models.hardware import Precision, autocast
from probe.models.library import Network
from probe.stopping import Stop, never, raise_if_stopped


def adamw(weights: Sequence[Parameter], lr: float, weight_decay: float = 0.01) -> AdamW:
    """Return AdamW over weights; biases and layer norms are not decayed."""
    return AdamW(
        [
            {"params": [w for w in weights if w.ndim > 1], "weight_decay": weight_decay},
            {"params": [w for w in weights if w.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=lr,
        fused=True,
    )


OPTIMISERS: Mapping[str, Callable[..., Optimizer]] = {  # each takes settings of its own
    "adamw": adamw,
    "adam": partial(Adam, fused=True),
    "adagrad": Adagrad,
}


def make_optimiser(recipe: Recipe, weights: Sequence[Parameter], lr: float) -> Optimizer:
    """Return a recipe's optimiser over weights, without state from earlier steps."""
    optimiser = OPTIMISERS[recipe.optimiser](weights, lr=lr, **recipe.settings)
    # torch's fused steps change weights and do not count that, by which copies in bf16 are stale
    optimiser.register_step_post_hook(lambda *_: increment_version(list(weights)))
    return optimiser


def clip_gradients(recipe: Recipe, weights: Iterable[Parameter]) -> None:
    """Clip the gradients of weights as a recipe says."""
    if recipe.clip_norm is not None:
        clip_grad_norm_(weights, recipe.clip_norm)
    if recipe.clip_value is not None:
        clip_grad_value_(weights, recipe.clip_value)


Weights = dict[str, torch.Tensor]
"""Weights by name."""


@dataclass(frozen=True)
class MovingAverage:
    """Averages of weights by name, changed in place. A decay of zero follows the weights."""

    decay: float
    weights: Weights

    @torch.no_grad()
    def update(self, model: PreTrainedModel, step: int) -> None:
        """Move towards the weights after this step, counted from one; faster in early steps.

        The decay is at most (step + 1) / (step + 10), as in AllenNLP.
        """
        decay = min(self.decay, (step + 1) / (step + 10))
        for name, weight in model.named_parameters():
            self.weights[name].lerp_(weight, 1 - decay)


def average_of(
    recipe: Recipe, model: PreTrainedModel, saved: Mapping[str, torch.Tensor] = {}
) -> MovingAverage | None:
    """Return an average that begins at a model's weights, or at saved ones; None without any."""
    if recipe.average is None:
        return None
    own = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    return MovingAverage(recipe.average, own | dict(saved))


@contextmanager
def averaged(model: PreTrainedModel, average: MovingAverage | None) -> Iterator[None]:
    """Give a model its averages within the context, where there are any."""
    weights = {} if average is None else average.weights
    own = {name: model.get_parameter(name).detach().clone() for name in weights}
    try:
        model.load_state_dict(weights, strict=False)
        yield
    finally:
        model.load_state_dict(own, strict=False)


BATCHES_SORTED_BY_LENGTH = 50  # together, so that little padding is computed


class Diverged(TrainingError):
    """A training whose loss or weights became no finite number: it has come to nothing."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what}: the training has diverged, and no model of it is kept; a lower learning rate "
            "(--lr) may not"
        )


class TrainingData(Protocol):
    """What is trained on: the length of each row in tokens, and the inputs of some rows."""

    @property
    def lengths(self) -> Sequence[int]:
        """Tokens of each row."""

    def batch(self, rows: Sequence[int]) -> tuple[BatchEncoding, torch.Tensor]:
        """Return the inputs and targets of some rows."""

    def first(self, rows: int) -> "TrainingData":
        """Return the first examples alone."""


@dataclass(frozen=True)
class Trainer:
    """A model, its optimiser and loss; the recipe says how gradients are clipped.

    Where there is an `average` of the weights, that is measured and kept in their place. `seen` is
    told the rows of each batch and the logits that they got before its step.
    """

    classifier: Network
    recipe: Recipe
    optimiser: Optimizer
    precision: Precision = "fp32"
    loss: Loss = cross_entropy
    average: MovingAverage | None = None
    seen: Callable[[Sequence[int], torch.Tensor], None] = lambda rows, logits: None


@dataclass(frozen=True)
class Schedule:
    """The epochs to run, the pairs of a batch and the learning rates.

    `rate` is a function of the epochs that have passed, with a fraction inside an epoch, and of how
    many of them did not improve. Training ends after `patience` epochs in a row without a gain.
    """

    epochs: range
    batch: int
    seed: int
    rate: Callable[[float, int], float]
    patience: int


def halving(epochs: int, batch: int, seed: int, lr: float, patience: int) -> Schedule:
    """Return a schedule whose rate is halved with each epoch in a row without a gain."""
    return Schedule(
        range(1, epochs + 1), batch, seed, lambda _, without_gain: lr / 2**without_gain, patience
    )


@dataclass(frozen=True)
class Epoch:
    """One epoch: mean loss of a row, mean score on the dev set, the rate at its start.

    Loss and speed are those of the steps since a training was taken up.
    """

    epoch: int
    loss: float
    dev: float
    lr: float
    pairs_per_second: float


@dataclass
class BestEpoch:
    """The epoch of the best dev score so far, and its weights."""

    dev: float = -1.0
    epoch: int = 0
    weights: Weights = field(default_factory=dict)


def train_epochs(
    trainer: Trainer,
    data: TrainingData,
    measure: Callable[[], float],
    schedule: Schedule,
    best: BestEpoch,
    stop: Stop = never,
    taken: int = 0,
    keep: Callable[[int], None] = lambda step: None,
) -> Iterator[Epoch]:
    """Train and yield epochs; `best` is replaced where the dev score strictly improves.

    `measure` returns the dev score of the weights as they are. Of the first epoch some steps may be
    `taken` already; `keep` is told behind each step how many are. Raises Cancelled and Diverged.
    """
    model, without_gain, waited = trainer.classifier.model, 0, 0
    for passed, epoch in enumerate(schedule.epochs):
        start, total, seen = time.monotonic(), 0.0, 0
        batches = epoch_batches(data.lengths, schedule.batch, schedule.seed, epoch)
        fractions = [passed + step / len(batches) for step in range(len(batches))]
        rates = [schedule.rate(fraction, without_gain) for fraction in fractions]
        seed = (schedule.seed * 1_000 + epoch) * 1_000_003 + taken
        rest, before = batches[taken:], (epoch - 1) * len(batches)
        losses = train_epoch(trainer, rest, rates[taken:], data.batch, seed, stop)
        for step, (loss, rows) in enumerate(zip(losses, rest, strict=True), taken + 1):
            total, seen = total + loss * len(rows), seen + len(rows)
            if trainer.average:
                trainer.average.update(model, before + step)
            keep(step)
        taken, speed = 0, seen / (time.monotonic() - start)
        with averaged(model, trainer.average):
            require_finite(model)
            dev = measure()
            if dev > best.dev:
                best.dev, best.epoch, best.weights = dev, epoch, copied_weights(model)
                waited = 0
            else:
                without_gain, waited = without_gain + 1, waited + 1
        yield Epoch(epoch, total / max(1, seen), dev, rates[0], speed)
        if waited >= schedule.patience:
            return


def train_epoch(
    trainer: Trainer,
    batches: Sequence[Sequence[int]],
    rates: Sequence[float],
    load: Callable[[Sequence[int]], tuple[BatchEncoding, torch.Tensor]],
    seed: int,
    stop: Stop = never,
) -> Iterator[float]:
    """Take a step for each batch of rows and yield its mean loss.

    Raises Cancelled before a step, and Diverged where a loss is no finite number. `load` returns
    the inputs and targets of some rows; step n draws its dropout from seed + n.
    """
    for number, (rows, rate) in enumerate(zip(batches, rates, strict=True)):
        raise_if_stopped(stop)
        for group in trainer.optimiser.param_groups:
            group["lr"] = rate
        loss = take_step(trainer, *load(rows), seed + number, rows)
        if not math.isfinite(loss):
            raise Diverged(f"the loss became {loss} at a learning rate of {rate:g}")
        yield loss


def take_step(
    trainer: Trainer,
    inputs: BatchEncoding,
    targets: torch.Tensor,
    seed: int,
    rows: Sequence[int] = (),
) -> float:
    """Change the weights once and return the mean loss before. `seed` fixes the dropout."""
    classifier = trainer.classifier
    classifier.model.train()
    with torch.random.fork_rng(), autocast(classifier.device, trainer.precision):
        torch.manual_seed(seed)
        logits = classifier.logits(inputs)
        loss = trainer.loss(logits, targets.to(classifier.device))
    trainer.seen(rows, logits.detach())
    loss.backward()
    clip_gradients(trainer.recipe, trainable(classifier))
    trainer.optimiser.step()
    trainer.optimiser.zero_grad()
    classifier.model.eval()
    return float(loss.detach())


def require_finite(model: PreTrainedModel) -> None:
    """Raise Diverged where a weight is no finite number."""
    if not all(bool(weight.isfinite().all()) for weight in model.parameters()):
        raise Diverged("a weight of the model became no finite number")


def trainable(classifier: Network) -> list[torch.nn.Parameter]:
    """Return the weights that take a gradient."""
    return [weight for weight in classifier.model.parameters() if weight.requires_grad]


def copied_weights(model: PreTrainedModel) -> Weights:
    """Return a copy of all weights, by name."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def weights_digest(
    model: PreTrainedModel, excluded: Set[int] = frozenset(), beside: str = ""
) -> str:
    """Return a hash of a text and a model's weights, those at excluded addresses left out."""
    digest = hashlib.sha256(beside.encode())
    for name, value in model.state_dict().items():
        if value.data_ptr() not in excluded:
            digest.update(name.encode())
            digest.update(value.contiguous().cpu().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def epoch_batches(lengths: Sequence[int], batch: int, seed: int, epoch: int) -> list[list[int]]:
    """Shuffle rows, then group similar lengths within every 50 batches."""
    rng, together = random.Random(f"{seed}|{epoch}"), batch * BATCHES_SORTED_BY_LENGTH
    rows = list(range(len(lengths)))
    rng.shuffle(rows)
    batches = []
    for start in range(0, len(rows), together):
        by_length = sorted(rows[start : start + together], key=lengths.__getitem__)
        batches += [by_length[i : i + batch] for i in range(0, len(by_length), batch)]
    rng.shuffle(batches)
    return batches
